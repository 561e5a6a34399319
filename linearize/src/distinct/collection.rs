//! What queues, stacks and priority queues have in common: each value comes and goes once.

use super::calls::{CollectionCall, ValueId};
use super::cover::Uncovered;
use super::events::{Cut, Events};

/// The life of one value. All numbers are events, see [`Events`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Life {
    pub value: ValueId,
    pub insertion: usize,
    /// `None`: the value remains in the collection.
    pub removal: Option<usize>,
    pub inserted: (u32, u32),
    /// The interval of the removal. The values that remain leave together, after all events.
    pub removed: (u32, u32),
}

impl Life {
    /// The gaps in which the value is certainly in the collection: from the first up to, but without, the second. When
    /// they are not in this order, there is no such gap.
    pub fn certain(&self) -> (u32, u32) {
        (self.inserted.1, self.removed.0)
    }

    /// The first gap in which the value can have come and gone.
    pub fn earliest_removal(&self) -> u32 {
        self.inserted.0.max(self.removed.0)
    }
}

/// The lives of all values of a history, and the removals that find nothing.
pub(super) struct Lives {
    pub lives: Vec<Life>,
    /// The calls with their intervals.
    pub empties: Vec<(usize, (u32, u32))>,
}

/// Why the calls have no lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unfit {
    /// See [`super::NotApplicable`].
    NotApplicable,
    /// A removal gives a value that was not inserted before, or that another removal gives too.
    Impossible,
}

impl Lives {
    /// Reads the part of a history before `cut`. Pending calls without a consequence are left out: tests, and
    /// insertions of values that are never removed. A pending removal whose result is known is kept: it may let the
    /// value go at the end. A pending removal whose result is unknown is taken to remove nothing, see
    /// [`super::unknown`].
    pub fn new(events: &Events, calls: &[CollectionCall], cut: Cut) -> Result<Lives, Unfit> {
        let mut ends = Vec::with_capacity(calls.len());
        let mut empties = Vec::new();
        for (call, &action) in calls.iter().enumerate() {
            let Some(interval) = events.within(call, cut) else { continue };
            match action {
                CollectionCall::Insert(value) => ends.push((value, false, call, interval)),
                CollectionCall::Remove(value) => ends.push((value, true, call, interval)),
                CollectionCall::Empty if interval.1 < events.never() => empties.push((call, interval)),
                CollectionCall::Empty | CollectionCall::UnknownRemoval => {}
            }
        }
        ends.sort_unstable_by_key(|&(value, is_removal, _, interval)| (value, is_removal, interval.1, interval.0));
        let mut lives = Vec::with_capacity(ends.len() / 2 + 1);
        let mut impossible = false;
        for ends in ends.chunk_by(|one, other| one.0 == other.0) {
            let (insertions, removals) = ends.split_at(ends.partition_point(|end| !end.1));
            let complete = removals.partition_point(|removal| removal.3.1 < events.never());
            if insertions.len() > 1 {
                return Err(Unfit::NotApplicable);
            }
            impossible |= complete > insertions.len();
            let Some(&(value, _, insertion, inserted)) = insertions.first() else { continue };
            // At most one of several pending removals takes effect; the one that was invoked first can do what the
            // others can.
            let (removal, removed) = match removals.first() {
                Some(&(_, _, removal, removed)) => (Some(removal), removed),
                None => (None, (events.end(), events.never())),
            };
            impossible |= removed.1 < inserted.0;
            if removal.is_some() || inserted.1 < events.never() {
                lives.push(Life { value, insertion, removal, inserted, removed });
            }
        }
        if impossible { Err(Unfit::Impossible) } else { Ok(Lives { lives, empties }) }
    }

    /// A gap for each removal that finds nothing, in the order of the gaps: the first gap of its interval in which no value
    /// is certainly in the collection. `None` when a removal has no such gap.
    pub fn empty_gaps(&self, events: &Events) -> Option<Vec<(u32, usize)>> {
        let uncovered = Uncovered::new(events.end(), self.lives.iter().map(Life::certain));
        let gap = |&(call, interval)| Some((uncovered.first(interval)?, call));
        let mut gaps = self.empties.iter().map(gap).collect::<Option<Vec<_>>>()?;
        gaps.sort_unstable();
        Some(gaps)
    }
}
