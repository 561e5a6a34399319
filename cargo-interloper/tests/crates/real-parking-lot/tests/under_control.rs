//! The deadlocks and lost wake-ups that the mirror of parking_lot is tested with, in the real one; and one that only the
//! real one shows.

#![cfg(interloper)]
#[macro_use]
extern crate interloper_std as std;
extern crate parking_lot as interloper_parking_lot;

#[path = "../../../../../instrument/parking_lot/tests/shared/mod.rs"]
mod mirrored;

use std::cell::Cell;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use interloper_scheduler::strategies::Exhaustive;
use interloper_scheduler::{Config, End, Engine, Executions, Freedom, Freedoms, Stopped};
use parking_lot::{Mutex, MutexGuard, RwLock, RwLockUpgradableReadGuard};

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

/// A reader waits behind a writer, or an upgrade, that waits for the same task's first read.
#[test]
fn a_task_that_reads_twice_blocks_itself() {
    type Writes = fn(&RwLock<u32>);
    let writes: Writes = |lock| *lock.write() += 1;
    let upgrades: Writes = |lock| *RwLockUpgradableReadGuard::upgrade(lock.upgradable_read()) += 1;
    let program = |writes: Writes, recursively: bool| {
        move || {
            let lock = Arc::new(RwLock::new(0));
            let writer = thread::spawn({
                let lock = Arc::clone(&lock);
                move || writes(&lock)
            });
            let first = lock.read();
            let second = if recursively { lock.read_recursive() } else { lock.read() };
            assert_eq!(*first, *second);
            drop((first, second));
            writer.join().unwrap();
        }
    };
    for child in [writes, upgrades] {
        assert!(deadlocks(program(child, false)));
        assert!(!deadlocks(program(child, true)));
    }
}

/// The least that two tasks count where memory is weak, each once. With a lock they hand it over by fair unlocks.
fn least_counted(locks: bool) -> u32 {
    let least = Cell::new(u32::MAX);
    let program = || {
        let shared = Arc::new((Mutex::new(()), AtomicU32::new(0)));
        let count = move |(lock, counter): &(Mutex<()>, AtomicU32)| {
            let guard = locks.then(|| lock.lock());
            counter.store(counter.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
            guard.map(MutexGuard::unlock_fair);
        };
        let theirs = Arc::clone(&shared);
        let child = thread::spawn(move || count(&theirs));
        count(&shared);
        child.join().unwrap();
        least.set(least.get().min(shared.1.load(Ordering::Relaxed)));
    };
    let freedoms = Freedoms::NONE.with(Freedom::Memory, 1);
    let mut engine = Engine::new(Config { freedoms, ..Config::default() });
    let explored = engine.explore(&mut Exhaustive::new(), Executions::AtMost(100_000), program, |_, execution| {
        if execution.end.is_finished() { ControlFlow::Continue(()) } else { ControlFlow::Break(execution) }
    });
    assert_eq!(explored.stopped, Stopped::Exhausted);
    least.get()
}

/// A fair unlock gives the lock to the task that it unparks: that alone orders the two critical sections.
#[test]
fn a_fair_unlock_orders_what_it_guards() {
    assert_eq!(least_counted(true), 2);
    assert_eq!(least_counted(false), 1);
}
