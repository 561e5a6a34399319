//! Programs of a mirror under control: in all schedules, or in many. The tests of several crates include this file.

#![allow(dead_code, reason = "no crate uses all of it")]

use std::ops::ControlFlow;

use interloper_scheduler::strategies::{Exhaustive, RandomWalk};
use interloper_scheduler::{Config, End, Engine, Executions, Stopped};

/// Runs all executions of `program`; returns how many deadlock and how many finish.
#[track_caller]
pub fn exhaust(program: impl FnMut()) -> (usize, usize) {
    let (mut deadlocks, mut finished) = (0, 0);
    let mut engine = Engine::new(Config::default());
    let explored = engine.explore(&mut Exhaustive::new(), Executions::AtMost(100_000), program, |_, execution| {
        match execution.end {
            End::Deadlock(_) => deadlocks += 1,
            End::Finished => finished += 1,
            end => return ControlFlow::Break(end),
        }
        ControlFlow::Continue(())
    });
    assert_eq!(explored.stopped, Stopped::Exhausted);
    (deadlocks, finished)
}

/// `program(true)` deadlocks in some execution, `program(false)` in no execution.
#[track_caller]
pub fn check(program: impl Fn(bool)) {
    assert!(exhaust(|| program(true)).0 > 0, "the bad one never deadlocks");
    let (deadlocks, finished) = exhaust(|| program(false));
    assert!(deadlocks == 0 && finished > 0, "the good one deadlocks {deadlocks} times");
}

/// Each program ends in 100 random schedules.
pub fn every_program_ends(programs: &[(&str, fn())]) {
    let mut engine = Engine::new(Config::default());
    for (name, program) in programs.iter().copied() {
        let explored = engine.explore(&mut RandomWalk::new(1), Executions::AtMost(100), program, |_, execution| {
            if execution.end.is_finished() { ControlFlow::Continue(()) } else { ControlFlow::Break(execution) }
        });
        assert_eq!(explored.stopped, Stopped::Limit, "{name}");
    }
}
