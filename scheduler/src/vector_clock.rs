//! What a step knows about each task.

use interloper_std::runtime::TaskId;

/// For each task, the last step known: its place in the execution. Places count from 0.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct VectorClock(Vec<usize>);

impl Clone for VectorClock {
    fn clone(&self) -> VectorClock {
        VectorClock(self.0.clone())
    }

    /// Keeps the memory.
    fn clone_from(&mut self, other: &VectorClock) {
        self.0.clone_from(&other.0);
    }
}

impl VectorClock {
    /// Knows nothing.
    #[cfg(test)]
    pub(crate) const EMPTY: VectorClock = VectorClock(Vec::new());

    /// Whether the step of this task at this place is known.
    #[inline]
    pub(crate) fn covers(&self, task: TaskId, place: usize) -> bool {
        self.count(task) > place
    }

    /// How many places of this task are known.
    #[inline]
    pub(crate) fn count(&self, task: TaskId) -> usize {
        self.0.get(task.index()).copied().unwrap_or(0)
    }

    /// The task is known up to this place.
    #[inline]
    pub(crate) fn set(&mut self, task: TaskId, place: usize) {
        if self.0.len() <= task.index() {
            self.0.resize(task.index() + 1, 0);
        }
        self.0[task.index()] = place + 1;
    }

    /// The task is known up to this place, or further.
    pub(crate) fn raise(&mut self, task: TaskId, place: usize) {
        if !self.covers(task, place) {
            self.set(task, place);
        }
    }

    /// Adds what the other clock knows.
    pub(crate) fn join(&mut self, other: &VectorClock) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        self.0.iter_mut().zip(&other.0).for_each(|(mine, other)| *mine = (*mine).max(*other));
    }

    /// Knows nothing.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// The last known place of each task, for the tasks of which any is known.
    pub(crate) fn places(&self) -> impl Iterator<Item = (TaskId, usize)> {
        let last = |(task, count): (usize, &usize)| Some((TaskId(task as u32), count.checked_sub(1)?));
        self.0.iter().enumerate().filter_map(last)
    }
}
