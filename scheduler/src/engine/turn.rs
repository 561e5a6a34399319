//! A task's turn: it waits until it is chosen to make its step, on its fiber.

use std::cell::RefMut;
use std::time::Duration;

use interloper_std::runtime::{self, Action, Exit, ObjectId, Operation, Place, Runtime, TaskId, Wakes, Woken};

use super::core::{Core, is_unwinding_now};
use super::fiber::Way;
use super::freedom::Ended;
use super::progress::Timer;
use super::state::State;
use super::task::Gate;
use crate::execution::{Cause, End};

/// The most tasks of one execution: a program that spawns without end ends here.
pub(crate) const MOST_TASKS: usize = 4096;

/// After this many steps an unwinding task is abandoned.
const ABORT_STEPS: u32 = 10_000;

/// After the end of an execution, a task is abandoned when it has accessed plain memory this often without a step.
const MOST_LINGERING: u32 = 100_000;

impl Core {
    /// Lets the strategy choose until it is the turn of the running task to make `operation`, for which `gate` must be
    /// open. Returns the state borrowed, so that nothing comes between the choice and the step.
    #[inline(always)]
    pub(super) fn make(&self, operation: Operation, gate: Gate) -> RefMut<'_, State> {
        let mut borrowed = self.state.borrow_mut();
        let state = &mut *borrowed;
        state.settle();
        state.update();
        let task = state.current;
        let Operation { object, action, location } = operation;
        let ends = state.aborting || state.steps >= state.limit || self.choosing.get();
        // A copy: if the address of the action itself went there, it would be in memory, in pieces, and reading it as a whole from
        // there would stall until all have been written.
        if ends || std::thread::panicking() || self.is_deep() {
            return self.make_slowly(borrowed, object, std::hint::black_box(action), location, gate);
        }
        if !state.is_open(task, gate) {
            return self.make_when_open(borrowed, object, std::hint::black_box(action), location, gate);
        }
        let position = state.show(task, object, action, location);
        let (index, chosen) = self.ask_at(state, position);
        if chosen == task {
            // The operation is not read back from `enabled`, where it was just written: that would stall. The task
            // waited for nothing.
            self.record(state, task, object, action, location, Cause::Ready);
            return borrowed;
        }
        self.record_chosen(state, index, chosen);
        state.enter_gate(task, gate);
        self.resume_turn(borrowed, task, gate)
    }

    /// As [`Core::make`], where the gate is not open: others go on first.
    #[inline(never)]
    fn make_when_open<'a>(
        &'a self,
        mut state: RefMut<'a, State>,
        object: ObjectId,
        action: Action,
        location: Place,
        gate: Gate,
    ) -> RefMut<'a, State> {
        let task = state.current;
        state.show(task, object, action, location);
        state.enter_gate(task, gate);
        state.disable(task);
        match self.choose(&mut state, false) {
            // It waits for a change, and is to look again.
            Some(chosen) if chosen == task => {
                state.leave_gate(task, gate);
                state
            }
            Some(_) => self.resume_turn(state, task, gate),
            None => {
                self.abort(&mut state);
                self.turn_of_aborted(state, gate, false)
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn make_slowly<'a>(
        &'a self,
        mut state: RefMut<'a, State>,
        object: ObjectId,
        action: Action,
        location: Place,
        gate: Gate,
    ) -> RefMut<'a, State> {
        let task = state.current;
        if self.is_deep() && !state.aborting && !is_unwinding_now(&state, task) {
            // The engine's own frames must not run into the guard page: what they leave half done would be lost.
            let last = Operation { object, action, location };
            state.end = Some(End::StackOverflow { task: TaskId(task as u32), last });
            self.abort(&mut state);
        }
        if !state.aborting {
            state.announce(task, Operation { object, action, location }, gate);
        }
        self.turn(state, gate)
    }

    /// As [`Core::make`], for a task that has already announced what it waits for.
    fn turn<'a>(&'a self, mut state: RefMut<'a, State>, gate: Gate) -> RefMut<'a, State> {
        let task = state.current;
        let unwinding = is_unwinding_now(&state, task);
        if state.aborting {
            return self.turn_of_aborted(state, gate, unwinding);
        }
        match self.choose(&mut state, unwinding) {
            Some(chosen) if chosen == task => {
                state.proceed(task);
                state
            }
            Some(_) => {
                state = if unwinding { self.suspend_unwinding(state, task) } else { self.suspend(state, task) };
                if state.aborting {
                    return self.turn_of_aborted(state, gate, unwinding);
                }
                state.proceed(task);
                state
            }
            None => {
                self.abort(&mut state);
                self.turn_of_aborted(state, gate, unwinding)
            }
        }
    }

    /// Another task was chosen: waits for the turn of this task, which does not unwind.
    ///
    /// Inlined, as `suspend` is, because the processor mispredicts each return after a switch of stacks.
    #[inline(always)]
    fn resume_turn<'a>(&'a self, mut state: RefMut<'a, State>, task: usize, gate: Gate) -> RefMut<'a, State> {
        state = self.suspend(state, task);
        if state.aborting {
            return self.turn_of_aborted(state, gate, false);
        }
        state.leave_gate(task, gate);
        state
    }

    /// The execution has ended: the task unwinds. If it unwinds already, it makes the step as soon as the step is
    /// possible.
    #[cold]
    fn turn_of_aborted<'a>(&'a self, mut state: RefMut<'a, State>, gate: Gate, unwinding: bool) -> RefMut<'a, State> {
        let task = state.current;
        if state.tasks[task].accesses {
            // It goes on to its next step of another kind, and unwinds there.
            state.proceed(task);
            return state;
        }
        if !unwinding && state.tasks[task].abort_steps < ABORT_STEPS {
            state.tasks[task].abort_steps += 1;
            state.tasks[task].unwinding = true;
            state.proceed(task);
            state.contend_no_more(task);
            drop(state);
            runtime::unwind();
        }
        // A destructor may wait in a loop for what the destructors of other tasks do, so they have their turn first.
        let mut waits = unwinding && !state.is_open(task, gate);
        // No task needs to wake it any more.
        let gate = match gate {
            Gate::Queue(_) | Gate::Token => state.tasks[task].after,
            Gate::Clock | Gate::Change => Gate::Open,
            gate => gate,
        };
        state.set_gate(task, gate);
        loop {
            state.tasks[task].abort_steps += 1;
            if state.tasks[task].abort_steps > ABORT_STEPS {
                // The thread will not resume it.
                state.tasks[task].lost = true;
            } else if !waits && state.is_open(task, gate) {
                state.proceed(task);
                return state;
            }
            waits = false;
            state = if unwinding { self.suspend_unwinding(state, task) } else { self.suspend(state, task) };
        }
    }

    /// Runs other fibers until the fiber of `task`, the running task, is resumed.
    #[inline(always)]
    fn suspend<'a>(&'a self, state: RefMut<'a, State>, task: usize) -> RefMut<'a, State> {
        let link = state.tasks[task].link.expect("the running task has started");
        // The thread's side starts tasks and unwinds them; what has started goes on from here.
        let next = if self.over.get() { None } else { state.way_of(self.next.get()) };
        let execution = state.execution;
        drop(state);
        self.notes.close();
        if runtime::with(|current| current.execution()) == Some(execution) {
            // SAFETY: the link belongs to the running task, whose fiber this is. The next task has been chosen.
            unsafe { leave(link.way, next) };
        } else {
            self.suspend_elsewhere(link.way, next);
        }
        self.on_stack_of(link);
        self.state.borrow_mut()
    }

    /// Whether the stack of the running task is almost used up.
    #[inline(always)]
    pub(super) fn is_deep(&self) -> bool {
        let here = 0u8;
        std::ptr::from_ref(&here).addr() < self.floor.get()
    }

    /// The task runs under another runtime, or under no runtime.
    #[cold]
    fn suspend_elsewhere(&self, way: Way, next: Option<Way>) {
        // SAFETY: as in `suspend`.
        self.with_runtime(|runtime| runtime::enter(runtime, || unsafe { leave(way, next) }));
    }

    /// As [`Core::suspend`], for a task that unwinds.
    #[cold]
    fn suspend_unwinding<'a>(&'a self, mut state: RefMut<'a, State>, task: usize) -> RefMut<'a, State> {
        state.tasks[task].unwinding = true;
        state.suspended_unwinding += 1;
        state = self.suspend(state, task);
        state.suspended_unwinding -= 1;
        state
    }

    /// Waits as `gate` says, at most for `timeout`, and then makes the step `then`, for which `after` must be open.
    pub(super) fn wait_at(
        &self,
        gate: Gate,
        (timeout, wakes): (Option<Duration>, Wakes),
        then: Operation,
        after: Gate,
    ) -> (RefMut<'_, State>, Ended) {
        let mut state = self.state.borrow_mut();
        state.settle();
        let task = state.current;
        state.tasks[task].after = after;
        state.tasks[task].woken = Woken::Notified;
        if !state.aborting {
            let deadline = timeout.and_then(|timeout| self.deadline(&mut state, timeout));
            if let Some(ended) = self.ends_by_itself(&mut state, deadline, wakes) {
                state.announce(task, then, after);
                let mut state = self.turn(state, after);
                if let Ended::Early(deadline) = ended {
                    self.move_clock(&mut state, deadline);
                }
                return (state, ended);
            }
            let ticket = state.ticket();
            state.tasks[task].ticket = ticket;
            state.announce(task, then, gate);
            if let (Some(deadline), false) = (deadline, state.is_open(task, gate)) {
                let overdue = state.overdue(deadline.saturating_sub(state.clock));
                state.overdue = state.overdue.min(overdue);
                state.timers.push(Timer { deadline, ticket, task, overdue });
            }
        }
        let state = self.turn(state, gate);
        let woken = state.tasks[task].woken;
        (state, Ended::Ordinarily(woken))
    }

    /// Ends the execution as the process would end, and abandons the running task with its stack: a task that calls
    /// `process::abort` relies on never coming back, not even by unwinding.
    pub(super) fn exit_process(&self, exit: Exit, location: Place) -> ! {
        let unwinding = self.panicking();
        let mut state = self.state.borrow_mut();
        let task = state.current;
        if state.aborting {
            // Unwinding the task leads here. From now on such a task is abandoned at once.
            let origin = state.tasks[task].origin;
            self.fragile.borrow_mut().push(origin);
        } else {
            let object = state.tasks[task].object;
            self.record_part(&mut state, task, object, Action::End, location);
            let panicked = if exit == Exit::Abort { self.begun_in(TaskId(task as u32)) } else { Vec::new() };
            state.end = Some(End::Exited { task: TaskId(task as u32), exit, location, panicked });
            self.abort(&mut state);
        }
        self.abandon(state, task, unwinding)
    }

    /// Ends the execution if the stack of the running task is almost used up, before the engine looks at what the task does next: its own
    /// frames must not run into the guard page. The task is abandoned, since code between steps cannot be unwound here.
    #[inline(always)]
    pub(super) fn end_if_deep(&self) {
        if self.is_deep() {
            self.end_as_deep();
        }
    }

    #[cold]
    #[inline(never)]
    fn end_as_deep(&self) {
        let unwinding = self.panicking();
        // What the engine itself does is told, too.
        let Ok(mut state) = self.state.try_borrow_mut() else { return };
        if state.aborting || self.kept.try_borrow_apart().is_err() {
            return;
        }
        let task = state.current;
        state.end = Some(End::StackOverflow { task: TaskId(task as u32), last: state.operation(task) });
        self.abort(&mut state);
        self.abandon(state, task, unwinding)
    }

    /// The running task never goes on. Its stack is left as it is.
    fn abandon<'a>(&'a self, mut state: RefMut<'a, State>, task: usize, unwinding: bool) -> ! {
        state.tasks[task].lost = true;
        loop {
            state = if unwinding { self.suspend_unwinding(state, task) } else { self.suspend(state, task) };
        }
    }

    /// The running task accesses plain memory after the end of the execution: it goes on to its next step, if there is one. A
    /// task that has only looked at plain memory for long may be in a loop that waits.
    #[cold]
    pub(super) fn linger(&self) {
        if !self.in_task.get() || self.choosing.get() {
            return;
        }
        let Ok(mut state) = self.state.try_borrow_mut() else { return };
        let task = state.current;
        if state.aborting {
            state.tasks[task].lingers += 1;
            if state.tasks[task].lingers > MOST_LINGERING {
                let unwinding = is_unwinding_now(&state, task);
                self.abandon(state, task, unwinding);
            }
        }
    }

    /// The execution has ended, or has as many tasks as it may have: a task that does not unwind already goes no further.
    #[cold]
    pub(super) fn may_not_spawn(&self, location: Place) {
        if self.state.borrow().aborting && !self.panicking() {
            drop(self.make(self.own(Action::Yield, location), Gate::Open));
        }
        if self.state.borrow().live >= MOST_TASKS {
            self.fail(format!("the program spawns more than {MOST_TASKS} threads in one execution"));
        }
    }

    /// Ends the execution here.
    pub(super) fn stop(&self, end: End) {
        let unwinding = self.panicking();
        let mut state = self.state.borrow_mut();
        if !state.aborting {
            state.end = Some(end);
            self.abort(&mut state);
        }
        if !unwinding {
            drop(self.turn_of_aborted(state, Gate::Open, false));
        }
    }
}

/// Leaves the running fiber for the next task, or for the thread's side, until the fiber is resumed.
///
/// # Safety
/// `way` is that of the running fiber. `next`, if any, is that of the task that was chosen to run next, which has not ended.
#[inline(always)]
unsafe fn leave(way: Way, next: Option<Way>) {
    match next {
        // SAFETY: as the caller promises. A task that has started, and does not run, has suspended itself.
        Some(next) => unsafe { way.resume(next) },
        // SAFETY: as the caller promises.
        None => unsafe { way.suspend() },
    }
}
