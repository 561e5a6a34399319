//! The programs of `drop_in`, over the mirrors, under control.

#[macro_use]
extern crate interloper_std as std;
extern crate interloper_channel as crossbeam_channel;

macro_rules! program {
    ($name:ident $body:block) => {
        fn $name() $body
    };
}

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
