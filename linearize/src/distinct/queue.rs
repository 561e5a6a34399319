//! First in, first out.
//!
//! Shorten every insertion to end before its removal does, and every removal to begin after its insertion does: this
//! changes no answer. Say a ≺ b when the insertion of a precedes that of b in real time, or the removal of a precedes
//! that of b. A linearization inserts and removes in the same order, which extends ≺, so ≺ has no cycle. Conversely,
//! take any order that extends ≺ and give each insertion, in this order, its earliest gap, and each removal its
//! earliest gap after its insertion: no gap is too late, since an earlier return would be a ≺ in the other direction.
//!
//! A removal that finds nothing needs a gap in which no value is certainly in the queue. Such a gap cuts the history:
//! the values that can have left before the gap come first, the others after it.

use super::collection::{Life, Lives};
use super::events::Events;

/// A linearization, when there is one.
pub(super) fn order(events: &Events, lives: &Lives) -> Option<Vec<usize>> {
    let empties = lives.empty_gaps(events)?;

    // The values between two of these gaps: values that cannot leave before the first gap and can leave before the
    // second.
    let mut lives: Vec<&Life> = lives.lives.iter().collect();
    lives.sort_unstable_by_key(|life| life.earliest_removal());
    let mut lives = lives.as_slice();
    let mut empties = empties.as_slice();
    let mut order = Vec::with_capacity(events.calls.len());
    let mut gap = 0;
    loop {
        let until = empties.first().map_or(events.never(), |&(gap, _)| gap);
        let (part, rest) = lives.split_at(lives.partition_point(|life| life.earliest_removal() <= until));
        between(events, part, gap, &mut order)?;
        lives = rest;
        let Some((&(found, call), others)) = empties.split_first() else { return Some(order) };
        gap = found;
        empties = others;
        order.push(call);
    }
}

/// Adds an order of the calls of `lives`, all of them from the gap `start` on.
fn between(events: &Events, lives: &[&Life], start: u32, order: &mut Vec<usize>) -> Option<()> {
    let sorted = sorted(lives)?;
    let mut gap = start;
    let insertions: Vec<(u32, usize)> = sorted
        .iter()
        .map(|life| {
            gap = gap.max(life.inserted.0);
            (gap, life.insertion)
        })
        .collect();
    let mut gap = start;
    let removals = sorted.iter().zip(&insertions).filter_map(|(life, insertion)| {
        gap = gap.max(insertion.0).max(life.removed.0);
        // Nothing leaves after a value that remains: a pending removal has not happened.
        life.removal.filter(|_| gap < events.end()).map(|removal| (gap, removal))
    });
    debug_assert!(insertions.iter().all(|&(gap, call)| gap < events.calls[call].1));
    let mut insertions = insertions.iter().peekable();
    for (gap, removal) in removals {
        while let Some(&(_, insertion)) = insertions.next_if(|insertion| insertion.0 <= gap) {
            order.push(insertion);
        }
        order.push(removal);
    }
    order.extend(insertions.map(|&(_, insertion)| insertion));
    Some(())
}

/// The values in an order that extends ≺, if there is one. The insertion and the removal of the first value are both
/// invoked before the first return of the others; these first returns only come later when a value is taken away.
fn sorted<'l>(lives: &[&'l Life]) -> Option<Vec<&'l Life>> {
    let inserted = |life: &Life| (life.inserted.0, life.inserted.1.min(life.removed.1));
    let removed = |life: &Life| (life.earliest_removal(), life.removed.1);
    let mut insertions = Frontier::new(lives, inserted);
    let mut removals = Frontier::new(lives, removed);
    let mut taken = vec![false; lives.len()];
    // Two bits: the insertion can be first, the removal can be first.
    let mut ready = vec![0u8; lives.len()];
    let mut first = Vec::new();
    let mut sorted = Vec::with_capacity(lives.len());
    loop {
        for frontier in [&mut insertions, &mut removals] {
            frontier.advance(&taken, |index| {
                ready[index] += 1;
                if ready[index] == 2 {
                    first.push(index);
                }
            });
        }
        let Some(index) = first.pop() else { break };
        taken[index] = true;
        sorted.push(lives[index]);
    }
    (sorted.len() == lives.len()).then_some(sorted)
}

/// The calls of one kind: all insertions or all removals.
struct Frontier {
    /// Invocations with the index of the value, latest first: the calls that cannot be first yet are at the end.
    invoked: Vec<(u32, usize)>,
    /// Returns, earliest last.
    returned: Vec<(u32, usize)>,
}

impl Frontier {
    fn new(lives: &[&Life], interval: impl Fn(&Life) -> (u32, u32)) -> Frontier {
        let mut invoked: Vec<_> = lives.iter().enumerate().map(|(index, life)| (interval(life).0, index)).collect();
        let mut returned: Vec<_> = lives.iter().enumerate().map(|(index, life)| (interval(life).1, index)).collect();
        invoked.sort_unstable_by(|one, other| other.cmp(one));
        returned.sort_unstable_by(|one, other| other.cmp(one));
        Frontier { invoked, returned }
    }

    /// Names the values whose call can now be first.
    fn advance(&mut self, taken: &[bool], mut ready: impl FnMut(usize)) {
        while self.returned.pop_if(|(_, index)| taken[*index]).is_some() {}
        let Some(&(first, _)) = self.returned.last() else { return };
        while let Some((_, index)) = self.invoked.pop_if(|(invoked, _)| *invoked < first) {
            ready(index);
        }
    }
}
