//! One execution of a program of several calls: its tasks are fibers of the engine, under one session.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, Location, resume_unwind};

use interloper_collections::session::{Instrumented, with_session};
use interloper_scheduler::decisions::{Question, Source};
use interloper_scheduler::{End, Engine, Lost, Pending, Strategy};
use interloper_std::panic::catch_unwind;
use interloper_std::runtime::{self, Count, NewTask, ObjectId, ObjectKind, Operation, TaskId};

use super::{Planned, Program};
use crate::composed::bench::Instance;
use crate::composed::check::count;
use crate::composed::run::{Rules, Run, Stage, Stray, Tasks};
use crate::composed::runner::{Runner, returned_value};
use crate::composed::world::StateId;

/// Runs the tasks of a program on the engine, under one session. Gives the state at the end.
#[allow(clippy::too_many_arguments)] // a run is all of these
pub(super) fn execute(
    runner: &mut Runner<'_>,
    subject: &dyn Instance,
    parts: &[&dyn Instrumented],
    engine: &mut Engine,
    source: &mut dyn Source,
    rules: &Rules,
    initial: StateId,
    program: &Program,
) -> StateId {
    let arguments = &runner.arguments;
    let tasks = EngineTasks { queue: Cell::new(None), calls: RefCell::new(Vec::new()), stray: Cell::new(None) };
    let stage = Stage::Several(&tasks);
    let run = Run::new(&mut runner.world, source, parts, rules, &mut runner.log, initial, stage);
    let description = runner.description;
    let name = |method: usize| if method == 0 { &description.name } else { &description.beside[method - 1] };
    let make_calls = |first: usize, calls: &[Planned]| {
        for (offset, planned) in calls.iter().enumerate() {
            tasks.begin(first + offset);
            let call = || subject.call(planned.method, arguments.get(planned.argument), &|| run.before_return());
            run.end_call(first + offset, &returned_value(catch_unwind(AssertUnwindSafe(call))));
        }
    };
    // Tasks borrow this, and nothing of the main task's stack.
    let make_calls = &make_calls;
    let mut choice = Choice { run: &run };
    let execution = with_session(&run, || {
        engine.run(&mut choice, || {
            tasks.queue.set(runtime::with(|current| current.runtime().register(ObjectKind::Collection)));
            let mut first = 0;
            let mut spawned = Vec::new();
            for calls in program {
                let name = calls.first().map(|call| name(call.method).clone());
                spawned.push(spawn(name, move || make_calls(first, calls)));
                first += calls.len();
            }
            spawned.into_iter().for_each(join);
        })
    });
    if let Some(place) = tasks.stray.get() {
        run.strayed(Stray::Thread(place));
    }
    match execution.end {
        End::StackOverflow { .. } => return run.lost(Lost::StackOverflow),
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
    run: &'a Run<'r>,
}

impl Strategy for Choice<'_, '_> {
    fn choose(&mut self, current: Option<TaskId>, pending: &[Pending]) -> usize {
        let bookkeeping = |pending: &Pending| pending.task == TaskId::MAIN || pending.operation.action.is_private();
        if let Some(index) = pending.iter().position(bookkeeping) {
            return index;
        }
        // The running task comes first: going on is the ordinary answer.
        let going_on = pending.iter().position(|pending| Some(pending.task) == current).unwrap_or(0);
        match self.run.decide(Question::Task, count(pending.len())) as usize {
            0 => going_on,
            answer if answer <= going_on => answer - 1,
            answer => answer,
        }
    }
}

/// The tasks of a run, as its session sees them.
struct EngineTasks {
    /// Where tasks wait for a lock of a collection.
    queue: Cell<Option<ObjectId>>,
    /// By task: which call of the program it is making. Others are threads of a method's own.
    calls: RefCell<Vec<Option<usize>>>,
    /// Where such a thread used a collection.
    stray: Cell<Option<&'static Location<'static>>>,
}

impl EngineTasks {
    fn begin(&self, call: usize) {
        let task = running();
        let mut calls = self.calls.borrow_mut();
        if calls.len() <= task.index() {
            calls.resize(task.index() + 1, None);
        }
        calls[task.index()] = Some(call);
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

    fn released(&self) {
        if let Some(queue) = self.queue.get() {
            runtime::with(|current| current.runtime().wake(queue, Count::All));
        }
    }
}
