//! The deadlocks and lost wake-ups that the mirror of parking_lot is tested with, in the real one; and one that only the
//! real one shows.

#![cfg(interloper)]
#[macro_use]
extern crate interloper_std as std;
extern crate parking_lot as interloper_parking_lot;

#[path = "../../../../../instrument/parking_lot/tests/shared/mod.rs"]
mod mirrored;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::thread;

use interloper_scheduler::strategies::Exhaustive;
use interloper_scheduler::{Config, End, Engine, Executions, Stopped};
use parking_lot::RwLock;

/// Whether any execution deadlocks, of all that there are.
fn deadlocks(program: impl FnMut()) -> bool {
    let mut engine = Engine::new(Config::default());
    let explored = engine.explore(&mut Exhaustive::new(), Executions::AtMost(100_000), program, |_, execution| {
        match execution.end {
            End::Deadlock(_) => ControlFlow::Break(()),
            End::Finished => ControlFlow::Continue(()),
            end => panic!("{end:?}"),
        }
    });
    assert_ne!(explored.stopped, Stopped::Limit);
    explored.stopped == Stopped::Broken(())
}

/// A reader waits behind a writer that waits for the same task's first read.
#[test]
fn a_task_that_reads_twice_blocks_itself() {
    let program = |recursively: bool| {
        move || {
            let lock = Arc::new(RwLock::new(0));
            let writer = thread::spawn({
                let lock = Arc::clone(&lock);
                move || *lock.write() += 1
            });
            let first = lock.read();
            let second = if recursively { lock.read_recursive() } else { lock.read() };
            assert_eq!(*first, *second);
            drop((first, second));
            writer.join().unwrap();
        }
    };
    assert!(deadlocks(program(false)));
    assert!(!deadlocks(program(true)));
}
