//! How programs are run here.

use std::ops::ControlFlow;

use interloper_scheduler::strategies::{Exhaustive, RandomWalk};
use interloper_scheduler::{Config, End, Engine, Executions, Stopped};

/// Runs `program` in each of its executions, and gives what all of them came to: no execution may be cut short.
#[track_caller]
pub fn exhaust(program: impl FnMut()) -> Vec<End> {
    let mut ends = Vec::new();
    let mut engine = Engine::new(Config::default());
    let explored = engine.explore(&mut Exhaustive::new(), Executions::AtMost(100_000), program, |_, execution| {
        ends.push(execution.end);
        ControlFlow::<()>::Continue(())
    });
    assert_eq!(explored.stopped, Stopped::Exhausted);
    ends
}

/// Runs `program` a few times, with schedules drawn at random, and gives what came of it.
#[track_caller]
pub fn sample(executions: u64, program: impl FnMut()) -> Vec<End> {
    let mut ends = Vec::new();
    let mut engine = Engine::new(Config::default());
    let executions = Executions::AtMost(executions);
    engine.explore(&mut RandomWalk::new(7), executions, program, |_, execution| {
        ends.push(execution.end);
        ControlFlow::<()>::Continue(())
    });
    ends
}

/// How many of these are deadlocks; the others must be finished.
#[track_caller]
pub fn deadlocks(ends: &[End]) -> usize {
    let is_deadlock = |end: &&End| match end {
        End::Deadlock(_) => true,
        End::Finished => false,
        other => panic!("{other:?}"),
    };
    ends.iter().filter(is_deadlock).count()
}

/// Whether all of these are finished.
pub fn all_finished(ends: &[End]) -> bool {
    !ends.is_empty() && ends.iter().all(End::is_finished)
}
