//! How the clock of an execution passes.

use std::cell::Cell;
use std::time::Duration;

use interloper_scheduler::strategies::RandomWalk;
use interloper_scheduler::{Config, End, Engine};

use crate::common::*;

fn poll_until(seconds: u64) -> impl Fn() {
    move || while runtime(|runtime| runtime.now()) < Duration::from_secs(seconds) {}
}

#[test]
fn the_clock_passes_while_a_task_polls_it() {
    let mut engine = Engine::new(Config::default());
    for seconds in [1, 3600, 30 * 86_400] {
        let execution = engine.run(&mut RandomWalk::new(0), poll_until(seconds));
        assert_eq!((execution.end, execution.steered), (End::Finished, true));
        // Not much later, as seen from there.
        let wanted = Duration::from_secs(seconds);
        assert!(execution.clock >= wanted && execution.clock < wanted + wanted / 10, "{:?}", execution.clock);
    }
    // Who looks now and then sees it stand still.
    let looks = || (0..16).for_each(|_| assert_eq!(runtime(|runtime| runtime.now()), Duration::ZERO));
    let execution = engine.run(&mut RandomWalk::new(0), looks);
    assert_eq!((execution.end, execution.steered), (End::Finished, false));
}

/// saa waits like this: more hints after each look, until 32 µs are over. The looks are too few to make the clock pass by
/// themselves, and the hints are too many to go on without it.
#[test]
fn hints_between_looks_take_time_where_nobody_else_goes_on() {
    let mut engine = Engine::new(Config { livelock_rounds: 200, ..Config::default() });
    let looks = Cell::new(0);
    let execution = engine.run(&mut RandomWalk::new(0), || {
        let start = runtime(|runtime| runtime.now());
        let mut hints = 64;
        looks.set(0);
        while runtime(|runtime| runtime.now()) - start < Duration::from_micros(32) {
            looks.set(looks.get() + 1);
            (0..hints).for_each(|_| runtime(|runtime| runtime.yield_now(std::panic::Location::caller())));
            hints *= 2;
        }
    });
    assert_eq!((execution.end, looks.get()), (End::Finished, 1));
}

/// They take little time: crossbeam gives so many before a wait with a time-out.
#[test]
fn hints_between_looks_take_little_time() {
    let mut engine = Engine::new(Config::default());
    let passed = Cell::new(Duration::ZERO);
    let backs_off = || (0..131).for_each(|_| runtime(|runtime| runtime.yield_now(std::panic::Location::caller())));
    let execution = engine.run(&mut RandomWalk::new(0), || {
        let start = runtime(|runtime| runtime.now());
        backs_off();
        passed.set(runtime(|runtime| runtime.now()) - start);
    });
    assert_eq!((execution.end, passed.get()), (End::Finished, Duration::from_micros(131)));
    // Those before a sleep ended do not count.
    let beside_a_sleeper = || {
        let sleeper = spawn(|| {
            for _ in 0..100 {
                runtime(|runtime| runtime.sleep(Duration::from_millis(1), std::panic::Location::caller()));
            }
        });
        let variable = Variable::default();
        for _ in 0..100 {
            backs_off();
            variable.get();
        }
        runtime(|runtime| runtime.now());
        join(sleeper).unwrap();
    };
    let execution = engine.run(&mut RandomWalk::new(0), beside_a_sleeper);
    assert_eq!(execution.end, End::Finished);
    let slept = Duration::from_millis(100);
    assert!((slept..slept + Duration::from_millis(1)).contains(&execution.clock), "{:?}", execution.clock);
}

#[test]
fn a_task_that_polls_the_clock_lets_others_go_on() {
    let mut engine = Engine::new(Config { livelock_rounds: 100, ..Config::default() });
    // Looks at a flag, too, that nobody raises: it gives up when it is time.
    let gives_up = || {
        let flag = Variable::default();
        let polls = poll_until(0);
        while flag.get() == 0 && runtime(|runtime| runtime.now()) < Duration::from_secs(10) {
            polls();
        }
    };
    assert_eq!(engine.run(&mut RandomWalk::new(0), gives_up).end, End::Finished);
    // Who sleeps meanwhile is woken, on time.
    let log = Log::default();
    let sleeper = log.clone();
    let beside_a_sleeper = || {
        let child = spawn(move || {
            runtime(|runtime| runtime.sleep(Duration::from_secs(2), std::panic::Location::caller()));
            sleeper.say(format!("{}", runtime(|runtime| runtime.now()).as_secs()));
        });
        runtime(|runtime| runtime.yield_now(std::panic::Location::caller()));
        poll_until(5)();
        join(child).unwrap();
    };
    assert_eq!(engine.run(&mut RandomWalk::new(0), beside_a_sleeper).end, End::Finished);
    assert!(["2", "5"].contains(&&*log.take()[0]));
    // Who never gives up is in a livelock, all the same.
    let for_ever = || {
        let flag = Variable::default();
        while flag.get() == 0 {
            runtime(|runtime| runtime.now());
        }
    };
    assert!(matches!(engine.run(&mut RandomWalk::new(0), for_ever).end, End::Livelock(_)));
}

/// A loop that waits for what is left until a deadline, and wants to come after it.
#[test]
fn a_deadline_is_passed() {
    let waits = || {
        let deadline = Duration::from_millis(5);
        let mut rounds = 0;
        loop {
            let now = runtime(|runtime| runtime.now());
            if now > deadline {
                break;
            }
            runtime(|runtime| runtime.park(Some(deadline - now), std::panic::Location::caller()));
            rounds += 1;
        }
        assert_eq!(rounds, 2);
    };
    let execution = run_once(waits);
    assert_eq!((execution.end, execution.clock), (End::Finished, Duration::from_nanos(5_000_001)));
    // A time that never comes is waited for in vain.
    let execution = run_once(|| runtime(|runtime| runtime.sleep(Duration::MAX, std::panic::Location::caller())));
    assert!(matches!(execution.end, End::Deadlock(_)), "{execution:?}");
}

#[test]
fn the_clock_of_an_execution_starts_at_zero() {
    for _ in 0..2 {
        let execution = run_once(|| {
            runtime(|runtime| {
                assert_eq!(runtime.now(), Duration::ZERO);
                runtime.sleep(Duration::from_secs(3600), std::panic::Location::caller());
                assert_eq!(runtime.now(), Duration::from_secs(3600));
            });
        });
        assert_eq!((execution.end, execution.clock), (End::Finished, Duration::from_secs(3600)));
    }
}
