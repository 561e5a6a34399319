//! Deadlocks and lost wake-ups, each with a twin that ends: small enough for the real parking_lot, too.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use interloper_parking_lot::{
    Condvar, Mutex, MutexGuard, Once, ReentrantMutex, RwLock, RwLockUpgradableReadGuard, RwLockWriteGuard,
};
use interloper_scheduler::strategies::Exhaustive;
use interloper_scheduler::{Config, Engine, Executions, Stopped};
use interloper_std::thread;

use schedules::exhaust;

pub use schedules::check;

#[path = "../../../tests/schedules/mod.rs"]
mod schedules;

#[test]
fn two_mutexes_in_opposite_orders() {
    check(|opposite| {
        let locks = Arc::new([Mutex::new(0), Mutex::new(0)]);
        let both = |first: usize, second: usize| {
            let locks = Arc::clone(&locks);
            move || {
                let _first = locks[first].lock();
                *locks[second].lock() += 1;
            }
        };
        let child = thread::spawn(if opposite { both(1, 0) } else { both(0, 1) });
        both(0, 1)();
        child.join().unwrap();
        assert_eq!(*locks[1].lock() + *locks[0].lock(), 2);
    });
}

#[test]
fn a_wake_up_is_lost_when_nobody_looks_at_the_condition() {
    check(|looks_not| {
        let pair = Arc::new((Mutex::new(false), Condvar::new()));
        let child = thread::spawn({
            let pair = Arc::clone(&pair);
            move || {
                let mut ready = pair.0.lock();
                while looks_not || !*ready {
                    pair.1.wait(&mut ready);
                    if *ready {
                        break;
                    }
                }
            }
        });
        *pair.0.lock() = true;
        pair.1.notify_one();
        child.join().unwrap();
    });
}

/// Two readers that want to write wait for each other; of upgradable readers there is one at a time.
#[test]
fn two_readers_that_want_to_write() {
    check(|plain| {
        let lock = Arc::new(RwLock::new(0));
        let add = |lock: Arc<RwLock<i32>>| {
            move || {
                if plain {
                    let seen = lock.read();
                    *lock.write() = *seen + 1;
                } else {
                    let seen = lock.upgradable_read();
                    let next = *seen + 1;
                    *RwLockUpgradableReadGuard::upgrade(seen) = next;
                }
            }
        };
        let child = thread::spawn(add(Arc::clone(&lock)));
        add(Arc::clone(&lock))();
        child.join().unwrap();
        assert_eq!(*lock.read(), 2);
    });
}

#[test]
fn a_mutex_that_is_locked_again_needs_to_be_reentrant() {
    assert_eq!(
        exhaust(|| {
            let mutex = Mutex::new(());
            let _outer = mutex.lock();
            drop(mutex.lock());
        }),
        (1, 0)
    );
    assert_eq!(
        exhaust(|| {
            let mutex = ReentrantMutex::new(());
            let _outer = mutex.lock();
            drop(mutex.lock());
        }),
        (0, 1)
    );
}

#[test]
fn an_initialiser_that_needs_itself() {
    let nested = |inner: &Once, outer: &Once| outer.call_once(|| inner.call_once(|| ()));
    let once = || Once::new();
    let bad = exhaust(|| {
        let once = once();
        nested(&once, &once);
    });
    assert_eq!(bad, (1, 0));
    assert_eq!(exhaust(|| nested(&once(), &once())), (0, 1));
}

/// A wait with a time-out, or an attempt with one, is no deadlock.
#[test]
fn a_time_out_ends_the_wait() {
    let long = Duration::from_secs(1_000_000);
    let program = || {
        let (mutex, condition, lock) = (Mutex::new(()), Condvar::new(), RwLock::new(()));
        let mut guard = mutex.lock();
        assert!(condition.wait_for(&mut guard, long).timed_out());
        assert!(mutex.try_lock_for(long).is_none());
        let reader = lock.read();
        assert!(lock.try_write_for(long).is_none());
        let upgradable = lock.upgradable_read();
        assert!(RwLockUpgradableReadGuard::try_upgrade_for(upgradable, long).is_err());
        drop(reader);
        drop(lock.try_write_for(long).unwrap());
    };
    assert_eq!(exhaust(program), (0, 1));
}

/// A task that waits with a time-out gets the lock when it is released or downgraded, and never a moment too late.
#[test]
fn a_lock_that_is_given_back_in_time_is_got() {
    let program = |downgrades: bool| {
        move || {
            let lock = Arc::new(RwLock::new(0));
            let writer = lock.write();
            let child = thread::spawn({
                let lock = Arc::clone(&lock);
                move || lock.try_read_for(Duration::from_secs(1)).is_some()
            });
            let reader = if downgrades {
                Some(RwLockWriteGuard::downgrade(writer))
            } else {
                drop(writer);
                None
            };
            assert!(child.join().unwrap());
            drop(reader);
        }
    };
    for downgrades in [false, true] {
        let (deadlocks, finished) = exhaust(program(downgrades));
        assert!(deadlocks == 0 && finished > 0);
    }
}

#[test]
fn a_guard_that_is_unlocked_meanwhile_lets_the_others_in() {
    let seen = RefCell::new(BTreeSet::new());
    let (deadlocks, _) = exhaust(|| {
        let mutex = Arc::new(Mutex::new(0));
        let child = thread::spawn({
            let mutex = Arc::clone(&mutex);
            move || *mutex.lock() += 1
        });
        let mut guard = mutex.lock();
        let before = *guard;
        MutexGuard::unlocked(&mut guard, || ());
        seen.borrow_mut().insert((before, *guard));
        drop(guard);
        child.join().unwrap();
    });
    assert_eq!(deadlocks, 0);
    assert_eq!(seen.into_inner(), BTreeSet::from([(0, 0), (0, 1), (1, 1)]));
}

/// As with the original, waiting with two mutexes at once is a mistake.
#[test]
fn a_condition_has_one_mutex() {
    let mut engine = Engine::new(Config::default());
    let mut panics = 0;
    let program = || {
        let shared = Arc::new(([Mutex::new(()), Mutex::new(())], Condvar::new()));
        let children = [0, 1].map(|number| {
            let shared = Arc::clone(&shared);
            let time = Duration::from_secs(1);
            thread::spawn(move || shared.1.wait_for(&mut shared.0[number].lock(), time).timed_out())
        });
        panics += children.into_iter().filter_map(|child| child.join().err()).count();
    };
    let explored = engine.explore(&mut Exhaustive::new(), Executions::AtMost(10_000), program, |_, execution| {
        if execution.end.is_finished() { ControlFlow::Continue(()) } else { ControlFlow::Break(execution.end) }
    });
    assert_eq!(explored.stopped, Stopped::Exhausted);
    assert!(panics > 0);
}

/// An execution that ends early leaves no lock behind.
#[test]
fn a_lock_in_a_static_is_free_in_the_next_execution() {
    static LOCK: Mutex<()> = Mutex::new(());
    static CHANGED: Condvar = Condvar::new();
    let (deadlocks, finished) = exhaust(|| {
        let child = thread::spawn(|| CHANGED.wait(&mut LOCK.lock()));
        drop(LOCK.lock());
        CHANGED.notify_all();
        child.join().unwrap();
    });
    assert!(deadlocks > 0 && finished > 0);
    assert!(LOCK.try_lock().is_some());
}
