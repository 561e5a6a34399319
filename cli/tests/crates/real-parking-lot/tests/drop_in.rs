//! The programs of the mirror of parking_lot, over the real one above the replacement of its core.

#![cfg(interloper)]
#[macro_use]
extern crate interloper_std as std;

macro_rules! program {
    ($name:ident $body:block) => {
        #[test]
        fn $name() $body
    };
}

#[path = "../../../../../instrument/parking_lot/tests/drop_in/mod.rs"]
mod drop_in;

use std::ops::ControlFlow;

use interloper_scheduler::strategies::RandomWalk;
use interloper_scheduler::{Config, Engine, Executions, Stopped};

#[test]
fn every_program_comes_to_its_end_whatever_the_schedule() {
    let mut engine = Engine::new(Config::default());
    for (name, program) in drop_in::PROGRAMS.iter().copied() {
        let explored = engine.explore(&mut RandomWalk::new(1), Executions::AtMost(100), program, |_, execution| {
            if execution.end.is_finished() { ControlFlow::Continue(()) } else { ControlFlow::Break(execution) }
        });
        assert_eq!(explored.stopped, Stopped::Limit, "{name}");
    }
}
