//! The programs of the mirror's `drop_in` tests, under control.

#[macro_use]
extern crate interloper_std as std;

macro_rules! program {
    ($name:ident $body:block) => {
        fn $name() $body
    };
}

#[path = "../../instrument/tests/drop_in/mod.rs"]
mod drop_in;

use std::ops::ControlFlow;

use interloper_scheduler::strategies::RandomWalk;
use interloper_scheduler::{Config, Engine, Executions, Stopped, Unlock};

const EXECUTIONS: Executions = Executions::AtMost(100);

#[track_caller]
fn check(unlock: Unlock) {
    let mut engine = Engine::new(Config { unlock, ..Config::default() });
    for (name, program) in drop_in::PROGRAMS.iter().copied().flatten() {
        let explored = engine.explore(&mut RandomWalk::new(1), EXECUTIONS, program, |_, execution| {
            if execution.end.is_finished() { ControlFlow::Continue(()) } else { ControlFlow::Break(execution) }
        });
        assert_eq!(explored.stopped, Stopped::Limit, "{name}");
    }
}

#[test]
fn every_program_comes_to_its_end_whatever_the_schedule() {
    check(Unlock::Step);
}

#[test]
fn every_program_comes_to_its_end_when_unlocking_is_no_step() {
    check(Unlock::Part);
}
