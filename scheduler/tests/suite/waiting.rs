//! Queues, time-outs, tokens.

use std::panic::Location;
use std::rc::Rc;
use std::time::Duration;

use interloper_scheduler::runtime::{Action, Count, Operation, TaskId, Woken};
use interloper_scheduler::strategies::RandomWalk;
use interloper_scheduler::{Config, End, Engine};

use crate::common::*;

#[test]
fn a_wait_times_out_when_nobody_else_can_go_on() {
    let log = Log::default();
    let execution = run_once(|| {
        let lock = Lock::new();
        let condition = Condition::default();
        let guard = lock.lock();
        log.say(format!("{:?}", guard.wait(&condition, Some(Duration::from_millis(5)))));
        drop(guard);
    });
    assert_eq!((execution.end, execution.clock), (End::Finished, Duration::from_millis(5)));
    assert_eq!(log.take(), ["TimedOut"]);
}

#[test]
fn a_notification_comes_before_a_time_out() {
    let executions = all_schedules(Config::default(), || {
        let shared = Rc::new((Lock::new(), Condition::default(), std::cell::Cell::new(false)));
        let child = {
            let shared = shared.clone();
            spawn(move || {
                let _guard = shared.0.lock();
                shared.2.set(true);
                shared.1.notify(Count::All);
            })
        };
        let guard = shared.0.lock();
        while !shared.2.get() {
            assert_eq!(guard.wait(&shared.1, Some(Duration::from_secs(1))), Woken::Notified);
        }
        drop(guard);
        join(child).unwrap();
    });
    assert!(executions.iter().all(|execution| execution.end.is_finished()), "{executions:?}");
    assert!(executions.iter().all(|execution| execution.clock == Duration::ZERO));
}

#[test]
fn sleepers_wake_in_the_order_of_their_times() {
    let log = Log::default();
    let execution = run_once(|| {
        let sleepers = [("late", 30), ("early", 10), ("middle", 20)].map(|(name, millis)| {
            let log = log.clone();
            spawn(move || {
                runtime(|runtime| runtime.sleep(Duration::from_millis(millis), Location::caller()));
                log.say(name);
            })
        });
        sleepers.into_iter().for_each(|sleeper| join(sleeper).unwrap());
    });
    assert!(execution.end.is_finished());
    assert_eq!(log.take(), ["early", "middle", "late"]);
}

#[test]
fn one_of_several_waiters_is_woken_and_each_can_be_it() {
    let woken = Log::default();
    let executions = all_schedules(Config { trace: false, ..Config::default() }, || {
        let lock = Rc::new(Lock::new());
        let queue = lock.id();
        let then = move |location| Operation { object: queue, action: Action::ReadWrite, location };
        let waiters: Vec<TaskId> = ["first", "second"]
            .into_iter()
            .map(|name| {
                let woken = woken.clone();
                spawn(move || {
                    runtime(|runtime| runtime.block(queue, None, then(Location::caller())));
                    woken.say(name);
                })
            })
            .collect();
        // Both wait before the main task goes on.
        runtime(|runtime| runtime.sleep(Duration::from_millis(1), Location::caller()));
        runtime(|runtime| {
            assert_eq!(runtime.notify(queue, Count::One, Location::caller()), 1);
            runtime.sleep(Duration::from_millis(1), Location::caller());
            woken.say("then");
            assert_eq!(runtime.notify(queue, Count::All, Location::caller()), 1);
            assert_eq!(runtime.notify(queue, Count::All, Location::caller()), 0);
        });
        waiters.into_iter().for_each(|waiter| join(waiter).unwrap());
    });
    assert!(executions.iter().all(|execution| execution.end.is_finished()));
    let woken = woken.take();
    let runs: Vec<_> = woken.chunks(3).map(|run| run.join(" ")).collect();
    assert!(runs.iter().all(|run| run == "first then second" || run == "second then first"), "{runs:?}");
    assert!(runs.iter().any(|run| run.starts_with("first")) && runs.iter().any(|run| run.starts_with("second")));
}

#[test]
fn a_token_given_before_the_park_is_kept_and_two_are_one() {
    let park = || runtime(|runtime| runtime.park(Some(Duration::from_secs(1)), Location::caller()));
    let execution = run_once(|| {
        let me = runtime(|runtime| runtime.task());
        runtime(|runtime| runtime.unpark(me, Location::caller()));
        runtime(|runtime| runtime.unpark(me, Location::caller()));
        assert_eq!(park(), Woken::Notified);
        assert_eq!(park(), Woken::TimedOut);
    });
    assert!(execution.end.is_finished(), "{execution:?}");
}

#[test]
fn a_parked_task_is_woken() {
    let executions = all_schedules(Config::default(), || {
        let main = runtime(|runtime| runtime.task());
        let child = spawn(move || runtime(|runtime| runtime.unpark(main, Location::caller())));
        assert_eq!(runtime(|runtime| runtime.park(None, Location::caller())), Woken::Notified);
        join(child).unwrap();
    });
    // The child starts and unparks while main waits; or starts first; main's park has no token before the unpark, so
    // the only freedom is after it: main parks and joins, once the child has ended. One schedule.
    assert_eq!(executions.len(), 1);
    assert!(executions[0].end.is_finished());
}

#[test]
fn spinning_on_failed_attempts_without_a_yield_lets_others_go_on() {
    use interloper_scheduler::runtime::Mode;

    let program = |gives_back: bool| {
        move || {
            let shared = Rc::new((Lock::new(), Lock::new()));
            let other = shared.clone();
            let child = spawn(move || {
                let _guard = other.0.lock();
                drop(other.1.lock());
                if !gives_back {
                    loop {
                        runtime(|runtime| runtime.yield_now(Location::caller()));
                    }
                }
            });
            // Lets the child take the lock.
            runtime(|runtime| runtime.yield_now(Location::caller()));
            runtime(|runtime| runtime.yield_now(Location::caller()));
            while shared.0.try_lock_as(Mode::Exclusive).is_none() {}
            join(child).unwrap();
        }
    };
    // The child may be about to look for as many hints as a pause has.
    let mut engine = Engine::new(Config { step_bound: 10_000, livelock_rounds: 100, ..Config::default() });
    let execution = engine.run(&mut Unfair, program(true));
    assert!(execution.end.is_finished(), "{execution:?}");
    assert!(execution.tried);
    // What nobody ever gives back is a livelock of the two, and its report names the attempt.
    let execution = engine.run(&mut Unfair, program(false));
    let interloper_scheduler::End::Livelock(tasks) = execution.end else { panic!("{:?}", execution.end) };
    assert_eq!(tasks[0].wants.action, Action::TryLock(Mode::Exclusive));
}

#[test]
fn spinning_on_a_failed_attempt_lets_others_go_on() {
    let executions = all_schedules(Config { step_bound: 200, ..Config::default() }, || {
        let lock = Rc::new(Lock::new());
        let other = lock.clone();
        let child = spawn(move || drop(other.lock()));
        while lock.try_lock_as(interloper_scheduler::runtime::Mode::Exclusive).is_none() {
            runtime(|runtime| runtime.yield_now(Location::caller()));
        }
        join(child).unwrap();
    });
    assert!(executions.iter().all(|execution| execution.end.is_finished()));
}

/// Between its looks it does something that no step shows: what counts its items is on its stack, so each look is from a new state.
#[test]
fn a_loop_that_looks_between_its_items_is_no_livelock() {
    let mut engine = Engine::new(Config { livelock_rounds: 100, ..Config::default() });
    let works = |items: u64| {
        move || {
            let stop = Variable::default();
            let mut sum = 0;
            for item in 0..items {
                if stop.get() != 0 {
                    break;
                }
                sum += std::hint::black_box(item);
            }
            assert_eq!(sum, items * (items - 1) / 2);
        }
    };
    assert_eq!(engine.run(&mut RandomWalk::new(0), works(700)).end, End::Finished);
    // Beside another task that waits for it.
    let beside = || {
        let child = spawn(works(700));
        join(child).unwrap();
    };
    assert_eq!(engine.run(&mut RandomWalk::new(0), beside).end, End::Finished);
    // A loop that waits may count its looks, so patience has an end.
    let counts = || {
        let flag = Variable::default();
        let mut looks = 0_u64;
        while flag.get() == 0 {
            looks = std::hint::black_box(looks + 1);
        }
    };
    assert!(matches!(engine.run(&mut RandomWalk::new(0), counts).end, End::Livelock(_)));
}
