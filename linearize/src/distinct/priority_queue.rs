//! Smallest first.
//!
//! The removal of a value x needs a gap in which no smaller value is certainly in the queue. That is enough, by
//! induction on the number of values: let the history without its largest value x be linearizable, and take such a gap
//! for x. No other value is certainly in the queue there, so the gap cuts the history: all calls of the values that
//! can have left before the gap come first, then the removal of x, then the calls of all other values. Inserting x earlier does
//! no harm, since every other value leaves before x.
//!
//! A removal that finds nothing is the removal of a value that is larger than all others.

use std::collections::BTreeSet;

use super::collection::{Life, Lives};
use super::cover::Covering;
use super::events::Events;

/// A linearization, when there is one.
pub(super) fn order(events: &Events, lives: &Lives) -> Option<Vec<usize>> {
    let empties = lives.empty_gaps(events)?;
    let mut gaps = removal_gaps(events, &lives.lives)?;
    let insertions = cut(&lives.lives, &mut gaps, empties.iter().map(|&(gap, _)| gap).collect());

    // Within a gap: first the removals there, smaller values first, each after its own insertion if that is there too;
    // then removals that find nothing; then insertions of values that are removed later.
    let mut timed: Vec<((u32, u8, u32, u8), usize)> = Vec::with_capacity(events.calls.len());
    for (life, (&removed, &inserted)) in lives.lives.iter().zip(gaps.iter().zip(&insertions)) {
        let insertion = if inserted == removed { (inserted, 0, life.value, 0) } else { (inserted, 2, life.value, 0) };
        timed.push((insertion, life.insertion));
        // A pending removal that would come after all events has not happened.
        let removal = life.removal.filter(|_| removed < events.end());
        timed.extend(removal.map(|removal| ((removed, 0, life.value, 1), removal)));
    }
    timed.extend(empties.iter().map(|&(gap, call)| ((gap, 1, 0, 0), call)));
    timed.sort_unstable();
    Some(timed.into_iter().map(|(_, call)| call).collect())
}

/// For each value, in ascending order, a gap for its removal in which no smaller value is certainly in the queue.
fn removal_gaps(events: &Events, lives: &[Life]) -> Option<Vec<u32>> {
    let mut smaller = Covering::new(events.end());
    lives
        .iter()
        .map(|life| {
            let gap = smaller.first(life.earliest_removal());
            smaller.cover(life.certain());
            (gap < life.removed.1).then_some(gap)
        })
        .collect()
}

/// Cuts the history at the removals of larger values: moves the removal of each value to the first cut that can have
/// it, and gives each value a gap for its insertion after the cut before.
fn cut(lives: &[Life], gaps: &mut [u32], mut cuts: BTreeSet<u32>) -> Vec<u32> {
    let mut insertions = vec![0; lives.len()];
    for (index, life) in lives.iter().enumerate().rev() {
        // The gap of a larger value also suits a smaller one, as far as still smaller values are concerned.
        let cut = cuts.range(life.earliest_removal()..).next();
        gaps[index] = cut.map_or(gaps[index], |&cut| cut.min(gaps[index]));
        insertions[index] = gaps[index].min(life.inserted.1 - 1);
        if life.removal.is_some() {
            cuts.insert(gaps[index]);
        }
    }
    insertions
}
