//! A set: every element by itself.
//!
//! Let the element be added and removed at most once. The calls that find the element allow it to be absent for some
//! time; the longest such time is best for the calls that miss it: the addition comes as late, and the removal as
//! early, as the calls that find the element and the two calls themselves permit. When the latest addition does not
//! come before the earliest removal, a single gap serves all calls that find the element, and no call that misses it is
//! in the way.

use super::calls::{NotApplicable, SetAction, SetCall, ValueId};
use super::events::{Cut, Events};

/// The calls, element by element.
pub(super) struct Plan {
    /// Elements with their calls, ascending.
    calls: Vec<(ValueId, u32)>,
}

impl Plan {
    pub fn new(calls: &[SetCall]) -> Result<Plan, NotApplicable> {
        let number = |index: usize| u32::try_from(index).expect("a history has less than 2^32 calls");
        let mut plan =
            Plan { calls: calls.iter().enumerate().map(|(index, call)| (call.value, number(index))).collect() };
        plan.calls.sort_unstable();
        let applies = |group: &[(ValueId, u32)]| {
            let actions = || group.iter().map(|&(_, call)| calls[call as usize].action);
            let count = |action| actions().filter(|&other| other == action).count();
            count(SetAction::Add) <= 1 && count(SetAction::Remove) <= 1 && count(SetAction::Unknown) == 0
        };
        if plan.groups().all(applies) { Ok(plan) } else { Err(NotApplicable) }
    }

    fn groups(&self) -> impl Iterator<Item = &[(ValueId, u32)]> {
        self.calls.chunk_by(|one, other| one.0 == other.0)
    }

    /// A linearization of the part before `cut`, when there is one.
    pub fn order(&self, events: &Events, calls: &[SetCall], cut: Cut) -> Option<Vec<usize>> {
        let mut timed = Vec::with_capacity(calls.len());
        let mut element = Element::default();
        for group in self.groups() {
            element.read(events, calls, group, cut);
            element.order(events, group[0].0, &mut timed)?;
        }
        timed.sort_unstable();
        Some(timed.into_iter().map(|(.., call)| call as usize).collect())
    }
}

/// A gap, and the order within it: first by element, then by the phases of its life.
type Timed = (u32, ValueId, Phase, u32);

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
    add: Option<(u32, (u32, u32))>,
    remove: Option<(u32, (u32, u32))>,
    finds: Vec<(u32, (u32, u32))>,
    misses: Vec<(u32, (u32, u32))>,
}

impl Element {
    fn read(&mut self, events: &Events, calls: &[SetCall], group: &[(ValueId, u32)], cut: Cut) {
        (self.add, self.remove) = (None, None);
        self.finds.clear();
        self.misses.clear();
        for &(_, call) in group {
            let Some(interval) = events.within(call as usize, cut) else { continue };
            let is_complete = interval.1 < events.never();
            match calls[call as usize].action {
                SetAction::Add => self.add = Some((call, interval)),
                SetAction::Remove => self.remove = Some((call, interval)),
                SetAction::Find if is_complete => self.finds.push((call, interval)),
                SetAction::Miss if is_complete => self.misses.push((call, interval)),
                SetAction::Find | SetAction::Miss | SetAction::Unknown => {}
            }
        }
    }

    fn order(&self, events: &Events, value: ValueId, timed: &mut Vec<Timed>) -> Option<()> {
        let Some((add, added)) = self.add else {
            // A pending removal may not have taken effect.
            let removed = self.remove.is_some_and(|(_, removed)| removed.1 < events.never());
            timed.extend(self.misses.iter().map(|&(call, interval)| (interval.0, value, Phase::Before, call)));
            return (self.finds.is_empty() && !removed).then_some(());
        };
        // An element that is not removed remains until after all events.
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
            // After all events nothing is seen to happen: a pending call has not happened there.
            if gap < events.end() {
                timed.push((gap, value, phase, call));
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
