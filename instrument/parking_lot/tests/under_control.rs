//! Deadlocks and lost wake-ups, each with a twin that ends.

mod shared;

use std::ops::ControlFlow;
use std::sync::Arc;

use interloper_parking_lot::{Condvar, Mutex, RwLock, RwLockUpgradableReadGuard};
use interloper_scheduler::strategies::Exhaustive;
use interloper_scheduler::{Config, End, Engine, Executions, Freedom, Freedoms};
use interloper_std::thread;

use shared::check;

#[test]
fn one_notification_for_two_waiters() {
    check(|one| {
        let pair = Arc::new((Mutex::new(false), Condvar::new()));
        let children = [(); 2].map(|()| {
            let pair = Arc::clone(&pair);
            thread::spawn(move || pair.1.wait_while(&mut pair.0.lock(), |ready| !*ready))
        });
        *pair.0.lock() = true;
        if one {
            pair.1.notify_one();
        } else {
            pair.1.notify_all();
        }
        children.into_iter().for_each(|child| child.join().unwrap());
    });
}

/// How main reads while it reads, or while it has an upgradable lock.
#[derive(Clone, Copy)]
enum Again {
    Not,
    Read,
    Recursive,
}

/// What a child does to a lock that main reads.
type Writes = fn(&RwLock<u32>);

fn writes(lock: &RwLock<u32>) {
    *lock.write() += 1;
}

fn upgrades(lock: &RwLock<u32>) {
    *RwLockUpgradableReadGuard::upgrade(lock.upgradable_read()) += 1;
}

/// Main reads while it reads, a child writes: how many executions deadlock, and how many do not.
fn reads_again(freedoms: Freedoms, writes: Writes, again: Again) -> (usize, usize) {
    let program = || {
        let lock = Arc::new(RwLock::new(0));
        let theirs = Arc::clone(&lock);
        let writer = thread::spawn(move || writes(&theirs));
        let first = lock.read();
        let second = match again {
            Again::Not => None,
            Again::Read => Some(lock.read()),
            Again::Recursive => Some(lock.read_recursive()),
        };
        assert!(second.as_ref().is_none_or(|second| **second == *first));
        drop((first, second));
        writer.join().unwrap();
    };
    ends(freedoms, program)
}

/// How many executions of a program deadlock, and how many do not.
fn ends(freedoms: Freedoms, program: impl Fn()) -> (usize, usize) {
    let (mut deadlocks, mut finished) = (0, 0);
    let mut engine = Engine::new(Config { freedoms, ..Config::default() });
    let mut search = Exhaustive::new();
    engine.explore(&mut search, Executions::AtMost(10_000), program, |_, execution| {
        match execution.end {
            End::Deadlock(_) => deadlocks += 1,
            End::Finished => finished += 1,
            end => return ControlFlow::Break(end),
        }
        ControlFlow::Continue(())
    });
    assert!(search.exploration().complete, "{:?}", search.exploration());
    (deadlocks, finished)
}

/// As parking_lot says: a thread that reads again may deadlock with a writer that waits; `read_recursive` does not. An upgrade
/// that waits is such a writer.
#[test]
fn a_reader_that_reads_again_waits_for_a_writer_that_waits_for_it() {
    let writers = Freedoms::NONE.with(Freedom::Writers, 1);
    for child in [writes as Writes, upgrades] {
        // The writer begins to wait (c), and main reads twice (a, b): c a b, a c b, a b c. It deadlocks with c between.
        let (deadlocks, finished) = reads_again(writers, child, Again::Read);
        assert_eq!(deadlocks, 1);
        assert!(finished > 0);
        assert_eq!(reads_again(Freedoms::NONE, child, Again::Read).0, 0);
        for freedoms in [Freedoms::NONE, writers] {
            for again in [Again::Not, Again::Recursive] {
                let (deadlocks, finished) = reads_again(freedoms, child, again);
                assert!(deadlocks == 0 && finished > 0, "{freedoms}");
            }
        }
    }
}

/// A writer that waits for an upgradable holder lets that read: parking_lot's own lock excludes readers only once the writer is sure to be
/// next. So no execution deadlocks, unless the holder reads before it upgrades, and does not give that back.
#[test]
fn an_upgradable_holder_reads_although_a_writer_waits_for_it() {
    let upgrades = |keeps: bool| {
        let program = move || {
            let lock = Arc::new(RwLock::new(0));
            let theirs = Arc::clone(&lock);
            let writer = thread::spawn(move || writes(&theirs));
            let upgradable = lock.upgradable_read();
            let read = lock.read();
            assert_eq!(*read, *upgradable);
            if keeps {
                *RwLockUpgradableReadGuard::upgrade(upgradable) += 1;
                drop(read);
            } else {
                drop(read);
                *RwLockUpgradableReadGuard::upgrade(upgradable) += 1;
            }
            writer.join().unwrap();
        };
        let (deadlocks, finished) = ends(Freedoms::NONE.with(Freedom::Writers, 1), program);
        (deadlocks > 0, finished > 0)
    };
    assert_eq!(upgrades(false), (false, true));
    assert_eq!(upgrades(true), (true, false));
}
