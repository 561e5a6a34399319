//! What a step knows about each task.

use interloper_std::runtime::TaskId;

/// The first tasks, whose counts take no memory of their own. Clocks are copied and joined all the time, and most programs have few
/// tasks.
const FEW: usize = 4;

/// For each task, the last step known: its place in the execution. Places count from 0.
///
/// A count is one more than the place, and 0 where nothing is known. An execution has fewer than 2^32 steps.
#[derive(Debug, Default)]
pub(crate) struct VectorClock {
    few: [u32; FEW],
    /// The counts of all other tasks, if there are such. Behind a pointer, since so many clocks are moved without any.
    more: Option<Box<More>>,
}

#[derive(Clone, Debug, Default)]
struct More(Vec<u32>);

/// For each of the first tasks, a mask of its own count.
const ONLY: [[u32; FEW]; FEW] = {
    let mut masks = [[0; FEW]; FEW];
    let mut task = 0;
    while task < FEW {
        masks[task][task] = u32::MAX;
        task += 1;
    }
    masks
};

/// Clocks are the same if they know the same: how much memory they have makes no difference.
impl PartialEq for VectorClock {
    fn eq(&self, other: &VectorClock) -> bool {
        let (mine, theirs) = (self.more(), other.more());
        let common = mine.len().min(theirs.len());
        let is_rest_empty = |more: &[u32]| more[common..].iter().all(|count| *count == 0);
        self.few == other.few && mine[..common] == theirs[..common] && is_rest_empty(mine) && is_rest_empty(theirs)
    }
}

impl Eq for VectorClock {}

impl Clone for VectorClock {
    #[inline]
    fn clone(&self) -> VectorClock {
        VectorClock { few: self.few, more: self.more.clone() }
    }

    /// Keeps the memory.
    #[inline]
    fn clone_from(&mut self, other: &VectorClock) {
        self.few = other.few;
        match (&mut self.more, &other.more) {
            (None, None) => {}
            (Some(mine), Some(other)) => mine.0.clone_from(&other.0),
            (mine, other) => mine.clone_from(other),
        }
    }
}

impl VectorClock {
    /// Knows nothing.
    pub(crate) const EMPTY: VectorClock = VectorClock { few: [0; FEW], more: None };

    #[inline]
    fn more(&self) -> &[u32] {
        self.more.as_ref().map_or(&[], |more| &more.0)
    }

    /// Whether the step of this task at this place is known.
    #[inline]
    pub(crate) fn covers(&self, task: TaskId, place: usize) -> bool {
        self.count(task) > place
    }

    /// How many places of this task are known.
    #[inline]
    pub(crate) fn count(&self, task: TaskId) -> usize {
        match self.few.get(task.index()) {
            Some(&count) => count as usize,
            None => self.more().get(task.index() - FEW).map_or(0, |&count| count as usize),
        }
    }

    /// Whether the other clock knows any of the places that are the last ones here.
    #[inline(always)]
    pub(crate) fn overlaps(&self, other: &VectorClock) -> bool {
        // A count of 0 wraps round to more than any that is known.
        let is_known = |(&last, &known): (&u32, &u32)| last.wrapping_sub(1) < known;
        let of_few = self.few.iter().zip(&other.few).fold(false, |any, both| any | is_known(both));
        of_few || (self.more.is_some() && self.overlaps_more(other))
    }

    #[cold]
    #[inline(never)]
    fn overlaps_more(&self, other: &VectorClock) -> bool {
        self.more().iter().zip(other.more()).any(|(&last, &known)| last.wrapping_sub(1) < known)
    }

    /// Whether the other clock knows all that is known here.
    pub(crate) fn is_within(&self, other: &VectorClock) -> bool {
        self.places().all(|(task, place)| other.covers(task, place))
    }

    /// The task is known up to this place.
    #[inline(always)]
    pub(crate) fn set(&mut self, task: TaskId, place: usize) {
        let count = place as u32 + 1;
        let Some(only) = ONLY.get(task.index()) else { return self.set_more(task.index() - FEW, count) };
        // All are written at once: a clock is often joined right after this, and what was just written in pieces is slow to read.
        self.few = std::array::from_fn(|index| (self.few[index] & !only[index]) | (count & only[index]));
    }

    // Out of the way of the usual case, as is `join_more`.
    #[cold]
    #[inline(never)]
    fn set_more(&mut self, index: usize, count: u32) {
        let More(more) = &mut **self.more.get_or_insert_default();
        if more.len() <= index {
            more.resize(index + 1, 0);
        }
        more[index] = count;
    }

    /// The task is known up to this place, or further.
    pub(crate) fn raise(&mut self, task: TaskId, place: usize) {
        if !self.covers(task, place) {
            self.set(task, place);
        }
    }

    /// Adds what the other clock knows.
    #[inline(always)]
    pub(crate) fn join(&mut self, other: &VectorClock) {
        // All at once, as in `set`.
        self.few = std::array::from_fn(|index| self.few[index].max(other.few[index]));
        if let Some(other) = &other.more {
            self.join_more(other);
        }
    }

    #[cold]
    #[inline(never)]
    fn join_more(&mut self, More(other): &More) {
        let More(more) = &mut **self.more.get_or_insert_default();
        if more.len() < other.len() {
            more.resize(other.len(), 0);
        }
        more.iter_mut().zip(other).for_each(|(mine, other)| *mine = (*mine).max(*other));
    }

    /// Knows nothing.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.few = [0; FEW];
        if let Some(More(more)) = self.more.as_deref_mut() {
            more.clear();
        }
    }

    /// The last known place of each task, for the tasks of which any is known.
    pub(crate) fn places(&self) -> impl Iterator<Item = (TaskId, usize)> {
        let last = |(task, count): (usize, &u32)| Some((TaskId(task as u32), count.checked_sub(1)? as usize));
        self.few.iter().chain(self.more()).enumerate().filter_map(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tasks on both sides of the boundary between counts with and without memory of their own.
    #[test]
    fn counts_of_few_and_of_many_tasks() {
        let tasks = [0, 3, 4, 6].map(TaskId);
        let mut clock = VectorClock::default();
        assert_eq!(clock, VectorClock::EMPTY);
        for (place, task) in tasks.into_iter().enumerate() {
            assert!(!clock.covers(task, 0));
            clock.set(task, place);
            assert!(clock.covers(task, place) && !clock.covers(task, place + 1));
            clock.raise(task, 0);
            assert_eq!(clock.count(task), place + 1);
        }
        assert_eq!(clock.places().collect::<Vec<_>>(), [(tasks[0], 0), (tasks[1], 1), (tasks[2], 2), (tasks[3], 3)]);
        assert_eq!((clock.count(TaskId(5)), clock.count(TaskId(9))), (0, 0));
        let mut other = VectorClock::default();
        other.set(TaskId(3), 7);
        other.set(TaskId(8), 5);
        let mut both = other.clone();
        both.join(&clock);
        clock.join(&other);
        assert_eq!(clock, both);
        let counts = [0, 3, 4, 5, 6, 8].map(|task| clock.count(TaskId(task)));
        assert_eq!(counts, [1, 8, 3, 0, 4, 6]);
        assert!(other.is_within(&clock) && !clock.is_within(&other));
        other.clone_from(&clock);
        assert_eq!(other, clock);
        other.clear();
        assert_eq!(other, VectorClock::EMPTY);
        // Joined with one that was cleared, a clock knows nothing more.
        let mut none = VectorClock::default();
        none.join(&other);
        assert_eq!(none, VectorClock::EMPTY);
        assert_ne!(none, clock);
        assert_ne!(clock, none);
        let one = |task: u32, place: usize| {
            let mut clock = VectorClock::default();
            clock.set(TaskId(task), place);
            clock
        };
        for task in [3, 6] {
            assert!(one(task, 2).overlaps(&one(task, 2)) && one(task, 2).overlaps(&one(task, 3)));
            assert!(!one(task, 2).overlaps(&one(task, 1)) && !one(task, 2).overlaps(&one(task - 1, 9)));
        }
    }
}
