//! Deadlocks and lost wake-ups, each with a twin that ends.

mod shared;

use std::ops::ControlFlow;
use std::sync::Arc;

use interloper_parking_lot::{Condvar, Mutex, RwLock};
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

/// Main reads while it reads, a child writes: how many executions deadlock, and how many do not.
fn reads_again(freedoms: Freedoms, recursive: bool) -> (usize, usize) {
    let program = || {
        let lock = Arc::new(RwLock::new(0));
        let theirs = Arc::clone(&lock);
        let writer = thread::spawn(move || *theirs.write() += 1);
        let first = lock.read();
        let second = if recursive { lock.read_recursive() } else { lock.read() };
        assert_eq!(*first, *second);
        drop((first, second));
        writer.join().unwrap();
    };
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

/// As parking_lot says: a thread that reads again may deadlock with a writer that waits; `read_recursive` does not.
#[test]
fn a_reader_that_reads_again_waits_for_a_writer_that_waits_for_it() {
    let writers = Freedoms::NONE.with(Freedom::Writers, 1);
    // The writer begins to wait (c), and main reads twice (a, b): c a b, a c b, a b c. It deadlocks with c between.
    let (deadlocks, finished) = reads_again(writers, false);
    assert_eq!(deadlocks, 1);
    assert!(finished > 0);
    assert_eq!(reads_again(Freedoms::NONE, false).0, 0);
    for freedoms in [Freedoms::NONE, writers] {
        let (deadlocks, finished) = reads_again(freedoms, true);
        assert!(deadlocks == 0 && finished > 0, "{freedoms}");
    }
}
