//! What becomes of the tasks of an execution that ends early.

use std::cell::Cell;
use std::panic::Location;
use std::rc::Rc;

use interloper_scheduler::strategies::RandomWalk;
use interloper_scheduler::{Config, End, Engine};

use crate::common::*;

/// A deadlock of the main task with itself.
fn deadlock() {
    let lock = Lock::new();
    let _first = lock.lock();
    let _second = lock.lock();
}

#[test]
fn every_task_is_unwound() {
    let log = Log::default();
    let execution = run_once(|| {
        let main = Dropped(log.clone(), "main");
        for name in ["started", "never started"] {
            let value = Dropped(log.clone(), name);
            spawn(move || {
                let _value = value;
                runtime(|runtime| runtime.park(None, Location::caller()));
            });
            if name == "started" {
                runtime(|runtime| runtime.yield_now(Location::caller()));
            }
        }
        let _main = main;
        runtime(|runtime| runtime.fail("enough".to_owned()));
    });
    assert!(matches!(execution.end, End::Failed { .. }));
    let mut log = log.take();
    log.sort();
    assert_eq!(log, ["main", "never started", "started"]);
    assert_eq!(execution.panics, []);
}

#[test]
fn a_panic_of_the_main_task_unwinds_the_others() {
    let log = Log::default();
    let execution = run_once(|| {
        let value = Dropped(log.clone(), "other");
        spawn(move || {
            let _value = value;
            runtime(|runtime| runtime.park(None, Location::caller()));
        });
        runtime(|runtime| runtime.yield_now(Location::caller()));
        panic!("main");
    });
    assert!(matches!(execution.end, End::Panicked(_)));
    assert_eq!(log.take(), ["other"]);
}

#[test]
fn destructors_take_locks_once_their_holders_are_unwound() {
    struct Locks(Rc<Lock>, Log);
    impl Drop for Locks {
        fn drop(&mut self) {
            let guard = self.0.lock();
            self.1.say("locked");
            drop(guard);
        }
    }
    let log = Log::default();
    let execution = run_once(|| {
        let lock = Rc::new(Lock::new());
        let _value = Locks(lock.clone(), log.clone());
        let (other, inner) = (lock.clone(), log.clone());
        spawn(move || {
            let _guard = other.lock();
            let _said = Dropped(inner, "guard's task unwound");
            runtime(|runtime| runtime.park(None, Location::caller()));
        });
        runtime(|runtime| runtime.yield_now(Location::caller()));
        deadlock();
    });
    assert!(matches!(execution.end, End::Deadlock(_)), "{:?}", execution.end);
    assert_eq!(log.take(), ["guard's task unwound", "locked"]);
}

/// A destructor that waits in a loop, as for a flag beside a condition variable, does not give up before the others have unwound.
#[test]
fn destructors_wait_until_other_tasks_are_unwound() {
    struct Waits(Rc<Cell<bool>>, Log);
    impl Drop for Waits {
        fn drop(&mut self) {
            let mut waits = 0;
            while !self.0.get() {
                waits += 1;
                runtime(|runtime| runtime.park(None, Location::caller()));
            }
            assert!(waits < 5, "it looked {waits} times");
            self.1.say("waited");
        }
    }
    struct Tells(Rc<Cell<bool>>);
    impl Drop for Tells {
        fn drop(&mut self) {
            self.0.set(true);
        }
    }
    let log = Log::default();
    let execution = run_once(|| {
        let told = Rc::new(Cell::new(false));
        let _waits = Waits(told.clone(), log.clone());
        spawn(move || {
            let _tells = Tells(told);
            runtime(|runtime| runtime.park(None, Location::caller()));
        });
        runtime(|runtime| runtime.yield_now(Location::caller()));
        deadlock();
    });
    assert!(matches!(execution.end, End::Deadlock(_)), "{:?}", execution.end);
    assert_eq!(log.take(), ["waited"]);
}

#[test]
fn tasks_that_cannot_be_unwound_are_given_up() {
    struct WaitsForEver(Rc<Lock>);
    impl Drop for WaitsForEver {
        fn drop(&mut self) {
            std::mem::forget(self.0.lock());
            let _again = self.0.lock();
        }
    }
    let mut engine = Engine::new(Config::default());
    for _ in 0..3 {
        let execution = engine.run(&mut RandomWalk::new(0), || {
            let _value = WaitsForEver(Rc::new(Lock::new()));
            deadlock();
        });
        assert!(matches!(execution.end, End::Deadlock(_)));
        assert!(!std::thread::panicking());
    }
    assert!(engine.run(&mut RandomWalk::new(0), || drop(Lock::new().lock())).end.is_finished());
}

#[test]
fn a_task_that_catches_everything_is_given_up() {
    let mut engine = Engine::new(Config::default());
    let program = || {
        spawn(|| {
            loop {
                let attempt = || runtime(|runtime| runtime.park(None, Location::caller()));
                let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(attempt));
            }
        });
        runtime(|runtime| runtime.yield_now(Location::caller()));
        runtime(|runtime| runtime.fail("enough".to_owned()));
    };
    for _ in 0..2 {
        assert!(matches!(engine.run(&mut RandomWalk::new(0), program).end, End::Failed { .. }));
    }
}

#[test]
fn a_task_is_not_preempted_while_it_unwinds() {
    struct TwoSteps(Rc<Lock>, Rc<Lock>);
    impl Drop for TwoSteps {
        fn drop(&mut self) {
            drop(self.0.lock());
            drop(self.1.lock());
        }
    }
    let executions = all_schedules(Config::default(), || {
        let (a, b) = (Rc::new(Lock::new()), Rc::new(Lock::new()));
        let other = b.clone();
        let child = spawn(move || drop(other.lock()));
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _value = TwoSteps(a, b);
            panic!("unwinding");
        }));
        assert!(caught.is_err());
        join(child).unwrap();
    });
    assert!(executions.iter().all(|execution| execution.end.is_finished()));
    // Main unwinds at once: before the child starts, after its start, after its lock (where it must wait for the lock
    // b and then goes on), or after its unlock.
    assert_eq!(executions.len(), 1);
}

#[test]
fn panicking_is_a_matter_of_each_task() {
    struct Blocks(Rc<Lock>);
    impl Drop for Blocks {
        fn drop(&mut self) {
            assert!(runtime(|runtime| runtime.panicking()));
            drop(self.0.lock());
        }
    }
    let execution = run_once(|| {
        let lock = Rc::new(Lock::new());
        let guard = lock.lock();
        let other = lock.clone();
        let child = spawn(move || {
            let _value = Blocks(other);
            panic!("child");
        });
        // The child unwinds up to the lock.
        runtime(|runtime| runtime.yield_now(Location::caller()));
        assert!(std::thread::panicking(), "the thread has a task that unwinds");
        assert!(!runtime(|runtime| runtime.panicking()));
        drop(guard);
        assert_eq!(join(child), Err("child".to_owned()));
        assert!(!std::thread::panicking());
    });
    assert!(execution.end.is_finished(), "{execution:?}");
}
