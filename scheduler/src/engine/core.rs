//! The tasks' side of an execution: how the next one is chosen, and how a task starts, waits, ends and is unwound.

use std::any::Any;
use std::cell::{Cell, RefCell, RefMut};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;

use interloper_std::runtime::{self, Abort, Action, Local, ObjectId, Operation, Place, Runtime, TaskId, Woken};

use super::Config;
use super::fiber::Link;
use super::panics::message;
use super::state::{Gate, State, Timer};
use crate::decisions::{Decision, Question};
use crate::execution::{Cause, End, Event, PanicReport, SourcePlace};
use crate::strategy::Strategy;

/// What the fibers of an engine share. It stays where it is while they live.
pub(super) struct Core {
    pub(super) config: Config,
    pub(super) state: RefCell<State>,
    /// The running task, or the one that was chosen to run next: as in the state, for when that is borrowed.
    pub(super) next: Cell<usize>,
    /// All tasks have ended, or the execution has ended early.
    pub(super) over: Cell<bool>,
    /// The thread is on the fiber of a task.
    pub(super) in_task: Cell<bool>,
    strategy: Cell<Option<*mut dyn Strategy>>,
    /// The strategy is being asked. It stays so when the strategy panics.
    choosing: Cell<bool>,
    wants_parts: Cell<bool>,
    main: Cell<Option<*mut dyn FnMut()>>,
    /// Panics that have begun, by their tasks. Apart from the state, which can be borrowed when one begins.
    begun: RefCell<Vec<PanicReport>>,
    /// The payload of a panic of the strategy.
    strategy_panic: Cell<Option<Box<dyn Any + Send>>>,
}

/// After so many steps a task that is being unwound is given up.
const ABORT_STEPS: u32 = 10_000;

const MAIN: usize = TaskId::MAIN.index();

impl Core {
    pub(super) fn new(config: Config) -> Core {
        Core {
            config,
            state: RefCell::new(State::new()),
            next: Cell::new(MAIN),
            over: Cell::new(false),
            in_task: Cell::new(false),
            strategy: Cell::new(None),
            choosing: Cell::new(false),
            wants_parts: Cell::new(false),
            main: Cell::new(None),
            begun: RefCell::new(Vec::new()),
            strategy_panic: Cell::new(None),
        }
    }

    /// Begins an execution: the main task is chosen to start.
    pub(super) fn begin(&self, strategy: *mut dyn Strategy, main: *mut dyn FnMut(), location: Place) {
        self.strategy.set(Some(strategy));
        // SAFETY: `hub::run` keeps the strategy borrowed.
        self.wants_parts.set(unsafe { (*strategy).wants_parts() });
        self.main.set(Some(main));
        self.over.set(false);
        self.choosing.set(false);
        let mut state = self.state.borrow_mut();
        state.reset();
        state.add_task(None, location, None);
        let first = catch_unwind(AssertUnwindSafe(|| self.choose(&mut state, false)));
        match first {
            Ok(Some(_)) => {}
            Ok(None) => self.abort(&mut state),
            Err(payload) => {
                self.strategy_panic.set(Some(payload));
                self.abort(&mut state);
            }
        }
    }

    /// Ends an execution; gives the payload of a panic of the strategy.
    pub(super) fn finish_run(&self) -> Option<Box<dyn Any + Send>> {
        self.strategy.set(None);
        self.main.set(None);
        self.begun.borrow_mut().clear();
        self.strategy_panic.take()
    }

    fn abort(&self, state: &mut State) {
        state.aborting = true;
        self.over.set(true);
    }

    // The first and last frames of a task.

    pub(super) fn root(&self, task: usize, link: Link) {
        let (body, aborting) = {
            let mut state = self.state.borrow_mut();
            state.tasks[task].link = Some(link);
            (state.tasks[task].body.take(), state.aborting)
        };
        let main = if task == MAIN { self.main.take() } else { None };
        let epilogue = task == MAIN && main.is_none();
        let result = catch_unwind(AssertUnwindSafe(|| match (main, body) {
            _ if aborting => {}
            // SAFETY: `hub::run` keeps the closure borrowed, and `take` made this the only use.
            (Some(main), _) => unsafe { (*main)() },
            (None, Some(body)) => body(),
            (None, None) => {}
        }));
        self.drop_values(task, |state| if epilogue { state.shared.pop() } else { state.tasks[task].locals.pop() });
        if let Err(payload) = result {
            self.record_panic(task, payload);
        }
        // Whatever unwinds out of here is the strategy's.
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| self.finish(task, epilogue))) {
            self.record_panic(task, payload);
        }
    }

    fn drop_values(&self, task: usize, mut pop: impl FnMut(&mut State) -> Option<Local>) {
        loop {
            let Some(value) = pop(&mut self.state.borrow_mut()) else { break };
            if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
                self.record_panic(task, payload);
            }
        }
    }

    fn finish(&self, task: usize, epilogue: bool) {
        let mut state = self.state.borrow_mut();
        if task == MAIN && state.tasks[task].panicked && state.end.is_none() {
            // The others go on: in a process they would, too, for as long as it takes to exit.
            state.end = Some(End::Panicked(state.panics[0].clone()));
        }
        if !epilogue {
            let (object, location) = (state.tasks[task].object, state.operation(task).location);
            self.record_part(&mut state, task, object, Action::Exit, location);
        }
        state.finish(task);
        if state.unfinished == 0 {
            self.over.set(true);
        } else if !state.aborting {
            state.settle();
            if self.choose(&mut state, false).is_none() {
                self.abort(&mut state);
            }
        }
    }

    fn record_panic(&self, task: usize, payload: Box<dyn Any + Send>) {
        if runtime::is_abort(&*payload) {
            return;
        }
        if self.choosing.get() {
            self.strategy_panic.set(Some(payload));
            return self.abort(&mut self.state.borrow_mut());
        }
        let id = TaskId(task as u32);
        let begun = {
            let mut begun = self.begun.borrow_mut();
            let position = begun.iter().position(|report| report.task == id);
            position.map(|position| begun.remove(position))
        };
        let mut state = self.state.borrow_mut();
        let name = state.tasks[task].name.clone();
        let report =
            begun.unwrap_or_else(|| PanicReport { task: id, name: None, message: message(&*payload), place: None });
        state.panics.push(PanicReport { name, ..report });
        state.tasks[task].panicked = true;
        state.tasks[task].payload = Some(payload);
    }

    /// The panic hook was called on this thread. False when the panic is not one of the program.
    pub(super) fn panic_begins(&self, message: String, place: Option<SourcePlace>) -> bool {
        if !self.in_task.get() || self.choosing.get() {
            return false;
        }
        let task = TaskId(self.next.get() as u32);
        let report = PanicReport { task, name: None, message, place };
        let mut begun = self.begun.borrow_mut();
        match begun.iter_mut().find(|other| other.task == task) {
            Some(other) => *other = report,
            None => begun.push(report),
        }
        true
    }

    // The steps of a task.

    /// Lets the strategy choose until it is the turn of the running task to make `operation`, for which `gate` must be
    /// open. The state is given back borrowed, so that nothing comes between the choice and the step.
    #[inline(always)]
    pub(super) fn make(&self, operation: Operation, gate: Gate) -> RefMut<'_, State> {
        let mut state = self.state.borrow_mut();
        state.settle();
        let task = state.current;
        let Operation { object, action, location } = operation;
        if state.aborting || std::thread::panicking() || !state.is_open(task, gate) {
            return self.make_slowly(state, object, action, location, gate);
        }
        state.show(task, object, action, location);
        match self.ask(&mut state, false) {
            Some((_, chosen)) if chosen == task => {
                // Not read back from where it was just shown: that would wait for the memory.
                self.record(&mut state, task, object, action, location);
                return state;
            }
            Some((index, chosen)) => {
                let Operation { object, action, location } = state.enabled[index].operation;
                self.record(&mut state, chosen, object, action, location);
                state.enter_gate(task, gate);
            }
            None => self.abort(&mut state),
        }
        self.resume_turn(state, task, gate)
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
        if !state.aborting {
            state.announce(task, Operation { object, action, location }, gate);
        }
        self.turn(state, gate)
    }

    /// As [`Core::make`], for a task that has said what it waits for already.
    fn turn<'a>(&'a self, mut state: RefMut<'a, State>, gate: Gate) -> RefMut<'a, State> {
        let task = state.current;
        let unwinding = std::thread::panicking() && is_unwinding(&state, task);
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

    /// Another task was chosen, or the execution has ended: waits for the turn of this one, which does not unwind.
    ///
    /// Inlined, as `suspend` is, because each return behind a switch of stacks is predicted wrongly.
    #[inline(always)]
    fn resume_turn<'a>(&'a self, mut state: RefMut<'a, State>, task: usize, gate: Gate) -> RefMut<'a, State> {
        if !state.aborting {
            state = self.suspend(state, task);
            if !state.aborting {
                state.leave_gate(task, gate);
                return state;
            }
        }
        self.turn_of_aborted(state, gate, false)
    }

    /// The execution has ended: the task unwinds. If it does so already, the step is made as soon as it can be.
    #[cold]
    fn turn_of_aborted<'a>(&'a self, mut state: RefMut<'a, State>, gate: Gate, unwinding: bool) -> RefMut<'a, State> {
        let task = state.current;
        if !unwinding && state.tasks[task].abort_steps < ABORT_STEPS {
            state.tasks[task].abort_steps += 1;
            state.tasks[task].unwinding = true;
            state.proceed(task);
            drop(state);
            resume_unwind(Box::new(Abort));
        }
        // Nobody need wake it any more.
        let gate = match gate {
            Gate::Queue(_) => state.tasks[task].after,
            Gate::Token | Gate::Clock | Gate::Change => Gate::Open,
            gate => gate,
        };
        state.set_gate(task, gate);
        loop {
            state.tasks[task].abort_steps += 1;
            if state.tasks[task].abort_steps > ABORT_STEPS {
                // The thread will not resume it.
                state.tasks[task].lost = true;
            } else if state.is_open(task, gate) {
                state.proceed(task);
                return state;
            }
            state = if unwinding { self.suspend_unwinding(state, task) } else { self.suspend(state, task) };
        }
    }

    /// Lets the strategy choose whose step is next, and makes that task the running one. `None` when the execution ends
    /// here.
    ///
    /// `alone`: the running task is not to be preempted.
    fn choose(&self, state: &mut State, alone: bool) -> Option<usize> {
        let (index, chosen) = self.ask(state, alone)?;
        let Operation { object, action, location } = state.enabled[index].operation;
        self.record(state, chosen, object, action, location);
        Some(chosen)
    }

    /// Asks the strategy; gives the index among the enabled operations, and the task.
    #[inline(always)]
    fn ask(&self, state: &mut State, alone: bool) -> Option<(usize, usize)> {
        if state.enabled.is_empty() || state.steps >= self.config.step_bound || self.choosing.get() {
            self.unstick(state)?;
        }
        state.steps += 1;
        let current = state.tasks[state.current].position.map(|position| position as usize);
        let (first, pending) = match current {
            Some(position) if alone => (position, &state.enabled[position..=position]),
            _ => (0, &state.enabled[..]),
        };
        let id = current.map(|_| TaskId(state.current as u32));
        let strategy = self.strategy.get().expect("a strategy chooses while a program runs");
        self.choosing.set(true);
        // SAFETY: `hub::run` keeps the strategy borrowed. It is used here and in `pick` alone, and cannot come here
        // again from inside: the state is borrowed.
        let index = unsafe { (*strategy).choose(id, pending) };
        let Some(chosen) = pending.get(index) else {
            panic!("the strategy chose {index} out of {}", pending.len());
        };
        let chosen = chosen.task.index();
        self.choosing.set(false);
        if self.config.decisions && pending.len() > 1 {
            let options = pending.len() as u32;
            state.decisions.push(Decision::new(Question::Task, options, rank(index, current)));
        }
        state.preemptions += u64::from(current.is_some() && chosen != state.current);
        Some((first + index, chosen))
    }

    /// The chosen task makes its step.
    #[inline(always)]
    fn record(&self, state: &mut State, chosen: usize, object: ObjectId, action: Action, location: Place) {
        if self.config.trace {
            let operation = Operation { object, action, location };
            let cause = std::mem::replace(&mut state.tasks[chosen].cause, Cause::Ready);
            let task = TaskId(chosen as u32);
            state.trace.push(Event { task, operation, continues: false, only_read: false, cause });
        }
        state.dirty = !action.only_reads() && !action.is_private();
        state.current = chosen;
        self.next.set(chosen);
    }

    /// No task is enabled, or the bound is reached, or the strategy has panicked and the program caught it.
    #[cold]
    fn unstick(&self, state: &mut State) -> Option<()> {
        if self.choosing.get() {
            self.strategy_panic.set(Some(Box::new("the strategy panicked")));
            return None;
        }
        if state.steps < self.config.step_bound && state.revive(self.config.livelock_rounds) {
            return Some(());
        }
        state.stuck = state.reports();
        if state.end.is_none() {
            state.end = Some(if !state.enabled.is_empty() {
                End::StepBound(state.recent())
            } else if !state.yielded.is_empty() {
                End::Livelock(state.stuck.clone())
            } else if state.tasks[MAIN].done {
                End::Leaked(state.stuck.clone())
            } else {
                End::Deadlock(state.stuck.clone())
            });
        }
        None
    }

    /// A decision that is not about tasks.
    pub(super) fn pick(&self, state: &mut State, options: u32) -> u32 {
        assert!(options > 0, "a decision has at least one answer");
        if options == 1 || state.aborting || self.choosing.get() {
            return 0;
        }
        let strategy = self.strategy.get().expect("a strategy chooses while a program runs");
        self.choosing.set(true);
        // SAFETY: as in `ask`.
        let answer = unsafe { (*strategy).pick(options) };
        assert!(answer < options, "the strategy picked {answer} out of {options}");
        self.choosing.set(false);
        if self.config.decisions {
            state.decisions.push(Decision::new(Question::Other, options, answer));
        }
        answer
    }

    /// A part of a step that the strategy was not asked about.
    pub(super) fn record_part(
        &self,
        state: &mut State,
        task: usize,
        object: ObjectId,
        action: Action,
        location: Place,
    ) {
        let task = TaskId(task as u32);
        let operation = Operation { object, action, location };
        if self.config.trace && !state.aborting {
            state.trace.push(Event { task, operation, continues: true, only_read: false, cause: Cause::Ready });
        }
        if self.wants_parts.get() && !state.aborting && !self.choosing.get() {
            let strategy = self.strategy.get().expect("a strategy chooses while a program runs");
            self.choosing.set(true);
            // SAFETY: as in `ask`.
            unsafe { (*strategy).part(task, operation) };
            self.choosing.set(false);
        }
    }

    /// Lets another fiber run until that of `task`, which is this one, is resumed.
    #[inline(always)]
    fn suspend<'a>(&'a self, state: RefMut<'a, State>, task: usize) -> RefMut<'a, State> {
        let link = state.tasks[task].link.expect("the running task has started");
        let execution = state.execution;
        drop(state);
        if runtime::with(|current| current.execution()) == Some(execution) {
            // SAFETY: the link is that of the running task, whose fiber this is.
            unsafe { link.suspend() };
        } else {
            self.suspend_elsewhere(link);
        }
        self.state.borrow_mut()
    }

    /// The task is under another runtime, or under none.
    #[cold]
    fn suspend_elsewhere(&self, link: Link) {
        // SAFETY: as in `suspend`.
        runtime::enter(self, || unsafe { link.suspend() });
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
        timeout: Option<Duration>,
        then: Operation,
        after: Gate,
    ) -> (RefMut<'_, State>, Woken) {
        let mut state = self.state.borrow_mut();
        state.settle();
        let task = state.current;
        state.tasks[task].after = after;
        state.tasks[task].woken = Woken::Notified;
        if !state.aborting {
            let ticket = state.ticket();
            state.tasks[task].ticket = ticket;
            state.announce(task, then, gate);
            if let (Some(timeout), false) = (timeout, state.is_open(task, gate)) {
                let deadline = state.clock.saturating_add(timeout);
                state.timers.push(Timer { deadline, ticket, task });
            }
        }
        let state = self.turn(state, gate);
        let woken = state.tasks[task].woken;
        (state, woken)
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

/// Whether a running task unwinds, given that something on this thread does.
pub(super) fn is_unwinding(state: &State, task: usize) -> bool {
    state.suspended_unwinding == 0 || state.tasks[task].unwinding
}

/// The answer of a decision about tasks: 0 for the one that made the last step, then the others in their order.
fn rank(index: usize, current: Option<usize>) -> u32 {
    match current {
        Some(current) if index == current => 0,
        Some(current) if index < current => index as u32 + 1,
        _ => index as u32,
    }
}
