//! What std leaves open is a choice of the execution: how long a sleep takes, whether a wait ends unasked, whether a weak
//! compare-exchange fails, whether a lock prefers writers.
//!
//! The numbers of traces are derived in the comments. Each program that relies on more than std promises has a twin that
//! does not.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::time::Duration;

use interloper_scheduler::decisions::{Decisions, ReplaySource};
use interloper_scheduler::schedule::{FREE_EVERY, Plan, Schedule};
use interloper_scheduler::strategies::{
    AtomFuzzer, Exhaustive, Exploration, Guided, Pct, Pos, RandomWalk, Selection, Surw,
};
use interloper_scheduler::{
    Config, Detached, End, Engine, Executions, Failing, Freedom, Freedoms, Stopped, Strategy, Unlock,
};
use interloper_std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use interloper_std::sync::{Arc, Condvar, Mutex, RwLock};
use interloper_std::thread;
use interloper_std::time::Instant;

pub const TIME: Freedoms = Freedoms::NONE.with(Freedom::Time, 1);
pub const WAKEUPS: Freedoms = Freedoms::NONE.with(Freedom::Wakeups, 1);
const WEAK: Freedoms = Freedoms::NONE.with(Freedom::Weak, 1);
pub const WRITERS: Freedoms = Freedoms::NONE.with(Freedom::Writers, 1);

pub fn config(freedoms: Freedoms) -> Config {
    // Counted is what the freedoms add: where main panics, the others go on.
    Config { freedoms, unlock: Unlock::Part, detached: Detached::MustEnd, ..Config::default() }
}

/// Explores a program to its end: how many traces there are, and how many of them fail.
#[track_caller]
pub fn explore(freedoms: Freedoms, program: impl Fn()) -> (u64, usize) {
    let (exploration, failed) = explore_all(freedoms, program);
    assert_eq!(exploration.redundant, 0, "{exploration:?}");
    (exploration.traces, failed)
}

/// As [`explore`], also where executions turn out to be of traces that were explored already.
#[track_caller]
pub fn explore_all(freedoms: Freedoms, program: impl Fn()) -> (Exploration, usize) {
    let mut engine = Engine::new(config(freedoms));
    let mut search = Exhaustive::new();
    let mut failed = 0;
    let explored = engine.explore(&mut search, Executions::AtMost(100_000), program, |_, execution| {
        failed += usize::from(!execution.end.is_finished());
        assert_eq!(execution.departures.within(freedoms), execution.departures, "{execution:?}");
        ControlFlow::<()>::Continue(())
    });
    assert_eq!(explored.stopped, Stopped::Exhausted);
    assert!(search.exploration().complete, "{:?}", search.exploration());
    (search.exploration().clone(), failed)
}

/// Looks for a failure under random strategies, in some executions each.
pub fn found_by_all(freedoms: Freedoms, program: impl Fn()) {
    let strategies: [(&str, Box<dyn Strategy>); 5] = [
        ("random walk", Box::new(RandomWalk::new(1))),
        ("pct", Box::new(Pct::new(1, 3))),
        ("pos", Box::new(Pos::new(1))),
        ("surw", Box::new(Surw::new(1, Selection::OneObject))),
        ("atomfuzzer", Box::new(AtomFuzzer::new(1))),
    ];
    for (name, mut strategy) in strategies {
        let (ordinary, _) = first_failure(Freedoms::NONE, &mut *strategy, &program);
        assert!(ordinary.is_none(), "{name} needs no freedom: {ordinary:?}");
        let (found, _) = first_failure(freedoms, &mut *strategy, &program);
        let (found, end) = found.unwrap_or_else(|| panic!("{name} finds nothing"));
        assert_eq!(found.decisions.departures() > 1, freedoms != WRITERS, "{name}: {}", found.decisions);
        // The decisions say which freedoms the execution had: it comes again whatever the engine admits.
        let mut engine = Engine::new(config(Freedoms::UNBOUNDED));
        replays(&mut engine, &found.decisions, &end, &program);
        let shrunk =
            engine.shrink(found, Executions::AtMost(500), &program, |_, execution| !execution.end.is_finished());
        let smallest = shrunk.smallest.decisions;
        // What it needs stays: the freedom, and that use is made of it.
        let needed = if freedoms == WRITERS { 1 } else { 2 };
        assert_eq!(smallest.departures(), needed, "{name}: {smallest}");
    }
}

fn first_failure(
    freedoms: Freedoms,
    strategy: &mut dyn Strategy,
    program: impl Fn(),
) -> (Option<(Failing, End)>, Engine) {
    let mut engine = Engine::new(config(freedoms));
    let explored = engine.explore(strategy, Executions::AtMost(400), program, |engine, execution| {
        match execution.end.is_finished() {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break((engine.failing(&execution), execution.end)),
        }
    });
    let found = match explored.stopped {
        Stopped::Broken(found) => Some(found),
        _ => None,
    };
    (found, engine)
}

#[track_caller]
fn replays(engine: &mut Engine, decisions: &Decisions, end: &End, program: impl Fn()) {
    let mut strategy = Guided::new(ReplaySource::new(decisions.clone()));
    let again = engine.run(&mut strategy, program);
    assert_eq!(strategy.into_source().finish(), Ok(()));
    assert_eq!(&again.end, end);
    assert_eq!(Decisions(engine.decisions().to_vec()), *decisions);
}

// Wake-ups that nobody caused.

/// Main waits on a condition, the child sets it and notifies.
fn waits(again: bool) -> impl Fn() {
    move || {
        let shared = Arc::new((Mutex::new(false), Condvar::new()));
        let other = shared.clone();
        let child = thread::spawn(move || {
            *other.0.lock().unwrap() = true;
            other.1.notify_one();
        });
        let mut set = shared.0.lock().unwrap();
        while !*set {
            set = shared.1.wait(set).unwrap();
            assert!(again || *set, "woken, but nothing is set");
        }
        drop(set);
        child.join().unwrap();
    }
}

#[test]
fn a_wait_may_end_although_nobody_notifies() {
    // The child first, with the notification after it: 1. Main first: it waits, and the child notifies: 1.
    assert_eq!(explore(Freedoms::NONE, waits(false)), (2, 0));
    // Main first, and its wait ends unasked: before the child has set the flag it fails: 1. Between the child's section and
    // its notification, or behind both, it goes on; the wait itself was before the notification in any case, and the
    // lock does not depend on it: 1.
    assert_eq!(explore(WAKEUPS, waits(false)), (4, 1));
    // Who looks again waits again, once: the notification wakes it.
    assert_eq!(explore(WAKEUPS, waits(true)), (4, 0));
    found_by_all(WAKEUPS, waits(false));
}

fn parks(again: bool) -> impl Fn() {
    move || {
        let flag = Arc::new(AtomicU32::new(0));
        let (other, main) = (flag.clone(), thread::current());
        let child = thread::spawn(move || {
            other.store(1, SeqCst);
            main.unpark();
        });
        loop {
            thread::park();
            match flag.load(SeqCst) {
                1 => break,
                _ => assert!(again, "unparked, but nothing is set"),
            }
        }
        child.join().unwrap();
    }
}

#[test]
fn a_park_may_end_although_nobody_unparks() {
    // The park takes the token that comes behind the store: 1.
    assert_eq!(explore(Freedoms::NONE, parks(false)), (1, 0));
    // It ends unasked: the load is before the store, and fails: 1. Or the load is behind the store; the park is before the
    // unpark or after it: 2.
    assert_eq!(explore(WAKEUPS, parks(false)), (4, 1));
    // Who looks again parks again, and takes the token.
    assert_eq!(explore(WAKEUPS, parks(true)), (4, 0));
    found_by_all(WAKEUPS, parks(false));
}

#[test]
fn a_park_that_ends_unasked_leaves_the_token() {
    // Two unparks are not one, if the first park has ended without it: the second one does not wait in vain.
    let program = || {
        let main = thread::current();
        let child = thread::spawn(move || main.unpark());
        thread::park();
        thread::park_timeout(Duration::from_secs(1));
        child.join().unwrap();
    };
    // Ordinarily: the first park takes the token, the second one waits for its time: 1. The second one ends unasked: 1.
    // The first one ends unasked, before the unpark or after it; the second one takes the token: 2. The unpark cannot
    // come too late for that: the time passes when nobody else goes on.
    assert_eq!(explore(WAKEUPS, program), (4, 0));
}

#[test]
fn a_condition_variable_of_parking_lot_wakes_nobody_unasked() {
    use interloper_scheduler::runtime::{self, Count, Mode, ObjectKind, Wakes};
    let program = || {
        let at = std::panic::Location::caller();
        runtime::with(|current| {
            let runtime = current.runtime();
            let (lock, queue) = (runtime.register(ObjectKind::Mutex), runtime.register(ObjectKind::Condvar));
            let child = thread::spawn(move || {
                runtime::with(|current| {
                    current.runtime().acquire(lock, Mode::Exclusive, at);
                    current.runtime().notify(queue, Count::One, at);
                    current.runtime().release(lock, Mode::Exclusive, at);
                });
            });
            runtime.acquire(lock, Mode::Exclusive, at);
            runtime.wait(queue, (lock, Mode::Exclusive), Some(Duration::from_secs(1)), Wakes::Notified, at);
            runtime.release(lock, Mode::Exclusive, at);
            child.join().unwrap();
        });
    };
    let ordinary = explore(Freedoms::NONE, program);
    assert_eq!(explore(WAKEUPS, program), ordinary);
}

// Time.

/// The child sleeps until it takes the flag to be set.
fn sleeps(joins: bool) -> impl Fn() {
    move || {
        let flag = Arc::new(AtomicU32::new(0));
        let set = {
            let flag = flag.clone();
            thread::spawn(move || flag.store(1, SeqCst))
        };
        match joins {
            true => set.join().unwrap(),
            false => thread::sleep(Duration::from_millis(10)),
        }
        assert_eq!(flag.load(SeqCst), 1, "too early");
    }
}

#[test]
fn a_sleep_orders_nothing() {
    assert_eq!(explore(Freedoms::NONE, sleeps(false)), (1, 0));
    // Late: 1. Early: the load is before the store or after it: 2.
    assert_eq!(explore(TIME, sleeps(false)), (3, 1));
    assert_eq!(explore(TIME, sleeps(true)), (1, 0));
    found_by_all(TIME, sleeps(false));
}

#[test]
fn two_whose_time_has_come_go_on_in_either_order() {
    // Nobody else can go on: both wake. What one does then is not before what the other does.
    let program = || {
        let value = Arc::new(AtomicU32::new(0));
        let other = value.clone();
        let child = thread::spawn(move || {
            thread::sleep(Duration::from_millis(10));
            other.store(1, SeqCst);
        });
        thread::sleep(Duration::from_millis(10));
        assert_eq!(value.load(SeqCst), 1, "first");
        child.join().unwrap();
    };
    assert_eq!(explore(Freedoms::NONE, program), (2, 1));
}

#[test]
fn a_time_out_may_come_before_the_notification() {
    let program = |looks: bool| {
        move || {
            let shared = Arc::new((Mutex::new(false), Condvar::new()));
            let other = shared.clone();
            let child = thread::spawn(move || {
                *other.0.lock().unwrap() = true;
                other.1.notify_one();
            });
            let mut set = shared.0.lock().unwrap();
            if !*set {
                let waited = shared.1.wait_timeout(set, Duration::from_secs(60)).unwrap();
                set = waited.0;
                assert!(if looks { *set || waited.1.timed_out() } else { *set }, "a minute is not enough");
            }
            drop(set);
            child.join().unwrap();
        }
    };
    assert_eq!(explore(Freedoms::NONE, program(false)), (2, 0));
    // As with a wait that ends unasked.
    assert_eq!(explore(TIME, program(false)), (4, 1));
    assert_eq!(explore(TIME, program(true)), (4, 0));
    found_by_all(TIME, program(false));
}

#[test]
fn who_sleeps_early_moves_the_clock_for_those_who_look_at_it() {
    const JUST_PAST: Duration = Duration::from_nanos(10_000_001);
    let seen = RefCell::new(BTreeSet::new());
    let (exploration, failed) = explore_all(TIME, || {
        let child = thread::spawn(|| thread::sleep(Duration::from_millis(10)));
        let start = Instant::now();
        AtomicU32::new(0).load(SeqCst);
        seen.borrow_mut().insert(start.elapsed());
        child.join().unwrap();
        assert!(start.elapsed() <= JUST_PAST, "the clock goes just past the deadline and no further");
    });
    assert_eq!(seen.take(), BTreeSet::from([Duration::ZERO, JUST_PAST]));
    // The sleep is late, or early and before the look at the clock, or early and after it. The order of the last two was
    // found with the answer "early"; with the other one it is that of the first.
    assert_eq!((exploration.traces, exploration.redundant, failed), (3, 1, 0));
}

/// flume waits like this: in a loop, for what is left until its deadline. One early end of a wait must be enough to leave it.
#[test]
fn a_loop_that_waits_for_what_is_left_until_a_deadline_ends_early_at_once() {
    let program = |again: bool| {
        move || {
            let sent = Arc::new(AtomicBool::new(false));
            let other = sent.clone();
            let main = thread::current();
            let child = thread::spawn(move || {
                other.store(true, SeqCst);
                main.unpark();
            });
            let deadline = Instant::now() + Duration::from_secs(1);
            while !sent.load(SeqCst) && Instant::now() <= deadline {
                thread::park_timeout(deadline - Instant::now());
            }
            let is_there = sent.load(SeqCst);
            child.join().unwrap();
            assert!(is_there || again && sent.load(SeqCst), "a second is not enough");
        }
    };
    assert_eq!(explore(Freedoms::NONE, program(false)).1, 0);
    assert!(explore(TIME, program(false)).1 > 0);
    assert_eq!(explore(TIME, program(true)).1, 0);
}

#[test]
fn a_sleep_is_never_shorter_than_it_says() {
    let shortest = RefCell::new(Duration::MAX);
    explore_all(Freedoms::NONE.with(Freedom::Time, 3), || {
        let sleep = |milliseconds| {
            move || {
                let start = Instant::now();
                thread::sleep(Duration::from_millis(milliseconds));
                start.elapsed() - Duration::from_millis(milliseconds)
            }
        };
        let children = [thread::spawn(sleep(10)), thread::spawn(sleep(20))];
        let beyond = children.map(|child| child.join().unwrap());
        let least = beyond.into_iter().min().unwrap();
        shortest.replace_with(|shortest| (*shortest).min(least));
    });
    assert_eq!(shortest.take(), Duration::ZERO);
}

// Weak compare-exchange.

#[test]
fn a_weak_compare_exchange_may_fail() {
    let program = |strong: bool| {
        move || {
            let value = AtomicU32::new(0);
            let done = match strong {
                true => value.compare_exchange(0, 1, SeqCst, SeqCst),
                false => value.compare_exchange_weak(0, 1, SeqCst, SeqCst),
            };
            assert_eq!(done, Ok(0));
        }
    };
    assert_eq!(explore(Freedoms::NONE, program(false)), (1, 0));
    assert_eq!(explore(WEAK, program(false)), (2, 1));
    assert_eq!(explore(WEAK, program(true)), (1, 0));
    // A loop goes on: it fails in each of its first attempts, or in none.
    let looping = || {
        let value = AtomicU32::new(0);
        value.fetch_update(SeqCst, SeqCst, |value| Some(value + 1)).unwrap();
        assert_eq!(value.load(SeqCst), 1);
    };
    assert_eq!(explore(Freedoms::NONE.with(Freedom::Weak, 3), looping), (4, 0));
    found_by_all(WEAK, program(false));
}

// Writers before readers.

#[test]
fn a_reader_that_reads_again_may_wait_for_a_writer_that_waits_for_it() {
    let program = |again: bool| {
        move || {
            let lock = Arc::new(RwLock::new(0));
            let other = lock.clone();
            let writer = thread::spawn(move || *other.write().unwrap() += 1);
            let outer = lock.read().unwrap();
            let inner = again.then(|| lock.read().unwrap());
            drop((outer, inner));
            writer.join().unwrap();
        }
    };
    // The writer before both reads, or behind both.
    assert_eq!(explore(Freedoms::NONE, program(true)), (2, 0));
    // And the writer comes between the two: a deadlock.
    assert_eq!(explore(WRITERS, program(true)), (3, 1));
    // One read: the writer comes before it, or after it.
    assert_eq!(explore(WRITERS, program(false)), (2, 0));
    found_by_all(WRITERS, program(true));
}

#[test]
fn a_writer_that_waits_lets_no_reader_in_and_nobody_waits_for_ever() {
    let seen = RefCell::new(BTreeSet::new());
    let program = || {
        let lock = Arc::new(RwLock::new(0));
        let write = |by: u32| {
            let lock = lock.clone();
            thread::spawn(move || *lock.write().unwrap() += by)
        };
        let writers = [write(1), write(10)];
        let first = *lock.read().unwrap();
        let second = *lock.read().unwrap();
        let reads = [first, second, lock.try_read().map_or(99, |value| *value)];
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        seen.borrow_mut().insert(reads);
    };
    let (_, failed) = explore_all(Freedoms::NONE, program);
    assert_eq!(failed, 0);
    let ordinary = seen.take();
    let (_, failed) = explore_all(WRITERS, program);
    assert_eq!(failed, 0);
    // Nothing that is possible without the freedom is lost. A reader that only tries fails where a writer waits, and where
    // one writes, too.
    let free = seen.take();
    assert!(free.is_superset(&ordinary), "{free:?} {ordinary:?}");
    assert!(free.iter().any(|reads| reads[2] == 99));
}

#[test]
fn a_recursive_read_is_not_held_back_by_a_writer_that_waits() {
    use interloper_scheduler::runtime::{self, Mode, ObjectKind};
    let program = |recursive: bool| {
        move || {
            let at = std::panic::Location::caller();
            runtime::with(|current| {
                let lock = current.runtime().register(ObjectKind::RwLock);
                let writer = thread::spawn(move || {
                    runtime::with(|current| {
                        current.runtime().acquire(lock, Mode::Exclusive, at);
                        current.runtime().release(lock, Mode::Exclusive, at);
                    });
                });
                let runtime = current.runtime();
                runtime.acquire(lock, Mode::Shared, at);
                match recursive {
                    true => runtime.acquire_recursive(lock, at),
                    false => runtime.acquire(lock, Mode::Shared, at),
                }
                runtime.release(lock, Mode::Shared, at);
                runtime.release(lock, Mode::Shared, at);
                writer.join().unwrap();
            });
        }
    };
    // The writer comes before the first read, between the two, or after them: the second case is a deadlock. Where the
    // second read is recursive, it does not matter when the writer comes behind the first one.
    assert_eq!(explore(WRITERS, program(false)), (3, 1));
    assert_eq!(explore(WRITERS, program(true)), (2, 0));
}

/// The program of figure 5 of the paper on PCT, with sleeps in place of steps: main fails if the other thread has made all of
/// its twenty sleeps before. Decided one by one, twenty early sleeps come once in a million executions.
#[test]
fn many_sleeps_in_a_row_end_early() {
    let found = |freedoms: Freedoms, schedule: &str| {
        let schedule: Schedule = schedule.parse().unwrap();
        let mut engine = Engine::new(config(freedoms));
        let mut search = schedule.search(&Plan { free_every: FREE_EVERY, ..Plan::new(1) });
        let figure5 = || {
            let lock = Arc::new(Mutex::new(0));
            let other = {
                let lock = Arc::clone(&lock);
                thread::spawn(move || {
                    for _ in 0..20 {
                        thread::sleep(Duration::from_millis(1));
                    }
                    *lock.lock().unwrap() = 1;
                })
            };
            assert_ne!(*lock.lock().unwrap(), 1, "the other thread ran to its end");
            other.join().unwrap();
        };
        let explored = engine.explore(search.strategy(), Executions::AtMost(100), figure5, |_, execution| {
            match execution.end.is_finished() {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(execution.departures),
            }
        });
        match explored.stopped {
            Stopped::Broken(departures) => Some(departures),
            _ => None,
        }
    };
    let many = Freedoms::NONE.with(Freedom::Time, 1000);
    assert_eq!(found(many, "pct:1"), Some(Freedoms::NONE.with(Freedom::Time, 20)));
    // Few steps of a thread in a row are likely at random, twenty are not; and one early sleep is not enough.
    assert_eq!(found(many, "random"), None);
    assert_eq!(found(TIME, "pct:1"), None);
}
