//! How tasks are chosen, switched, ended and unwound.

use std::any::Any;
use std::cell::{Cell, RefCell, RefMut};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;

use interloper_std::runtime::{self, Abort, Action, Local, Operation, Place, Runtime, TaskId, Woken};

use super::Config;
use super::fiber::{Fiber, Link, Resumed, Stacks};
use super::panics::{self, message};
use super::state::{Gate, State, Timer};
use crate::decisions::{Decision, Question};
use crate::execution::{End, Event, Execution, PanicReport, SourcePlace};
use crate::strategy::Strategy;

/// What the fibers of an engine share. It stays where it is while they live.
pub(super) struct Core {
    pub(super) config: Config,
    pub(super) state: RefCell<State>,
    strategy: Cell<Option<*mut dyn Strategy>>,
    main: Cell<Option<*mut dyn FnMut()>>,
    /// The strategy is being asked: a panic is its own.
    choosing: Cell<bool>,
    /// The task whose fiber is running.
    running: Cell<Option<usize>>,
    /// Panics that have begun, by their tasks. Apart from the state, which can be borrowed when one begins.
    begun: RefCell<Vec<PanicReport>>,
    /// The payload of a panic of the strategy.
    strategy_panic: Cell<Option<Box<dyn Any + Send>>>,
}

/// After so many steps a task that is being unwound is given up.
const ABORT_STEPS: u32 = 10_000;

impl Core {
    pub(super) fn new(config: Config) -> Core {
        let stacks = Stacks::new(config.stack_size);
        Core {
            config,
            state: RefCell::new(State::new(stacks)),
            strategy: Cell::new(None),
            main: Cell::new(None),
            choosing: Cell::new(false),
            running: Cell::new(None),
            begun: RefCell::new(Vec::new()),
            strategy_panic: Cell::new(None),
        }
    }

    // The thread: it runs one fiber after the other.

    pub(super) fn run(&self, strategy: &mut dyn Strategy, main: &mut dyn FnMut(), location: Place) -> Execution {
        // SAFETY: only lifetimes change. Both pointers are used by the fibers of this execution alone, while they run;
        // when this function returns all of them have ended or are never resumed again.
        let (strategy_pointer, main) = unsafe {
            (
                std::mem::transmute::<*mut (dyn Strategy + '_), *mut (dyn Strategy + 'static)>(strategy),
                std::mem::transmute::<*mut (dyn FnMut() + '_), *mut (dyn FnMut() + 'static)>(main),
            )
        };
        self.strategy.set(Some(strategy_pointer));
        self.main.set(Some(main));
        {
            let mut state = self.state.borrow_mut();
            state.reset();
            state.add_task(None, location, None);
            if self.choose(&mut state, false).is_none() {
                state.aborting = true;
            }
        }
        let panicking = std::thread::panicking();
        panics::observed(self, || runtime::enter(self, || self.drive()));
        if !panicking {
            panics::forget_unfinished();
        }
        self.strategy.set(None);
        self.main.set(None);
        if let Some(payload) = self.strategy_panic.take() {
            resume_unwind(payload);
        }
        self.summary()
    }

    fn drive(&self) {
        self.run_tasks();
        if !self.state.borrow().shared.is_empty() {
            self.restart_main();
            self.run_tasks();
        }
        runtime::leave(|| self.drop_payloads());
    }

    fn run_tasks(&self) {
        loop {
            let (next, unfinished, aborting) = {
                let state = self.state.borrow();
                (state.next, state.unfinished, state.aborting)
            };
            if unfinished == 0 {
                break;
            }
            if aborting {
                self.unwind_all();
                break;
            }
            self.resume(next);
        }
    }

    fn resume(&self, task: usize) {
        let fiber = {
            let mut state = self.state.borrow_mut();
            state.current = task;
            match state.tasks[task].fiber.take() {
                Some(fiber) => fiber,
                None => {
                    let core: *const Core = self;
                    // SAFETY: the core outlives its fibers: the engine that owns it borrows it for the whole run, at
                    // the end of which they have ended or are never resumed again.
                    unsafe { Fiber::new(&mut state.stacks, move |link| (*core).root(task, link)) }
                }
            }
        };
        self.running.set(Some(task));
        let resumed = fiber.resume(|stack| self.state.borrow_mut().stacks.recycle(stack));
        self.running.set(None);
        match resumed {
            Resumed::Suspended(fiber) => self.state.borrow_mut().tasks[task].fiber = Some(fiber),
            Resumed::Ended => {}
        }
    }

    /// Unwinds the tasks that are left. One that cannot be unwound (it waits in a destructor for another such one, or
    /// catches what unwinds it again and again) is given up with its stack.
    fn unwind_all(&self) {
        loop {
            let before = self.state.borrow().abort_progress;
            let mut task = 0;
            while task < self.state.borrow().live {
                let ended = |state: &State| state.tasks[task].done || state.tasks[task].lost;
                if !ended(&self.state.borrow()) {
                    self.resume(task);
                }
                task += 1;
            }
            let state = self.state.borrow();
            if state.unfinished == 0 || state.abort_progress == before {
                break;
            }
        }
        let mut state = self.state.borrow_mut();
        let live = state.live;
        for task in state.tasks[..live].iter_mut().filter(|task| !task.done) {
            task.lost = true;
            task.fiber.take().into_iter().for_each(Fiber::abandon);
        }
        state.suspended_unwinding = 0;
    }

    /// The main task goes on, with its closure gone: it drops the values of the execution.
    fn restart_main(&self) {
        let mut state = self.state.borrow_mut();
        let task = TaskId::MAIN.index();
        let main = &mut state.tasks[task];
        let done = std::mem::replace(&mut main.done, false);
        main.lost = false;
        state.unfinished += usize::from(done);
        state.next = task;
        if !state.aborting {
            state.enable(task);
        }
    }

    /// Payloads that nobody asked for belong to the program: their destructors may do anything.
    fn drop_payloads(&self) {
        let live = self.state.borrow().live;
        for task in 0..live {
            let payload = self.state.borrow_mut().tasks[task].payload.take();
            if let Some(payload) = payload {
                let mut state = self.state.borrow_mut();
                if state.end.is_none() {
                    state.end = Some(End::Panicked(state.panics[0].clone()));
                }
                drop(state);
                let _ = catch_unwind(AssertUnwindSafe(|| drop(payload)));
            }
        }
        self.begun.borrow_mut().clear();
    }

    fn summary(&self) -> Execution {
        let mut state = self.state.borrow_mut();
        Execution {
            end: state.end.take().unwrap_or(End::Finished),
            steps: state.steps,
            tasks: state.live,
            clock: state.clock,
            panics: std::mem::take(&mut state.panics),
        }
    }

    // The fiber of a task: its first and last frames.

    fn root(&self, task: usize, link: Link) {
        let (body, aborting) = {
            let mut state = self.state.borrow_mut();
            state.tasks[task].link = Some(link);
            (state.tasks[task].body.take(), state.aborting)
        };
        let main = if task == TaskId::MAIN.index() { self.main.take() } else { None };
        let epilogue = task == TaskId::MAIN.index() && main.is_none();
        let result = catch_unwind(AssertUnwindSafe(|| match (main, body) {
            _ if aborting => {}
            // SAFETY: `run` keeps the closure borrowed, and `take` made this the only use.
            (Some(main), _) => unsafe { (*main)() },
            (None, Some(body)) => body(),
            (None, None) => {}
        }));
        self.drop_values(|state| if epilogue { state.shared.pop() } else { state.tasks[task].locals.pop() }, task);
        self.finish(task, result, epilogue);
    }

    fn drop_values(&self, mut pop: impl FnMut(&mut State) -> Option<Local>, task: usize) {
        loop {
            let Some(value) = pop(&mut self.state.borrow_mut()) else { break };
            if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
                self.record_panic(task, payload);
            }
        }
    }

    fn finish(&self, task: usize, result: Result<(), Box<dyn Any + Send>>, epilogue: bool) {
        if let Err(payload) = result {
            self.record_panic(task, payload);
        }
        let mut state = self.state.borrow_mut();
        let main_panicked = task == TaskId::MAIN.index() && state.tasks[task].panicked;
        if main_panicked && state.end.is_none() {
            state.end = Some(End::Panicked(state.panics[0].clone()));
            state.aborting = true;
        }
        let object = state.tasks[task].object;
        let location = state.tasks[task].operation.location;
        if self.config.trace && !state.aborting && !epilogue {
            let operation = Operation { object, action: Action::Exit, location };
            state.trace.push(Event { task: TaskId(task as u32), operation, continues: true });
        }
        state.finish(task);
        if state.unfinished > 0 && !state.aborting {
            state.settle();
            if self.choose(&mut state, false).is_none() {
                state.aborting = true;
            }
        }
    }

    fn record_panic(&self, task: usize, payload: Box<dyn Any + Send>) {
        if runtime::is_abort(&*payload) {
            return;
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

    /// The panic hook was called in the running task. False when the panic is not one of the program.
    pub(super) fn panic_begins(&self, message: String, place: Option<SourcePlace>) -> bool {
        let Some(task) = self.running.get().filter(|_| !self.choosing.get()) else { return false };
        let task = TaskId(task as u32);
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
    #[inline]
    pub(super) fn make(&self, operation: Operation, gate: Gate) -> RefMut<'_, State> {
        let mut state = self.state.borrow_mut();
        state.settle();
        let task = state.current;
        if !state.aborting {
            state.announce(task, operation, gate);
        }
        self.turn(state, gate)
    }

    /// As [`Core::make`], for a task that has said what it waits for already.
    #[inline]
    pub(super) fn turn<'a>(&'a self, mut state: RefMut<'a, State>, gate: Gate) -> RefMut<'a, State> {
        let task = state.current;
        let unwinding = std::thread::panicking() && is_unwinding(&state, task);
        if !state.aborting {
            match self.choose(&mut state, unwinding) {
                Some(chosen) if chosen == task => {}
                Some(_) => state = self.suspend(state, unwinding),
                None => state.aborting = true,
            }
        }
        if state.aborting {
            return self.turn_of_aborted(state, gate, unwinding);
        }
        state.proceed(task);
        state
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
            } else if state.is_open(task) {
                state.proceed(task);
                return state;
            }
            state = self.suspend(state, unwinding);
        }
    }

    /// Asks the strategy whose step is next. `None` when the execution ends here.
    ///
    /// `alone`: the running task is not to be preempted.
    #[inline]
    fn choose(&self, state: &mut State, alone: bool) -> Option<usize> {
        if (state.enabled.is_empty() && !state.revive(self.config.livelock_rounds))
            || state.steps >= self.config.step_bound
        {
            state.end = Some(self.why_stuck(state));
            return None;
        }
        state.steps += 1;
        let current = state.tasks[state.current].position;
        let pending = match current {
            Some(position) if alone => &state.enabled[position as usize..][..1],
            _ => &state.enabled[..],
        };
        let id = current.map(|_| TaskId(state.current as u32));
        let index = self.ask(|strategy| {
            let index = strategy.choose(id, pending);
            assert!(index < pending.len(), "the strategy chose {index} out of {}", pending.len());
            index
        })?;
        let chosen = pending[index];
        if self.config.decisions && pending.len() > 1 {
            let rank = rank(index, current.map(|position| position as usize));
            state.decisions.push(Decision::new(Question::Task, pending.len() as u32, rank));
        }
        if self.config.trace {
            state.trace.push(Event { task: chosen.task, operation: chosen.operation, continues: false });
        }
        state.dirty = !chosen.operation.action.only_reads() && !chosen.operation.action.is_private();
        state.next = chosen.task.index();
        Some(state.next)
    }

    fn why_stuck(&self, state: &State) -> End {
        if !state.enabled.is_empty() {
            End::StepBound(state.recent())
        } else if !state.yielded.is_empty() {
            End::Livelock(state.reports())
        } else if state.tasks[TaskId::MAIN.index()].done {
            End::Leaked(state.reports())
        } else {
            End::Deadlock(state.reports())
        }
    }

    /// Calls the strategy. `None` when it panics; the panic goes on where the run was asked for.
    #[inline]
    fn ask<R>(&self, question: impl FnOnce(&mut dyn Strategy) -> R) -> Option<R> {
        let strategy = self.strategy.get().expect("a strategy chooses while a program runs");
        self.choosing.set(true);
        // SAFETY: `run` keeps the strategy borrowed. It is used here alone, and cannot come here again from inside: the
        // state is borrowed.
        let answer = catch_unwind(AssertUnwindSafe(|| question(unsafe { &mut *strategy })));
        self.choosing.set(false);
        match answer {
            Ok(answer) => Some(answer),
            Err(payload) => {
                self.strategy_panic.set(Some(payload));
                None
            }
        }
    }

    /// A decision that is not about tasks.
    pub(super) fn pick(&self, state: &mut State, options: u32) -> u32 {
        assert!(options > 0, "a decision has at least one answer");
        if options == 1 || state.aborting {
            return 0;
        }
        let answer = self.ask(|strategy| {
            let answer = strategy.pick(options);
            assert!(answer < options, "the strategy picked {answer} out of {options}");
            answer
        });
        let Some(answer) = answer else {
            state.aborting = true;
            return 0;
        };
        if self.config.decisions {
            state.decisions.push(Decision::new(Question::Other, options, answer));
        }
        answer
    }

    /// Lets another fiber run until this one is resumed.
    fn suspend<'a>(&'a self, mut state: RefMut<'a, State>, unwinding: bool) -> RefMut<'a, State> {
        let task = state.current;
        state.tasks[task].unwinding = unwinding;
        state.suspended_unwinding += usize::from(unwinding);
        let link = state.tasks[task].link.expect("the running task has started");
        drop(state);
        // SAFETY: the link is that of the running task, whose fiber this is.
        runtime::enter(self, || unsafe { link.suspend() });
        let mut state = self.state.borrow_mut();
        state.suspended_unwinding -= usize::from(unwinding);
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
            if let (Some(timeout), false) = (timeout, state.is_open(task)) {
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
            state.aborting = true;
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
