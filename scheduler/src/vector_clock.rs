//! What a step knows about each task.

use interloper_std::runtime::TaskId;

/// For each task, the last step known: its place in the execution. Places count from 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct VectorClock(Vec<usize>);

impl VectorClock {
    /// Whether the step of this task at this place is known.
    pub(crate) fn covers(&self, task: TaskId, place: usize) -> bool {
        self.0.get(task.index()).is_some_and(|&count| count > place)
    }

    /// The task is known up to this place.
    pub(crate) fn set(&mut self, task: TaskId, place: usize) {
        if self.0.len() <= task.index() {
            self.0.resize(task.index() + 1, 0);
        }
        self.0[task.index()] = place + 1;
    }

    /// Adds what the other clock knows.
    pub(crate) fn join(&mut self, other: &VectorClock) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        self.0.iter_mut().zip(&other.0).for_each(|(mine, other)| *mine = (*mine).max(*other));
    }

    /// The last known place of each task, for the tasks of which any is known.
    pub(crate) fn places(&self) -> impl Iterator<Item = (TaskId, usize)> {
        let last = |(task, count): (usize, &usize)| Some((TaskId(task as u32), count.checked_sub(1)?));
        self.0.iter().enumerate().filter_map(last)
    }
}
