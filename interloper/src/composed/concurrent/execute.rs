//! One execution of a program of several calls: its tasks are fibers of the engine, under one session.

use std::any::Any;
use std::cell::{Cell, OnceCell, RefCell};
use std::panic::{AssertUnwindSafe, Location, resume_unwind};

use interloper_collections::session::{Instrumented, with_session, without_session};
use interloper_commutativity::Value;
use interloper_scheduler::decisions::{Question, Source};
use interloper_scheduler::{End, Engine, Execution, Lost, Pending, Strategy};
use interloper_std::panic::catch_unwind;
use interloper_std::runtime::{self, Count, NewTask, ObjectId, ObjectKind, Operation, TaskId};

use super::sleep::Sleep;
use super::{Planned, Program};
use crate::composed::bench::Instance;
use crate::composed::check::count;
use crate::composed::run::{Rules, Run, Stage, Stray, Tasks};
use crate::composed::runner::{Runner, returned_value};
use crate::composed::world::StateId;

/// What the calls of a program are made on.
#[derive(Clone, Copy)]
pub(super) enum On<'a> {
    /// A subject that is in the initial state, and its collections.
    Subject(&'a dyn Instance, &'a [&'a dyn Instrumented]),
    /// Collections as they were published: the execution itself makes them.
    New,
}

/// What comes of a program.
pub(crate) struct Came {
    /// The state at the end.
    pub end: StateId,
    /// What the call gave, if there is only one, which has returned or panicked.
    pub outcome: Option<Result<Value, Box<dyn Any + Send>>>,
    /// A state that a new subject cannot be brought to: the collection, and what it cannot hold.
    pub unfit: Option<(usize, Value)>,
    /// Which of the subject's invariants hold at the end. Empty if the run has not come there.
    pub holds: Vec<bool>,
}

/// What kind of run it is.
pub(super) enum How<'a> {
    /// A single call, whose run is described as one of the method alone with the environment.
    Alone,
    /// Several calls. If it is a run of a search, what the search need not choose.
    Several(Option<&'a mut Sleep>),
}

/// Runs the tasks of a program on the engine, under one session.
#[allow(clippy::too_many_arguments)] // a run is all of these
pub(super) fn execute(
    runner: &mut Runner<'_>,
    on: On<'_>,
    engine: &mut Engine,
    source: &mut dyn Source,
    rules: &Rules,
    initial: StateId,
    program: &Program,
    how: How<'_>,
) -> Came {
    let (alone, mut sleep) = match how {
        How::Alone => (true, None),
        How::Several(sleep) => (false, sleep),
    };
    if let Some(sleep) = &mut sleep {
        sleep.begin(program, initial);
    }
    let arguments = &runner.arguments;
    let bench = runner.bench();
    let tasks = EngineTasks::default();
    let stage = if alone { Stage::One(&tasks) } else { Stage::Several(&tasks) };
    let wanted = runner.world.values(initial).to_vec();
    // Made by the main task where it is new. It outlives the tasks, also those that are unwound.
    let made = OnceCell::new();
    let made_parts = OnceCell::new();
    let parts = if let On::Subject(_, parts) = on { parts } else { &[] };
    let outcomes = RefCell::new(None);
    let unfit = Cell::new(None);
    let holds = RefCell::new(Vec::new());
    let run = Run::new(&mut runner.world, source, parts, rules, &mut runner.log, initial, stage);
    let description = runner.description;
    let make_calls = |subject: &dyn Instance, first: usize, calls: &[Planned]| {
        for (offset, planned) in calls.iter().enumerate() {
            tasks.begin(first + offset);
            let call = || subject.call(planned.method, arguments.get(planned.argument), &|| run.before_return());
            match catch_unwind(AssertUnwindSafe(call)) {
                outcome if alone => *outcomes.borrow_mut() = Some(outcome),
                outcome => run.end_call(first + offset, &returned_value(outcome)),
            }
        }
    };
    // Tasks borrow this, and nothing of the main task's stack.
    let make_calls = &make_calls;
    let mut choice = Choice { alone, run: &run, tasks: &tasks, sleep, events: 0 };
    let execution = with_session(&run, || {
        engine.run(&mut choice, || {
            let subject: &dyn Instance = match on {
                On::Subject(subject, _) => subject,
                On::New => without_session(|| {
                    let subject = &**made.get_or_init(|| bench.make());
                    let parts = made_parts.get_or_init(|| subject.collections());
                    unfit.set(restore(parts, &wanted));
                    run.set_parts(parts);
                    subject
                }),
            };
            tasks.queue.set(runtime::with(|current| current.runtime().register(ObjectKind::Collection)));
            let mut first = 0;
            let mut spawned = Vec::new();
            for calls in program {
                let name = calls.first().map(|call| description.method_name(call.method).to_owned());
                spawned.push(spawn(name, move || make_calls(subject, first, calls)));
                first += calls.len();
            }
            spawned.into_iter().for_each(join);
            run.finish();
            // What an invariant looks at is not a step of the program.
            holds.replace(without_session(|| {
                (0..bench.invariants()).map(|invariant| subject.holds(invariant)).collect()
            }));
        })
    });
    if let On::New = on {
        run.set_parts(&[]);
    }
    if let Some(place) = tasks.stray.get() {
        run.strayed(Stray::Thread(place));
    }
    if let Some(place) = tasks.outside.get() {
        run.stepped_outside(place);
    }
    match tasks.given_up.get() {
        None => {}
        Some(GivenUp::Waits) => run.not_enabled(),
        Some(GivenUp::Needless) => run.needless(),
    }
    choice.end(matches!(execution.end, End::Finished));
    let end = end_of(run, execution);
    drop(made_parts);
    if runner.log.lost || runner.log.abort.is_some() {
        // A call was unwound in the middle: nobody touches what it left, not even to drop it.
        std::mem::forget(made.into_inner());
    }
    Came { end, outcome: outcomes.into_inner(), unfit: unfit.into_inner(), holds: holds.into_inner() }
}

/// Takes note of how an execution ended. Gives the state at its end.
fn end_of(run: Run<'_>, execution: Execution) -> StateId {
    match execution.end {
        End::StackOverflow { .. } => return run.lost(Lost::StackOverflow),
        End::Crashed { crash, .. } => return run.lost(Lost::Crash(crash)),
        End::Aborted(report) => return run.lost(Lost::Panic(report)),
        End::Exited { exit, .. } => return run.exited(exit),
        End::Stuck(stuck) => return run.stuck(stuck),
        _ if run.has_ended() => {}
        End::Finished => {}
        // A thread that a method spawned and that no thread joined: its end is not the end of a call.
        End::Panicked(report) if report.task != TaskId::MAIN => {}
        End::Deadlock(stuck) | End::Leaked(stuck) => {
            run.deadlocked(stuck.iter().find(|task| task.task != TaskId::MAIN).map(|task| task.wants.location));
        }
        End::StepBound(_) | End::Livelock(_) => run.out_of_steps(),
        other => run.failed(format!("the engine ended a run of concurrent calls with {other:?}")),
    }
    run.end()
}

/// Brings new collections into a state. Gives what one of them cannot hold.
fn restore(parts: &[&dyn Instrumented], wanted: &[Value]) -> Option<(usize, Value)> {
    let mut restored = parts.iter().zip(wanted).map(|(part, state)| part.restore(state)).enumerate();
    restored.find_map(|(index, restored)| restored.err().map(|value| (index, value)))
}

/// Starts a task of the running execution that may borrow what outlives the execution.
fn spawn<'a>(name: Option<String>, body: impl FnOnce() + 'a) -> TaskId {
    let body: Box<dyn FnOnce() + 'a> = Box::new(body);
    // SAFETY: only the lifetime changes. The engine ends or drops every task before `Engine::run` returns, and all that
    // the body borrows outlives that call.
    let body = unsafe { std::mem::transmute::<Box<dyn FnOnce() + 'a>, Box<dyn FnOnce() + 'static>>(body) };
    let task = NewTask { name, location: Location::caller() };
    runtime::with(|current| current.runtime().spawn(task, body)).expect("inside of an execution")
}

fn join(task: TaskId) {
    let ended = runtime::with(|current| current.runtime().join(task, Location::caller()));
    if let Some(Err(payload)) = ended {
        resume_unwind(payload);
    }
}

/// Which task goes on, drawn from the run's source. Starting and joining tasks is not a choice.
struct Choice<'a, 'r> {
    /// Nobody else runs beside a single call.
    alone: bool,
    run: &'a Run<'r>,
    tasks: &'a EngineTasks,
    /// What the search need not choose.
    sleep: Option<&'a mut Sleep>,
    /// How many events there were at the last choice.
    events: usize,
}

impl Choice<'_, '_> {
    /// The segment under way is over: there is a choice, or the run has ended.
    fn close(&mut self) {
        let Some(sleep) = &mut self.sleep else { return };
        let (events, edges) = self.run.edges(self.events);
        self.events = events;
        sleep.close(edges);
    }

    /// The run has ended, of itself or not.
    fn end(&mut self, has_finished: bool) {
        if let Some(GivenUp::Needless) = self.tasks.given_up.get() {
            return;
        }
        self.close();
        if let Some(sleep) = &mut self.sleep
            && (!has_finished || self.run.is_cut())
        {
            sleep.mix();
        }
    }

    /// Draws who goes on; `None` if the run need not go on.
    fn draw(&mut self, going_on: usize, pending: &[Pending]) -> Option<usize> {
        self.close();
        let index = |answer: u32| match answer as usize {
            0 => going_on,
            answer if answer <= going_on => answer - 1,
            answer => answer,
        };
        let options = count(pending.len());
        let Some(sleep) = &mut self.sleep else { return self.run.decide(Question::Task, options).map(index) };
        let needless = sleep.needless((0..options).map(|answer| pending[index(answer)].task));
        let Some(answer) = self.run.decide_among(Question::Task, options, needless) else {
            sleep.give_up();
            return None;
        };
        sleep.choose(answer, pending[index(answer)].task);
        Some(index(answer))
    }
}

impl Choice<'_, '_> {
    fn chosen(&mut self, current: Option<TaskId>, pending: &[Pending]) -> usize {
        let bookkeeping = |pending: &Pending| pending.task == TaskId::MAIN || pending.operation.action.is_private();
        if let Some(index) = pending.iter().position(bookkeeping) {
            return index;
        }
        // The running task comes first: going on is the ordinary answer.
        let going_on = pending.iter().position(|pending| Some(pending.task) == current);
        if self.tasks.looks_at(current, pending) || self.alone {
            if let Some(sleep) = &mut self.sleep
                && going_on.is_none()
            {
                sleep.mix();
            }
            return going_on.unwrap_or(0);
        }
        let going_on = going_on.unwrap_or(0);
        if self.run.is_busy() {
            // A task that reads the state had to let others go on. So the run does not count.
            self.tasks.given_up.set(Some(GivenUp::Waits));
            return going_on;
        }
        self.draw(going_on, pending).unwrap_or_else(|| {
            self.tasks.given_up.set(Some(GivenUp::Needless));
            going_on
        })
    }
}

impl Strategy for Choice<'_, '_> {
    fn choose(&mut self, current: Option<TaskId>, pending: &[Pending]) -> usize {
        let chosen = self.chosen(current, pending);
        if let Some(sleep) = &mut self.sleep
            && self.tasks.given_up.get().is_none()
        {
            let Pending { task, operation, .. } = &pending[chosen];
            let is_effect =
                *task != TaskId::MAIN && Some(operation.object) != self.tasks.queue.get() && !self.run.is_busy();
            sleep.note(operation, is_effect);
        }
        chosen
    }
}

/// Why a run is not made to its end.
#[derive(Clone, Copy)]
enum GivenUp {
    /// An operation of the environment had to wait, so that others ran: it was not enabled.
    Waits,
    /// Another run of the search stands for it.
    Needless,
}

/// The tasks of a run, as its session sees them.
#[derive(Default)]
struct EngineTasks {
    /// Where tasks wait for a lock of a collection.
    queue: Cell<Option<ObjectId>>,
    /// By task: which call of the program it is making. Others are threads of a method's own.
    calls: RefCell<Vec<Option<usize>>>,
    /// Where such a thread used a collection.
    stray: Cell<Option<&'static Location<'static>>>,
    /// By task: in how many regions it is.
    regions: RefCell<Vec<u32>>,
    /// How many steps there were.
    steps: Cell<u64>,
    /// The task in which the environment acts.
    injects: Cell<Option<TaskId>>,
    /// Why the run ends at the next call of a collection.
    given_up: Cell<Option<GivenUp>>,
    /// Where a task first made a step outside a region.
    outside: Cell<Option<&'static Location<'static>>>,
}

impl EngineTasks {
    /// Takes note of a step that one of these tasks is about to make. Whether there is no choice: the current task goes on, or,
    /// where it waits, any other.
    fn looks_at(&self, current: Option<TaskId>, pending: &[Pending]) -> bool {
        self.steps.set(self.steps.get() + 1);
        if let Some(injects) = self.injects.get()
            && pending.iter().all(|pending| pending.task != injects)
        {
            self.given_up.set(Some(GivenUp::Waits));
        }
        if self.given_up.get().is_some() {
            // The run ends when one of the others comes to its next call.
            return true;
        }
        let Some(current) = current else { return false };
        let in_region = self.regions.borrow().get(current.index()).is_some_and(|regions| *regions > 0);
        if !in_region
            && let Some(next) = pending.iter().find(|pending| pending.task == current)
            && Some(next.operation.object) != self.queue.get()
        {
            self.outside.set(self.outside.get().or(Some(next.operation.location)));
        }
        in_region
    }

    fn begin(&self, call: usize) {
        let task = running();
        let mut calls = self.calls.borrow_mut();
        if calls.len() <= task.index() {
            calls.resize(task.index() + 1, None);
        }
        calls[task.index()] = Some(call);
    }

    /// Changes the number of regions that the running task is in. Gives the number before and after.
    fn change_regions(&self, change: impl FnOnce(u32) -> u32) -> (u32, u32) {
        let task = running().index();
        let mut regions = self.regions.borrow_mut();
        if regions.len() <= task {
            regions.resize(task + 1, 0);
        }
        let before = regions[task];
        regions[task] = change(before);
        (before, regions[task])
    }

    fn call(&self) -> Option<usize> {
        self.calls.borrow().get(running().index()).copied().flatten()
    }

    fn operation(&self, location: &'static Location<'static>) -> Operation {
        let object = self.queue.get().expect("the main task made the queue first");
        Operation { object, action: runtime::Call::WHOLE.invoked(), location }
    }
}

fn running() -> TaskId {
    runtime::with(|current| current.runtime().task()).expect("inside of an execution")
}

impl Tasks for EngineTasks {
    fn current(&self) -> usize {
        self.call().unwrap_or(0)
    }

    fn step(&self, location: &'static Location<'static>) {
        if self.call().is_none() {
            self.stray.set(self.stray.get().or(Some(location)));
            self.end();
        }
        if self.is_given_up() {
            self.end();
        }
        runtime::with(|current| current.runtime().step(self.operation(location)));
    }

    fn wait(&self, location: &'static Location<'static>) {
        let operation = self.operation(location);
        runtime::with(|current| current.runtime().block(operation.object, None, operation));
    }

    fn end(&self) {
        runtime::with(|current| current.runtime().fail("the run ends here".to_owned()));
        // The task unwinds already and cannot go on. After enough attempts, the engine abandons it with its stack.
        runtime::with(|current| current.runtime().yield_now(Location::caller()));
    }

    fn unwinds(&self) -> bool {
        runtime::with(|current| current.runtime().panicking()).unwrap_or(false)
    }

    fn enter(&self) -> u32 {
        self.change_regions(|regions| regions + 1).0
    }

    fn leave(&self) -> u32 {
        self.change_regions(|regions| regions.saturating_sub(1)).1
    }

    fn steps(&self) -> u64 {
        self.steps.get()
    }

    fn inject(&self, begins: bool) {
        self.injects.set(begins.then(running));
    }

    fn is_given_up(&self) -> bool {
        self.given_up.get().is_some()
    }

    fn released(&self) {
        if let Some(queue) = self.queue.get() {
            runtime::with(|current| current.runtime().wake(queue, Count::All));
        }
    }
}
