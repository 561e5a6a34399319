//! The programs under this project's engine.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

use interloper_scheduler::decisions::Deviations;
use interloper_scheduler::runtime::{Action, Operation};
use interloper_scheduler::strategies::{Exhaustive, Guided};
use interloper_scheduler::{Config, End, Engine, Event, Execution, Executions, Explored, Stopped, Strategy, Unlock};

use crate::outcome::{Outcome, Searched};

mod platform {
    pub use interloper_std::{sync, thread};

    use interloper_std::runtime;

    /// A block that should be atomic.
    #[track_caller]
    pub fn atomic<R>(name: &'static str, body: impl FnOnce() -> R) -> R {
        struct End(runtime::Place);
        impl Drop for End {
            fn drop(&mut self) {
                runtime::with(|current| current.runtime().block_end(self.0));
            }
        }
        let place = std::panic::Location::caller();
        runtime::with(|current| current.runtime().block_begin(name, place));
        let _end = End(place);
        body()
    }
}

mod programs {
    include!("programs.rs");
}

pub use self::programs::PROGRAMS;

pub fn engine(unlock: Unlock) -> Engine {
    Engine::new(Config { unlock, ..Config::default() })
}

/// Runs a program once; gives what it came to.
pub fn run(engine: &mut Engine, strategy: &mut dyn Strategy, program: impl Fn() -> i32) -> (Execution, Outcome) {
    let value = Cell::new(0);
    let execution = engine.run(strategy, || value.set(program()));
    let outcome = outcome(&execution, value.get());
    (execution, outcome)
}

fn outcome(execution: &Execution, value: i32) -> Outcome {
    match execution.end {
        End::Finished => Outcome::Value(value),
        End::Deadlock(_) => Outcome::Deadlock,
        _ => Outcome::Other,
    }
}

/// How many executions it takes until one comes to something that `fails`.
pub fn first_failure(
    strategy: &mut dyn Strategy,
    most: u64,
    program: impl Fn() -> i32,
    fails: impl Fn(Outcome) -> bool,
) -> Option<u64> {
    let mut engine = engine(Unlock::Part);
    let value = Cell::new(0);
    let judge = |_: &Engine, execution: Execution| {
        if fails(outcome(&execution, value.get())) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let Explored { executions, stopped } =
        engine.explore(strategy, Executions::AtMost(most), || value.set(program()), judge);
    (stopped == Stopped::Broken(())).then_some(executions)
}

/// Goes through all Mazurkiewicz traces of a program. Says also with which execution the first deadlock came.
pub fn exhaust(program: impl Fn() -> i32) -> (Searched, Option<u64>) {
    let mut engine = engine(Unlock::Part);
    let mut search = Exhaustive::new();
    let mut outcomes = BTreeSet::new();
    let (mut made, mut to_deadlock) = (0, None);
    while search.begin() {
        let (execution, outcome) = run(&mut engine, &mut search, &program);
        made += 1;
        if outcome == Outcome::Deadlock {
            to_deadlock = to_deadlock.or(Some(made));
        }
        outcomes.insert(outcome);
        search.end(&execution, &engine.trace());
    }
    let exploration = search.exploration();
    assert!(exploration.complete, "{exploration:?}");
    (Searched { executions: made, outcomes, exhausted: true }, to_deadlock)
}

/// Counts the Mazurkiewicz traces of a program by making every schedule and telling apart those that differ in the order
/// of dependent steps. Knows nothing of the search. `None` when there are more than `most` schedules.
pub fn count_traces(most: usize, program: impl Fn() -> i32) -> Option<usize> {
    let mut engine = engine(Unlock::Part);
    let mut search = Deviations::new(0);
    let mut traces = BTreeSet::new();
    let mut made = 0;
    while search.next_run() {
        made += 1;
        if made > most {
            return None;
        }
        run(&mut engine, &mut Guided::new(&mut search), &program);
        search.end_run();
        traces.insert(normal_form(&engine.trace()));
    }
    Some(traces.len())
}

/// One schedule of those that differ in the order of independent steps only, as the tasks of its steps: takes, again
/// and again, the first task whose next step nothing that is left before it depends on.
fn normal_form(trace: &[Event]) -> Vec<u32> {
    let mut left: Vec<(u32, Vec<Operation>)> = Vec::new();
    for event in trace {
        match left.last_mut() {
            Some((_, step)) if event.continues => step.push(event.operation),
            _ => left.push((event.task.0, vec![event.operation])),
        }
    }
    let mut normal = Vec::new();
    while !left.is_empty() {
        let free = |&at: &usize| left[..at].iter().all(|before| !depend(before, &left[at]));
        let first =
            (0..left.len()).filter(free).min_by_key(|&at| left[at].0).expect("the first step depends on nothing");
        normal.push(left.remove(first).0);
    }
    normal
}

fn depend(a: &(u32, Vec<Operation>), b: &(u32, Vec<Operation>)) -> bool {
    // A task's first step comes after the one that spawned it, in every schedule.
    let spawns = |a: &Operation, b: &Operation| {
        a.object == b.object && matches!((a.action, b.action), (Action::Spawn, Action::Start))
    };
    a.0 == b.0 || a.1.iter().any(|a| b.1.iter().any(|b| a.depends(b) || spawns(a, b)))
}
