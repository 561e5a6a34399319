//! What the fibers of an engine share; how an execution and a task begin and end.

use std::any::Any;
use std::cell::{Cell, OnceCell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;

use interloper_std::plain::{KnownCode, StackNotes};
use interloper_std::runtime::{self, Action, Addresses, Local, Operation, Place, TaskId};

use super::destructors;
use super::escape::Escape;
use super::fiber::Link;
use super::guarded::Guarded;
use super::panics::message;
use super::state::State;
use super::task::{Gate, Task};
use super::watchdog::Beat;
use super::weak::Kept;
use super::{Config, Detached};
use crate::deadline::Deadline;
use crate::execution::{End, PanicReport, SourcePlace};
use crate::strategy::Strategy;

/// What the fibers of an engine share. It does not move while they live.
pub(super) struct Core {
    pub(super) config: Config,
    pub(super) state: RefCell<State>,
    pub(super) addresses: Addresses,
    /// The running task, or the task that was chosen to run next: a copy of the state's field, for when the state is
    /// borrowed.
    pub(super) next: Cell<usize>,
    /// All tasks have ended, or the execution has ended early.
    pub(super) over: Cell<bool>,
    /// The task that was led out of its fiber, and why.
    pub(super) escaped: Cell<Option<(usize, Escape)>>,
    /// The panic for which std is about to abort the process.
    pub(super) doomed: Cell<Option<PanicReport>>,
    /// The thread is on the fiber of a task.
    pub(super) in_task: Cell<bool>,
    /// The kinds of the code that was met while plain memory was looked at.
    pub(super) known: OnceCell<KnownCode>,
    /// What tasks do on their own stacks while plain memory is looked at.
    pub(super) notes: Rc<StackNotes>,
    /// How far down the stack of the running task may reach: see [`Link::floor`].
    pub(super) floor: Cell<usize>,
    /// Where the stack of the running task begins: see [`Link::base`].
    pub(super) base: Cell<usize>,
    /// What the watchdog looks at.
    pub(super) beat: Option<Arc<Beat>>,
    pub(super) strategy: Cell<Option<*mut dyn Strategy>>,
    /// The strategy is being asked. Stays set when the strategy panics.
    pub(super) choosing: Cell<bool>,
    pub(super) wants_marks: Cell<bool>,
    /// In this execution reader-writer locks keep readers out while a writer waits.
    pub(super) prefers_writers: Cell<bool>,
    /// In this execution a hint may return although nothing has changed.
    pub(super) frees_hints: Cell<bool>,
    /// In this execution a task has gone on after such a hint.
    pub(super) bursting: Cell<bool>,
    /// In this execution waits can end early, so the order in which tasks look at the clock matters.
    pub(super) clock_matters: Cell<bool>,
    /// How often tasks have looked at the clock, if it ticks.
    pub(super) ticks: Cell<u64>,
    pub(super) wants_parts: Cell<bool>,
    /// The strategy wants to know the local states of tasks.
    pub(super) wants_local_states: Cell<bool>,
    /// It does, or the engine looks at them itself: see `looks.rs`.
    pub(super) tells_local_states: Cell<bool>,
    /// In this execution memory is weak.
    pub(super) weak: Cell<bool>,
    /// Whether the program has asked for the seed of a hasher.
    pub(super) hashed: Cell<bool>,
    /// The next executions tell what happens before what.
    pub(super) tells_order: Cell<bool>,
    /// What an execution keeps whose memory is weak.
    pub(super) kept: Guarded<Kept>,
    /// Where tasks were spawned that cannot be unwound: unwinding them would abort the process.
    pub(super) fragile: RefCell<Vec<Place>>,
    /// When an execution is stopped.
    pub(super) stop_at: Cell<Deadline>,
    main: Cell<Option<*mut dyn FnMut()>>,
    /// Panics that have begun in tasks that have not ended, the last few of each. Kept outside the state, which can be borrowed when a
    /// panic begins.
    begun: RefCell<Vec<PanicReport>>,
    /// The payload of a panic of the strategy.
    pub(super) strategy_panic: Cell<Option<Box<dyn Any + Send>>>,
}

/// How many panics are kept that have begun in one task.
const MOST_BEGUN: usize = 3;

/// So many steps after a look at the clock comes the next one, if an execution is stopped when its time is over.
pub(super) const BETWEEN_LOOKS: u64 = 1024;

pub(super) const MAIN: usize = TaskId::MAIN.index();

impl Core {
    pub(super) fn new(config: Config, beat: Option<Arc<Beat>>) -> Core {
        let kept = Kept::new(config.orderings.clone());
        let notes = Rc::clone(kept.plain.notes());
        Core {
            kept: Guarded::new(kept, Rc::clone(&notes)),
            config,
            beat,
            state: RefCell::new(State::new()),
            notes,
            addresses: Addresses::new(),
            next: Cell::new(MAIN),
            over: Cell::new(false),
            escaped: Cell::new(None),
            doomed: Cell::new(None),
            in_task: Cell::new(false),
            known: OnceCell::new(),
            floor: Cell::new(0),
            base: Cell::new(0),
            strategy: Cell::new(None),
            choosing: Cell::new(false),
            wants_marks: Cell::new(true),
            prefers_writers: Cell::new(false),
            frees_hints: Cell::new(false),
            bursting: Cell::new(false),
            clock_matters: Cell::new(false),
            ticks: Cell::new(0),
            wants_parts: Cell::new(false),
            wants_local_states: Cell::new(false),
            tells_local_states: Cell::new(false),
            weak: Cell::new(false),
            hashed: Cell::new(false),
            tells_order: Cell::new(false),
            fragile: RefCell::new(Vec::new()),
            main: Cell::new(None),
            begun: RefCell::new(Vec::new()),
            stop_at: Cell::new(Deadline::NEVER),
            strategy_panic: Cell::new(None),
        }
    }

    /// Begins an execution: the main task is chosen to start.
    pub(super) fn begin(&self, strategy: *mut dyn Strategy, main: *mut dyn FnMut(), location: Place) {
        self.strategy.set(Some(strategy));
        // SAFETY: `hub::run` keeps the strategy borrowed.
        let strategy = unsafe { &mut *strategy };
        self.wants_marks.set(strategy.wants_marks());
        self.wants_parts.set(strategy.wants_parts());
        self.wants_local_states.set(strategy.wants_local_states());
        self.tells_local_states.set(self.wants_local_states.get());
        self.main.set(Some(main));
        self.over.set(false);
        self.choosing.set(false);
        self.hashed.set(false);
        self.ticks.set(0);
        let mut state = self.state.borrow_mut();
        state.reset();
        state.looks.is_patient = self.config.may_work_on;
        self.begin_freedoms(&mut state, strategy);
        self.begin_memory(&state);
        state.add_task(None, location, None);
        state.look = if self.stop_at.get() == Deadline::NEVER { u64::MAX } else { BETWEEN_LOOKS };
        state.set_limit(MAIN, self.config.step_bound);
        let first = catch_unwind(AssertUnwindSafe(|| self.choose(&mut state, false)));
        if let Some(beat) = &self.beat {
            // The main task starts where the engine is called.
            beat.forget_place();
        }
        match first {
            Ok(Some(_)) => {}
            Ok(None) => self.abort(&mut state),
            Err(payload) => {
                self.strategy_panic.set(Some(payload));
                self.abort(&mut state);
            }
        }
    }

    /// Ends an execution; returns the payload of a panic of the strategy.
    pub(super) fn finish_run(&self) -> Option<Box<dyn Any + Send>> {
        self.strategy.set(None);
        self.main.set(None);
        self.begun.borrow_mut().clear();
        self.strategy_panic.take()
    }

    pub(super) fn abort(&self, state: &mut State) {
        if state.stuck.is_empty() {
            state.stuck = state.reports();
        }
        self.notes.close();
        state.aborting = true;
        self.over.set(true);
    }

    /// The thread is on the fiber of a task from now on, or is not.
    pub(super) fn enter_task(&self, enters: bool) {
        self.notes.close();
        self.in_task.set(enters);
    }

    /// The running task is on the stack of this link.
    #[inline(always)]
    pub(super) fn on_stack_of(&self, link: Link) {
        self.floor.set(link.floor);
        self.base.set(link.base);
        self.notes.run_on(&self.stack());
    }

    // The first and last frames of a task.

    pub(super) fn root(&self, task: usize, link: Link) {
        self.on_stack_of(link);
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
        self.drop_values(task, |state| match epilogue {
            false if task == MAIN => state.tasks[MAIN].locals.pop(),
            false => state.tasks[task].locals.pop_any(),
            // What the execution shares may use what lasts of the main task.
            true => state.shared.pop().or_else(|| state.tasks[MAIN].locals.pop_any()),
        });
        if let Err(payload) = result {
            self.record_panic(task, payload);
        }
        if task == MAIN
            && !epilogue
            && let Err(payload) = catch_unwind(AssertUnwindSafe(|| self.end_process()))
        {
            self.record_panic(task, payload);
        }
        // Only the strategy can unwind out of here.
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| self.finish(task, epilogue))) {
            self.record_panic(task, payload);
        }
    }

    /// The main task has returned. If there are tasks that no task has joined, the end of the process is a step: each of
    /// their next steps comes before it, or never.
    fn end_process(&self) {
        let state = self.state.borrow();
        let is_detached = |task: &Task| !(task.done && task.joined);
        let leaves = state.tasks[..state.live].iter().skip(1).any(is_detached);
        if self.config.detached == Detached::GivenUp && leaves && !state.aborting {
            let (object, location) = (state.tasks[MAIN].object, state.operation(MAIN).location);
            drop(state);
            drop(self.make(Operation { object, action: Action::End, location }, Gate::Open));
        }
    }

    fn drop_values(&self, task: usize, mut pop: impl FnMut(&mut State) -> Option<Local>) {
        loop {
            let Some(value) = pop(&mut self.state.borrow_mut()) else { break };
            if let Err(payload) = catch_unwind(AssertUnwindSafe(|| destructors::run(value))) {
                self.record_panic(task, payload);
            }
        }
    }

    fn finish(&self, task: usize, epilogue: bool) {
        let mut state = self.state.borrow_mut();
        if task == MAIN && state.tasks[task].panicked && state.end.is_none() {
            // The other tasks go on, as they do in a process until it has exited.
            let is_joined = |task: TaskId| state.tasks[task.index()].joined;
            let last_joined = |task: TaskId| state.tasks[task.index()].joined_panic;
            let report = PanicReport::of_main(&state.panics, is_joined, last_joined).clone();
            state.end = Some(End::Panicked(report));
        }
        if !epilogue {
            let (object, location) = (state.tasks[task].object, state.operation(task).location);
            self.record_part(&mut state, task, object, Action::Exit, location);
        }
        state.finish(task);
        self.synchronise(|kept| kept.end_task(TaskId(task as u32)));
        if state.unfinished == 0 {
            self.over.set(true);
        } else if task == MAIN && !state.aborting && self.config.detached == Detached::GivenUp {
            state.given_up = true;
            self.abort(&mut state);
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
        let begun = self.begun_in(id).pop();
        self.begun.borrow_mut().retain(|report| report.task != id);
        let mut state = self.state.borrow_mut();
        if state.given_up {
            // The process has ended: no task is left that could panic.
            return;
        }
        let name = state.tasks[task].name.clone();
        let report =
            begun.unwrap_or_else(|| PanicReport { task: id, name: None, message: message(&*payload), place: None });
        state.panics.push(PanicReport { name, ..report });
        state.tasks[task].panicked = true;
        state.tasks[task].payload = Some(payload);
    }

    /// The panic hook was called on this thread. Returns false when the program did not panic.
    pub(super) fn panic_begins(&self, message: String, place: Option<SourcePlace>) -> bool {
        if !self.in_task.get() || self.choosing.get() {
            return false;
        }
        let task = TaskId(self.next.get() as u32);
        let report = PanicReport { task, name: None, message, place };
        let mut begun = self.begun.borrow_mut();
        if begun.iter().filter(|other| other.task == task).count() == MOST_BEGUN {
            let oldest = begun.iter().position(|other| other.task == task).expect("there are some");
            begun.remove(oldest);
        }
        begun.push(report);
        true
    }

    /// The last panics that have begun in a task that has not ended, also those that were caught.
    pub(super) fn begun_in(&self, task: TaskId) -> Vec<PanicReport> {
        self.begun.borrow().iter().filter(|report| report.task == task).cloned().collect()
    }

    /// The panic with which the running task unwinds, if it does. A handler of signals may ask this.
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    pub(super) fn begun_now(&self) -> Option<PanicReport> {
        let task = TaskId(self.next.get() as u32);
        let begun = self.begun.try_borrow().ok()?;
        begun.iter().rfind(|report| report.task == task && std::thread::panicking()).cloned()
    }

    /// The panic hook was called for a panic that cannot unwind: std is about to abort the process. Returns false when
    /// the program did not panic.
    pub(super) fn panic_dooms(&self) -> bool {
        if !self.in_task.get() || self.choosing.get() {
            return false;
        }
        let task = TaskId(self.next.get() as u32);
        self.doomed.set(self.begun_in(task).pop());
        true
    }
}

/// Whether a running task unwinds.
pub(super) fn is_unwinding_now(state: &State, task: usize) -> bool {
    std::thread::panicking() && is_unwinding(state, task)
}

/// Whether a running task unwinds, given that something on this thread unwinds.
pub(super) fn is_unwinding(state: &State, task: usize) -> bool {
    state.suspended_unwinding == 0 || state.tasks[task].unwinding
}
