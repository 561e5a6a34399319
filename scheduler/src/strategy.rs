//! Who chooses: a strategy sees the pending operations and nothing of the engine.

use interloper_std::runtime::{Operation, TaskId};

use crate::freedoms::Freedoms;

/// A task that can go on, and what it is about to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pending {
    /// The task.
    pub task: TaskId,
    /// Its next step.
    pub operation: Operation,
}

/// Chooses whose step is next.
///
/// A strategy is called inside the engine; it must not use mirror types or the runtime.
pub trait Strategy {
    /// Prepares for another execution. False when there is none left to make.
    fn begin(&mut self) -> bool {
        true
    }

    /// The index of the chosen one in `pending`, which holds the enabled operations in the order of their tasks and is
    /// never empty. `current` is the task that made the last step, if it is among them.
    fn choose(&mut self, current: Option<TaskId>, pending: &[Pending]) -> usize;

    /// A decision that is not about tasks (which waiter is woken, say): a number below `options`, where 0 is the ordinary
    /// answer.
    fn pick(&mut self, options: u32) -> u32 {
        let _ = options;
        0
    }

    /// Which of the freedoms that the engine admits the execution has that is about to begin, and how often at most. It is
    /// asked once for each execution, and not when the engine admits none.
    fn freedoms(&mut self, admitted: Freedoms) -> Freedoms {
        admitted
    }

    /// Whether the execution departs here from the ordinary, in a way that it is free to: a wait ends early, say.
    fn departs(&mut self) -> bool {
        self.pick(2) == 1
    }

    /// Whether the strategy is asked before a task enters or leaves an atomic block, too. If not, the task does that
    /// together with its step before: no other task can tell the difference, and there is less to be chosen.
    fn wants_marks(&self) -> bool {
        true
    }

    /// Whether [`Strategy::part`] is to be called.
    fn wants_parts(&self) -> bool {
        false
    }

    /// The running task has done something more as part of its last step: it spawned a task, say, or came to its end.
    fn part(&mut self, task: TaskId, operation: Operation) {
        let _ = (task, operation);
    }

    /// The last step of a task turned out to do less than its action says: an attempt to take a lock failed, or a
    /// compare-exchange found another value. See [`Event::only_read`](crate::Event::only_read).
    fn only_read(&mut self, task: TaskId, operation: Operation) {
        let _ = (task, operation);
    }

    /// The execution is over; `execution` is what came of it.
    fn end(&mut self, execution: &crate::Execution, trace: &[crate::Event]) {
        let _ = (execution, trace);
    }
}

impl<S: Strategy + ?Sized> Strategy for &mut S {
    fn begin(&mut self) -> bool {
        (**self).begin()
    }

    fn choose(&mut self, current: Option<TaskId>, pending: &[Pending]) -> usize {
        (**self).choose(current, pending)
    }

    fn pick(&mut self, options: u32) -> u32 {
        (**self).pick(options)
    }

    fn freedoms(&mut self, admitted: Freedoms) -> Freedoms {
        (**self).freedoms(admitted)
    }

    fn departs(&mut self) -> bool {
        (**self).departs()
    }

    fn wants_marks(&self) -> bool {
        (**self).wants_marks()
    }

    fn wants_parts(&self) -> bool {
        (**self).wants_parts()
    }

    fn part(&mut self, task: TaskId, operation: Operation) {
        (**self).part(task, operation)
    }

    fn only_read(&mut self, task: TaskId, operation: Operation) {
        (**self).only_read(task, operation)
    }

    fn end(&mut self, execution: &crate::Execution, trace: &[crate::Event]) {
        (**self).end(execution, trace)
    }
}

impl<S: Strategy + ?Sized> Strategy for Box<S> {
    fn begin(&mut self) -> bool {
        (**self).begin()
    }

    fn choose(&mut self, current: Option<TaskId>, pending: &[Pending]) -> usize {
        (**self).choose(current, pending)
    }

    fn pick(&mut self, options: u32) -> u32 {
        (**self).pick(options)
    }

    fn freedoms(&mut self, admitted: Freedoms) -> Freedoms {
        (**self).freedoms(admitted)
    }

    fn departs(&mut self) -> bool {
        (**self).departs()
    }

    fn wants_marks(&self) -> bool {
        (**self).wants_marks()
    }

    fn wants_parts(&self) -> bool {
        (**self).wants_parts()
    }

    fn part(&mut self, task: TaskId, operation: Operation) {
        (**self).part(task, operation)
    }

    fn only_read(&mut self, task: TaskId, operation: Operation) {
        (**self).only_read(task, operation)
    }

    fn end(&mut self, execution: &crate::Execution, trace: &[crate::Event]) {
        (**self).end(execution, trace)
    }
}
