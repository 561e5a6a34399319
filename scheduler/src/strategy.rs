//! Strategies choose: a strategy sees the pending operations and nothing of the engine.

use interloper_std::runtime::{Operation, Place, TaskId};

use crate::decisions::Question;
use crate::freedoms::{Freedom, Freedoms};

/// A task that can go on, with its next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pending {
    /// The task.
    pub task: TaskId,
    /// Its next step.
    pub operation: Operation,
}

/// What a task does that spins or yields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    /// What the freedoms of the execution say: see [`Freedom::Hints`].
    Ask,
    /// It waits until something changes.
    Wait,
    /// It goes on as if it had not spun. Only for an execution that the strategy discards.
    GoOn,
}

/// The stores at the places that an access to weak memory may take, by their indices: see [`Strategy::place`].
pub trait Stores {
    /// The step that stored what is there, counted from 1; 0 for the value that was there before all.
    fn step(&self, index: u32) -> u64;

    /// The last step that stored what this task may still read at the location of the access; 0 for the value that was
    /// there before all.
    fn latest(&self, task: TaskId) -> u64;

    /// Whether this task can no longer read what the access stores there: it knows of a store that comes after this
    /// place.
    fn is_passed(&self, index: u32, task: TaskId) -> bool;
}

/// What is new about an execution: about the pairs of a write and a read of another task that saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Novelty {
    /// An earlier execution showed the same pairs.
    Nothing,
    /// Earlier executions showed all its pairs, but none showed them together.
    Set,
    /// A pair.
    Pair,
}

/// Chooses the task that makes the next step.
///
/// The engine calls a strategy from inside; a strategy must not use mirror types or the runtime.
pub trait Strategy {
    /// Prepares for another execution. Returns false when no execution is left.
    fn begin(&mut self) -> bool {
        true
    }

    /// Returns the index of the chosen task in `pending`, which holds the enabled operations in the order of their tasks and is
    /// never empty. `current` is the task that made the last step, if it is among them.
    fn choose(&mut self, current: Option<TaskId>, pending: &[Pending]) -> usize;

    /// Makes a decision that is not about tasks: a number below `options`, where 0 is the ordinary answer. The next questions
    /// come here, unless the strategy has an answer of its own.
    fn decide(&mut self, question: Question, options: u32) -> u32 {
        let _ = (question, options);
        0
    }

    /// Which of several equal possibilities happens: which waiter is woken, for example.
    fn pick(&mut self, options: u32) -> u32 {
        self.decide(Question::Other, options)
    }

    /// The freedoms of the execution that is about to begin, out of those that the engine admits, each with its number. The
    /// engine asks once for each execution, and never if it admits no freedom.
    fn freedoms(&mut self, admitted: Freedoms) -> Freedoms {
        admitted
    }

    /// Whether the execution uses this freedom here: a wait ends early, for example.
    fn departs(&mut self, freedom: Freedom) -> bool {
        let _ = freedom;
        self.decide(Question::Freedom, 2) == 1
    }

    /// The place of an access to weak memory: the index of one of the `options` that it may take. The first one is that of the
    /// newest store, and older ones follow.
    fn place(&mut self, options: u32, stores: &dyn Stores) -> u32 {
        let _ = stores;
        self.decide(Question::Store, options)
    }

    /// Whether the engine also asks the strategy before a task enters or leaves an atomic block. If not, entering or leaving
    /// belongs to the step before it: no other task can tell the difference, and the strategy has fewer choices.
    fn wants_marks(&self) -> bool {
        true
    }

    /// Whether the engine calls [`Strategy::part`].
    fn wants_parts(&self) -> bool {
        false
    }

    /// The running task did something more as part of its last step: for example, it spawned a task, or ended.
    fn part(&mut self, task: TaskId, operation: Operation) {
        let _ = (task, operation);
    }

    /// The last step of a task turned out to do less than its action says: an attempt to take a lock failed, or a
    /// compare-exchange found another value. See [`Event::only_read`](crate::Event::only_read).
    fn only_read(&mut self, task: TaskId, operation: Operation) {
        let _ = (task, operation);
    }

    /// Whether the engine calls [`Strategy::local_state`] in the execution that is about to begin.
    fn wants_local_states(&self) -> bool {
        false
    }

    /// Whether it calls it for looks and attempts of this task at this place. To tell a local state takes longer than a step.
    fn wants_local_state_at(&mut self, task: TaskId, place: Place) -> bool {
        let _ = (task, place);
        true
    }

    /// The running task, which is about to announce a look or an attempt, is in this local state: the same number stands for the
    /// same point of the program with the same values in its local variables. The converse does not hold, and on some machines there
    /// are no such numbers. Numbers of different executions, and of different tasks, have nothing to do with each other.
    fn local_state(&mut self, task: TaskId, number: u64) {
        let _ = (task, number);
    }

    /// Asked where a task spins or yields at this place, or `looks` there again and again without that.
    fn hint(&mut self, task: TaskId, place: Place, looks: bool) -> Hint {
        let _ = (task, place, looks);
        Hint::Ask
    }

    /// Whether the last execution was run only to learn something: whether a task waits, or what belongs to another part of the search.
    /// The executions that count show all that it shows.
    fn discards(&self) -> bool {
        false
    }

    /// Whether the executions so far have nothing of what the strategy looks for: no atomic block, for example.
    fn is_idle(&self) -> bool {
        false
    }

    /// Whether the current or last execution was drawn without regard to the earlier ones, so that what executions show is
    /// a sample of what further ones would show.
    fn is_sample(&self) -> bool {
        true
    }

    /// Another strategy has run an execution with this trace.
    fn watch(&mut self, trace: &[crate::Event]) {
        let _ = trace;
    }

    /// What is new about the last execution, after [`Strategy::end`] or [`Strategy::watch`]. `None` from a strategy that does not
    /// compare executions.
    fn novelty(&self) -> Option<Novelty> {
        None
    }

    /// The execution is over; `execution` is its result.
    fn end(&mut self, execution: &crate::Execution, trace: &[crate::Event]) {
        let _ = (execution, trace);
    }

    /// Between two executions: all that the strategy keeps from the executions so far, as numbers. `None` if it cannot tell.
    fn saved(&self) -> Option<Vec<u64>> {
        None
    }

    /// Goes on where a strategy that was made in the same way, for the same program, was when it said `saved`. Returns false if
    /// the numbers do not fit. The strategy must not be used after that.
    #[must_use]
    fn restore(&mut self, saved: &[u64]) -> bool {
        let _ = saved;
        false
    }
}

/// A strategy around an inner one. Each type that is `Around` is a [`Strategy`]: it passes what the engine asks and
/// tells on to the inner strategy. Only what has a method here can be changed on the way.
pub trait Around {
    /// The inner strategy.
    type Inner: Strategy + ?Sized;

    /// The inner strategy of the current execution.
    fn inner(&self) -> &Self::Inner;

    /// The inner strategy of the current execution.
    fn inner_mut(&mut self) -> &mut Self::Inner;

    /// Replaces [`Strategy::begin`].
    fn around_begin(&mut self) -> bool {
        self.inner_mut().begin()
    }

    /// Replaces [`Strategy::choose`].
    fn around_choose(&mut self, current: Option<TaskId>, pending: &[Pending]) -> usize {
        self.inner_mut().choose(current, pending)
    }

    /// Replaces [`Strategy::freedoms`].
    fn around_freedoms(&mut self, admitted: Freedoms) -> Freedoms {
        self.inner_mut().freedoms(admitted)
    }

    /// Replaces [`Strategy::departs`].
    fn around_departs(&mut self, freedom: Freedom) -> bool {
        self.inner_mut().departs(freedom)
    }

    /// Replaces [`Strategy::end`].
    fn around_end(&mut self, execution: &crate::Execution, trace: &[crate::Event]) {
        self.inner_mut().end(execution, trace);
    }

    /// Replaces [`Strategy::saved`].
    fn around_saved(&self) -> Option<Vec<u64>> {
        self.inner().saved()
    }

    /// Replaces [`Strategy::restore`].
    fn around_restore(&mut self, saved: &[u64]) -> bool {
        self.inner_mut().restore(saved)
    }
}

/// In an implementation of [`Around`]: the field with the inner strategy, and its type.
#[macro_export]
macro_rules! inner_strategy {
    ($field:tt: $inner:ty) => {
        type Inner = $inner;

        fn inner(&self) -> &$inner {
            &self.$field
        }

        fn inner_mut(&mut self) -> &mut $inner {
            &mut self.$field
        }
    };
}

// The only place that passes calls on. The lint refuses a method of `Strategy` that is missing here.
#[deny(clippy::missing_trait_methods)]
impl<A: Around> Strategy for A {
    fn begin(&mut self) -> bool {
        self.around_begin()
    }

    #[inline]
    fn choose(&mut self, current: Option<TaskId>, pending: &[Pending]) -> usize {
        self.around_choose(current, pending)
    }

    fn decide(&mut self, question: Question, options: u32) -> u32 {
        self.inner_mut().decide(question, options)
    }

    fn pick(&mut self, options: u32) -> u32 {
        self.inner_mut().pick(options)
    }

    fn freedoms(&mut self, admitted: Freedoms) -> Freedoms {
        self.around_freedoms(admitted)
    }

    fn departs(&mut self, freedom: Freedom) -> bool {
        self.around_departs(freedom)
    }

    fn place(&mut self, options: u32, stores: &dyn Stores) -> u32 {
        self.inner_mut().place(options, stores)
    }

    fn wants_marks(&self) -> bool {
        self.inner().wants_marks()
    }

    fn wants_parts(&self) -> bool {
        self.inner().wants_parts()
    }

    fn part(&mut self, task: TaskId, operation: Operation) {
        self.inner_mut().part(task, operation);
    }

    fn only_read(&mut self, task: TaskId, operation: Operation) {
        self.inner_mut().only_read(task, operation);
    }

    fn wants_local_states(&self) -> bool {
        self.inner().wants_local_states()
    }

    fn wants_local_state_at(&mut self, task: TaskId, place: Place) -> bool {
        self.inner_mut().wants_local_state_at(task, place)
    }

    fn local_state(&mut self, task: TaskId, number: u64) {
        self.inner_mut().local_state(task, number);
    }

    fn hint(&mut self, task: TaskId, place: Place, looks: bool) -> Hint {
        self.inner_mut().hint(task, place, looks)
    }

    fn discards(&self) -> bool {
        self.inner().discards()
    }

    fn is_idle(&self) -> bool {
        self.inner().is_idle()
    }

    fn is_sample(&self) -> bool {
        self.inner().is_sample()
    }

    fn watch(&mut self, trace: &[crate::Event]) {
        self.inner_mut().watch(trace);
    }

    fn novelty(&self) -> Option<Novelty> {
        self.inner().novelty()
    }

    fn end(&mut self, execution: &crate::Execution, trace: &[crate::Event]) {
        self.around_end(execution, trace);
    }

    fn saved(&self) -> Option<Vec<u64>> {
        self.around_saved()
    }

    fn restore(&mut self, saved: &[u64]) -> bool {
        self.around_restore(saved)
    }
}

impl<S: Strategy + ?Sized> Around for &mut S {
    type Inner = S;

    fn inner(&self) -> &S {
        self
    }

    fn inner_mut(&mut self) -> &mut S {
        self
    }
}

impl<S: Strategy + ?Sized> Around for Box<S> {
    type Inner = S;

    fn inner(&self) -> &S {
        self
    }

    fn inner_mut(&mut self) -> &mut S {
        self
    }
}

#[cfg(test)]
mod tests;
