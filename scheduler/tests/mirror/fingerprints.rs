//! The traces that a random walk shows are those that the exhaustive search explores.
//!
//! The search explores each trace once. Each of its traces must have a fingerprint of its own, and what a random walk shows
//! must be among them: after enough executions, all of them.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::time::Duration;

use interloper_scheduler::strategies::{Cut, Exhaustive, RandomWalk};
use interloper_scheduler::{Config, Detached, Engine, Executions, Fingerprint, Fingerprints, Strategy, Unlock};
use interloper_std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use interloper_std::sync::{Arc, Barrier, Condvar, Mutex, RwLock, mpsc};
use interloper_std::thread;

/// The traces that a strategy shows, until they are as many as given.
fn traces(
    config: Config,
    strategy: &mut dyn Strategy,
    (executions, enough): (u64, usize),
    program: &dyn Fn(),
) -> BTreeSet<Fingerprint> {
    let (mut fingerprints, mut seen) = (Fingerprints::default(), BTreeSet::new());
    Engine::new(config).explore(strategy, Executions::AtMost(executions), program, |engine, _| {
        seen.insert(engine.fingerprint(&mut fingerprints));
        if seen.len() > enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    seen
}

/// Checks that a random walk shows the traces of the program, all of them, and no others. Gives their number, when giving
/// back a lock is part of the step before.
#[track_caller]
fn check(program: &dyn Fn()) -> usize {
    let [_, parts] = [Unlock::Step, Unlock::Part].map(|unlock| {
        let config = || Config { unlock, detached: Detached::MustEnd, ..Config::default() };
        let mut search = Exhaustive::new();
        let all = traces(config(), &mut search, (20_000, usize::MAX), program);
        let exploration = search.exploration();
        // A hint that may return at once leaves other traces; the walk does not make use of that either.
        assert!(exploration.complete || exploration.cut == Some(Cut::Hints), "{exploration:?}");
        assert_eq!(all.len() as u64, exploration.traces, "{unlock:?}: {exploration:?}");
        let few = traces(config(), &mut RandomWalk::new(5), (4_000, usize::MAX), program);
        assert_eq!(few.difference(&all).count(), 0, "{unlock:?}: a random walk shows other traces");
        let walked = traces(config(), &mut RandomWalk::new(6), (400_000, all.len() - 1), program);
        assert_eq!(walked, all, "{unlock:?}");
        all.len()
    });
    parts
}

/// A task whose end main waits for, or that has ended before.
#[test]
fn joins() {
    assert_eq!(check(&|| drop(thread::spawn(|| {}).join())), 1);
    // Two writes in two orders, whoever is joined first, and whether or not main must wait.
    for first in [0, 1] {
        let program = move || {
            let value = Arc::new(AtomicU32::new(0));
            let write = |number: u32| {
                let value = value.clone();
                Some(thread::spawn(move || value.store(number, SeqCst)))
            };
            let mut tasks = [write(1), write(2)];
            for number in [first, 1 - first] {
                tasks[number].take().unwrap().join().unwrap();
            }
        };
        assert_eq!(check(&program), 2);
    }
    // The scope joins; a read and a write of main come before, between and after those of the task: 1 + 1 + 1.
    let scope = || {
        let value = AtomicU32::new(0);
        thread::scope(|scope| {
            scope.spawn(|| value.fetch_add(1, SeqCst));
            value.load(SeqCst);
            value.store(7, SeqCst);
        });
    };
    assert_eq!(check(&scope), 3);
}

/// A token that is there before the task parks, or comes later.
#[test]
fn parks() {
    let once = || {
        let task = thread::spawn(thread::park);
        task.thread().unpark();
        task.join().unwrap();
    };
    assert_eq!(check(&once), 1);
    // Two tasks give a token, in two orders. The park comes after the first one or after both.
    let twice = || {
        let task = thread::spawn(thread::park);
        let handle = task.thread().clone();
        let other = thread::spawn(move || handle.unpark());
        task.thread().unpark();
        other.join().unwrap();
        task.join().unwrap();
    };
    assert_eq!(check(&twice), 4);
    // With the second token the task reads 2. With the first one it reads 1 and ends before the second one is given, or
    // reads 2 and ends before that or after.
    let writes = || {
        let value = Arc::new(AtomicU32::new(0));
        let theirs = value.clone();
        let task = thread::spawn(move || {
            thread::park();
            theirs.load(SeqCst)
        });
        value.store(1, SeqCst);
        task.thread().unpark();
        value.store(2, SeqCst);
        task.thread().unpark();
        task.join().unwrap();
    };
    assert_eq!(check(&writes), 4);
}

#[test]
fn locks() {
    let program = || {
        let lock = Mutex::new(0);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| *lock.lock().unwrap() += 1);
            }
            *lock.lock().unwrap() += 1;
        });
    };
    assert_eq!(check(&program), 6);
    // The attempt comes before or after the other thread has the lock, which gives it back in the same step.
    let attempts = || {
        let lock = Mutex::new(0);
        thread::scope(|scope| {
            scope.spawn(|| *lock.lock().unwrap() += 1);
            drop(lock.try_lock());
        });
    };
    assert_eq!(check(&attempts), 2);
    let readers = || {
        let lock = RwLock::new(0);
        thread::scope(|scope| {
            scope.spawn(|| *lock.read().unwrap());
            scope.spawn(|| *lock.write().unwrap() += 1);
            drop(lock.read());
        });
    };
    // Each of two readers comes before or after the writer.
    assert_eq!(check(&readers), 4);
}

/// A waiter that is notified under the lock and after it, by one or by two, with others in the way.
#[test]
fn condvars() {
    for (under_lock, others) in [(false, 0), (true, 0), (false, 1), (true, 1)] {
        let program = move || {
            let (flag, condition, unrelated) = (Mutex::new(false), Condvar::new(), AtomicU32::new(0));
            thread::scope(|scope| {
                for _ in 0..=others {
                    scope.spawn(|| {
                        let mut guard = flag.lock().unwrap();
                        *guard = true;
                        if under_lock {
                            condition.notify_one();
                            drop(guard);
                        } else {
                            drop(guard);
                            unrelated.store(1, SeqCst);
                            condition.notify_one();
                        }
                    });
                }
                drop(condition.wait_while(flag.lock().unwrap(), |flag| !*flag).unwrap());
                unrelated.load(SeqCst);
            });
        };
        check(&program);
    }
}

#[test]
fn channels_and_barriers() {
    for capacity in [1, 2] {
        let program = move || {
            let (sender, receiver) = mpsc::sync_channel(capacity);
            let task = thread::spawn(move || receiver.iter().count());
            let other = sender.clone();
            let sending = thread::spawn(move || other.send(1).unwrap());
            sender.send(2).unwrap();
            drop(sender);
            sending.join().unwrap();
            task.join().unwrap();
        };
        check(&program);
    }
    let unbounded = || {
        let (sender, receiver) = mpsc::channel();
        let task = thread::spawn(move || sender.send(1).unwrap());
        assert_eq!(receiver.recv(), Ok(1));
        task.join().unwrap();
    };
    check(&unbounded);
    let barrier = || {
        let (barrier, value) = (Barrier::new(2), AtomicU32::new(0));
        thread::scope(|scope| {
            scope.spawn(|| {
                barrier.wait();
                value.store(1, SeqCst);
            });
            barrier.wait();
            value.load(SeqCst);
        });
    };
    check(&barrier);
}

/// A wait that times out comes after all that happens while another task can go on.
#[test]
fn times() {
    let sleeps = || {
        let value = AtomicU32::new(0);
        thread::scope(|scope| {
            scope.spawn(|| value.store(1, SeqCst));
            thread::sleep(Duration::from_millis(1));
            value.load(SeqCst);
        });
    };
    assert_eq!(check(&sleeps), 1);
    let two = || {
        let value = AtomicU32::new(0);
        thread::scope(|scope| {
            scope.spawn(|| {
                value.store(1, SeqCst);
                thread::sleep(Duration::from_millis(1));
                value.store(2, SeqCst);
            });
            thread::sleep(Duration::from_millis(1));
            value.store(3, SeqCst);
        });
    };
    // The first write comes before both sleeps are over; the others come in two orders.
    assert_eq!(check(&two), 2);
}

/// A task that waits for a change is let go on by the first one, whichever that is, or because nobody else can go on.
#[test]
fn yields() {
    let once = || {
        let (flag, unrelated) = (AtomicU32::new(0), AtomicU32::new(0));
        thread::scope(|scope| {
            scope.spawn(|| {
                unrelated.store(1, SeqCst);
                flag.store(1, SeqCst);
            });
            thread::yield_now();
            flag.load(SeqCst);
        });
    };
    // The first write lets main go on, which reads before or after the second one.
    assert_eq!(check(&once), 2);
    let nobody = || {
        let value = AtomicU32::new(0);
        thread::yield_now();
        let task = thread::spawn(move || value.store(1, SeqCst));
        task.join().unwrap();
    };
    assert_eq!(check(&nobody), 1);
}
