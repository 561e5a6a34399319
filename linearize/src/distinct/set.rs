//! A set: every element by itself.
//!
//! Let the element be added once and removed once at most. The calls that find it want it to be there for long, so the
//! least that they allow is best for the calls that miss it: the addition as late, and the removal as early as the
//! calls that find it, and the two calls themselves, permit. When the latest addition is not before the earliest
//! removal, a single gap serves all that find the element, and no call that misses it is in the way.

use rustc_hash::FxHashMap;

use super::events::{Cut, Events};
use super::{NotApplicable, SetAction, SetCall};

/// The calls, element by element.
pub(super) struct Plan {
    by_element: Vec<Vec<usize>>,
}

impl Plan {
    pub fn new(calls: &[SetCall]) -> Result<Plan, NotApplicable> {
        let mut numbers = FxHashMap::default();
        let mut by_element: Vec<Vec<usize>> = Vec::new();
        for (index, call) in calls.iter().enumerate() {
            let number = *numbers.entry(call.value).or_insert(by_element.len());
            if number == by_element.len() {
                by_element.push(Vec::new());
            }
            by_element[number].push(index);
        }
        let once = |group: &[usize], action| group.iter().filter(|&&call| calls[call].action == action).count() <= 1;
        let applies = |group: &Vec<usize>| {
            once(group, SetAction::Add)
                && once(group, SetAction::Remove)
                && group.iter().all(|&call| calls[call].action != SetAction::Unknown)
        };
        if by_element.iter().all(applies) { Ok(Plan { by_element }) } else { Err(NotApplicable) }
    }

    /// A linearization of the part before `cut`, when there is one.
    pub fn order(&self, events: &Events, calls: &[SetCall], cut: Cut) -> Option<Vec<usize>> {
        let mut timed = Vec::with_capacity(calls.len());
        for (number, group) in self.by_element.iter().enumerate() {
            Element::new(events, calls, group, cut).order(events, number, &mut timed)?;
        }
        timed.sort_unstable();
        Some(timed.into_iter().map(|(.., call)| call).collect())
    }
}

/// A gap, and the order within it: first by element, then by the phases of its life.
type Timed = (u32, usize, Phase, usize);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    Before,
    Added,
    There,
    Removed,
    After,
}

/// The calls on one element with their intervals.
#[derive(Default)]
struct Element {
    add: Option<(usize, (u32, u32))>,
    remove: Option<(usize, (u32, u32))>,
    finds: Vec<(usize, (u32, u32))>,
    misses: Vec<(usize, (u32, u32))>,
}

impl Element {
    fn new(events: &Events, calls: &[SetCall], group: &[usize], cut: Cut) -> Element {
        let mut element = Element::default();
        for &call in group {
            let Some(interval) = events.within(call, cut) else { continue };
            let is_complete = interval.1 < events.never();
            match calls[call].action {
                SetAction::Add => element.add = Some((call, interval)),
                SetAction::Remove => element.remove = Some((call, interval)),
                SetAction::Find if is_complete => element.finds.push((call, interval)),
                SetAction::Miss if is_complete => element.misses.push((call, interval)),
                SetAction::Find | SetAction::Miss | SetAction::Unknown => {}
            }
        }
        element
    }

    fn order(&self, events: &Events, number: usize, timed: &mut Vec<Timed>) -> Option<()> {
        let Some((add, added)) = self.add else {
            // A removal that is pending may not have taken effect.
            let removed = self.remove.is_some_and(|(_, removed)| removed.1 < events.never());
            timed.extend(self.misses.iter().map(|&(call, interval)| (interval.0, number, Phase::Before, call)));
            return (self.finds.is_empty() && !removed).then_some(());
        };
        // An element that is not removed remains until behind all events.
        let removed = self.remove.map_or((events.end(), events.never()), |(_, removed)| removed);
        let latest_add = self.finds.iter().fold(added.1, |latest, (_, find)| latest.min(find.1)) - 1;
        let earliest_remove = self.finds.iter().fold(removed.0, |earliest, (_, find)| earliest.max(find.0));
        let (from, until) = if latest_add <= earliest_remove {
            (latest_add, earliest_remove)
        } else {
            let both = earliest_remove.max(added.0);
            (both, both)
        };
        if from < added.0 || latest_add < from || until >= removed.1 {
            return None;
        }
        let mut put = |gap: u32, phase, call| {
            // Behind all events is where nothing is seen to happen: what is pending has not happened there.
            if gap < events.end() {
                timed.push((gap, number, phase, call));
            }
        };
        put(from, Phase::Added, add);
        if let Some((remove, _)) = self.remove {
            put(until, Phase::Removed, remove);
        }
        for &(call, find) in &self.finds {
            put(find.0.max(from), Phase::There, call);
        }
        for &(call, miss) in &self.misses {
            match miss {
                (invoked, _) if invoked <= from => put(invoked, Phase::Before, call),
                (invoked, returned) if returned > until => put(invoked.max(until), Phase::After, call),
                _ => return None,
            }
        }
        Some(())
    }
}
