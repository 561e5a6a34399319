//! Whether a task runs alone and knows of all that others have done.

use interloper_std::runtime::TaskId;

/// What is known of it, from step to step.
#[derive(Clone, Debug, Default)]
pub(super) struct Alone {
    /// How many tasks have not ended.
    running: usize,
    /// The only task that runs knows of all that the tasks before this one have done.
    known: usize,
    holds: bool,
}

impl Alone {
    /// Another execution begins, which has no task yet.
    pub(super) fn restart(&mut self) {
        *self = Alone { holds: true, ..Alone::default() };
    }

    /// A task begins: the first one of the execution, or another one.
    pub(super) fn begins(&mut self, is_first: bool) {
        self.running += 1;
        (self.holds, self.known) = (is_first, 0);
    }

    /// A task has ended.
    pub(super) fn ends(&mut self) {
        self.running -= 1;
    }

    /// The last task that runs has learnt something, and there are so many tasks: it may know now of all that others have done.
    pub(super) fn look(&mut self, tasks: usize, is_known: impl Fn(TaskId) -> bool) {
        while self.known < tasks && is_known(TaskId(self.known as u32)) {
            self.known += 1;
        }
        self.holds = self.known == tasks;
    }

    /// Whether one task runs of which it is not known that it is alone.
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        self.running == 1 && !self.holds
    }

    /// Whether all that was done so far happens before all that will be done.
    #[inline]
    pub(super) fn holds(&self) -> bool {
        self.holds
    }

    /// As if nobody were ever alone.
    #[cfg(test)]
    pub(super) fn never() -> Alone {
        Alone::default()
    }
}
