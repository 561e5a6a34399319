//! Loops that wait, in an exhaustive search: the rounds that they make in vain multiply no executions.
//!
//! The numbers of traces are derived in the comments. A brute force counts them for generated programs.

mod generated;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::{ControlFlow, RangeInclusive};

use interloper_scheduler::strategies::{Cut, Exhaustive, Exploration};
use interloper_scheduler::{Config, End, Engine, Executions, Freedom, Freedoms, Strategy};
use interloper_std::hint::spin_loop;
use interloper_std::sync::Arc;
use interloper_std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use interloper_std::thread;

use crate::continuing::{Continued, check_what_learns};
use crate::freedoms::config;

const HINTS: Freedoms = Freedoms::NONE.with(Freedom::Hints, 2);

/// What a program gives in all its executions that count (`None`: its tasks wait for ever), and what the search says of itself.
#[track_caller]
fn results<T: Ord>(program: impl Fn() -> T) -> (BTreeSet<Option<T>>, Exploration) {
    const MOST: u64 = 20_000;
    let (seen, exploration) = results_of(MOST, &program);
    assert!(exploration.traces + exploration.redundant < MOST, "{exploration:?}");
    (seen, exploration)
}

/// The same of so many executions at most. It is compiled once for each type of results, and not for each program.
fn results_of<T: Ord>(most: u64, program: &dyn Fn() -> T) -> (BTreeSet<Option<T>>, Exploration) {
    let mut search = Exhaustive::new();
    let seen = results_by(most, program, &mut search);
    // Another process continues the search after each execution.
    let mut continued = Continued::new(Exhaustive::new);
    assert!(results_by(most, program, &mut continued) == seen);
    assert_eq!(continued.strategy().exploration(), search.exploration());
    // A loop that others never let end makes long executions, and a search of all preemptions in them is too large to be kept.
    check_what_learns(&Config { livelock_rounds: 3, step_bound: 2_000, ..config(HINTS) }, &|| drop(program()));
    (seen, search.exploration().clone())
}

/// All results of the executions without stale accesses where memory is weak, in so many executions.
#[track_caller]
fn check_first_level<T: Ord + Clone + std::fmt::Debug>(
    program: impl Fn() -> T,
    expected: &[T],
    traces: RangeInclusive<u64>,
) {
    let mut search = Exhaustive::new().with_stale(0..1);
    let seen = results_in(HINTS.with(Freedom::Memory, u32::MAX), 20_000, &program, &mut search);
    let exploration = search.exploration();
    assert_eq!(seen, expected.iter().cloned().map(Some).collect(), "{exploration:?}");
    assert!(traces.contains(&(exploration.traces + exploration.redundant)), "{exploration:?}");
    assert_eq!((exploration.complete, exploration.older), (true, Some(0)), "{exploration:?}");
}

fn results_by<T: Ord>(most: u64, program: &dyn Fn() -> T, search: &mut dyn Strategy) -> BTreeSet<Option<T>> {
    results_in(HINTS, most, program, search)
}

fn results_in<T: Ord>(
    freedoms: Freedoms,
    most: u64,
    program: &dyn Fn() -> T,
    search: &mut dyn Strategy,
) -> BTreeSet<Option<T>> {
    let (seen, returned) = (RefCell::new(BTreeSet::new()), RefCell::new(None));
    let mut engine = Engine::new(Config { livelock_rounds: 3, ..config(freedoms) });
    engine.explore(
        search,
        Executions::AtMost(most),
        || {
            returned.take();
            returned.replace(Some(program()));
        },
        |_, execution| {
            assert!(matches!(execution.end, End::Finished | End::Livelock(_)), "{:?}", execution.end);
            let result = returned.take().filter(|_| execution.end.is_finished());
            seen.borrow_mut().insert(result);
            ControlFlow::<()>::Continue(())
        },
    );
    seen.take()
}

/// All results, in so many executions, each with a trace of its own.
#[track_caller]
fn check<T: Ord + Clone + std::fmt::Debug>(program: impl Fn() -> T, expected: &[T], traces: u64) {
    let (seen, exploration) = results(program);
    assert_eq!(seen, expected.iter().cloned().map(Some).collect(), "{exploration:?}");
    assert_eq!((exploration.traces, exploration.redundant), (traces, 0), "{exploration:?}");
    assert!(exploration.complete, "{exploration:?}");
}

fn no_hint() {}

fn yields() {
    thread::yield_now();
}

fn spins() {
    spin_loop();
}

/// Backs off between two looks.
fn spins_often() {
    (0..8).for_each(|_| spin_loop());
}

/// Ways to say that a loop waits.
const WAYS: [fn(); 3] = [yields, spins, spins_often];

/// All results of a program whose loops say nothing. Each trace without a round in vain is explored, and some of those in which the
/// first round of a loop is in vain: the compiler may have the first round begin in another local state than the further ones.
#[track_caller]
fn check_silent<T: Ord + Clone + std::fmt::Debug>(
    program: impl Fn() -> T,
    expected: &[T],
    traces: RangeInclusive<u64>,
) {
    let (seen, exploration) = results(program);
    assert_eq!(seen, expected.iter().cloned().map(Some).collect(), "{exploration:?}");
    assert!(traces.contains(&(exploration.traces + exploration.redundant)), "{exploration:?}");
    assert!(exploration.complete, "{exploration:?}");
}

fn atomics<const COUNT: usize>() -> Arc<[AtomicU32; COUNT]> {
    let atomics = Arc::new([const { AtomicU32::new(0) }; COUNT]);
    // They have the same numbers in all executions.
    atomics.iter().for_each(|atomic| assert_eq!(atomic.load(SeqCst), 0));
    atomics
}

/// Runs the same task several times at once, and gives what each of them gives.
fn all<const TASKS: usize>(task: impl Fn(u32) -> u32 + Clone + Send + Sync + 'static) -> Vec<u32> {
    let start = |number: usize| {
        let task = task.clone();
        thread::spawn(move || task(number as u32))
    };
    let tasks: Vec<_> = (0..TASKS).map(start).collect();
    tasks.into_iter().map(|task| task.join().unwrap()).collect()
}

fn wait_for_a_flag(hint: fn()) {
    let flag = atomics::<1>();
    let other = flag.clone();
    let child = thread::spawn(move || other[0].store(1, SeqCst));
    while flag[0].load(SeqCst) == 0 {
        hint();
    }
    child.join().unwrap();
}

#[test]
fn a_flag_is_waited_for_once() {
    for hint in WAYS {
        // The look that sees the flag comes after the store.
        check(|| wait_for_a_flag(hint), &[()], 1);
    }
    // Perhaps a look in vain comes before the store.
    check_silent(|| wait_for_a_flag(no_hint), &[()], 1..=2);
}

fn wait_for_two_flags(hint: fn(), both_at_once: bool) {
    let flags = atomics::<2>();
    let setters = [0, 1].map(|which: usize| {
        let flags = flags.clone();
        thread::spawn(move || flags[which].store(1, SeqCst))
    });
    let is_set = |which: usize| flags[which].load(SeqCst) == 1;
    if both_at_once {
        while !(is_set(0) && is_set(1)) {
            hint();
        }
    } else {
        while !is_set(0) {
            hint();
        }
        while !is_set(1) {
            hint();
        }
    }
    setters.into_iter().for_each(|setter| setter.join().unwrap());
}

#[test]
fn two_flags_are_waited_for_once() {
    for hint in WAYS {
        // One look at each, after its store.
        check(|| wait_for_two_flags(hint, true), &[()], 1);
        check(|| wait_for_two_flags(hint, false), &[()], 1);
    }
    // The first round may be in vain after one look or after two.
    check_silent(|| wait_for_two_flags(no_hint, true), &[()], 1..=3);
    // The first round of each loop may be in vain. The same lines look in both loops, so only local states tell them apart.
    check_silent(|| wait_for_two_flags(no_hint, false), &[()], 1..=4);
}

/// Gives in which order the tasks were in the lock.
fn under_ticket_lock<const TASKS: usize>(hint: fn()) -> Vec<u32> {
    let lock = atomics::<3>();
    all::<TASKS>(move |_| {
        let [next, serving, inside] = &*lock;
        let ticket = next.fetch_add(1, SeqCst);
        while serving.load(SeqCst) != ticket {
            hint();
        }
        let order = inside.load(SeqCst);
        inside.store(order + 1, SeqCst);
        serving.store(ticket + 1, SeqCst);
        order
    })
}

fn under_spinlock<const TASKS: usize>(hint: fn()) -> Vec<u32> {
    let lock = atomics::<2>();
    all::<TASKS>(move |_| {
        let [taken, inside] = &*lock;
        while taken.compare_exchange(0, 1, SeqCst, SeqCst).is_err() {
            hint();
        }
        let order = inside.load(SeqCst);
        inside.store(order + 1, SeqCst);
        taken.store(0, SeqCst);
        order
    })
}

fn under_swap<const TASKS: usize>(hint: fn()) -> Vec<u32> {
    let lock = atomics::<2>();
    all::<TASKS>(move |_| {
        let [taken, inside] = &*lock;
        while taken.swap(1, SeqCst) == 1 {
            hint();
        }
        let order = inside.load(SeqCst);
        inside.store(order + 1, SeqCst);
        taken.store(0, SeqCst);
        order
    })
}

/// A look before each attempt.
fn under_patient_spinlock<const TASKS: usize>(hint: fn()) -> Vec<u32> {
    let lock = atomics::<2>();
    all::<TASKS>(move |_| {
        let [taken, inside] = &*lock;
        loop {
            while taken.load(SeqCst) == 1 {
                hint();
            }
            if taken.compare_exchange(0, 1, SeqCst, SeqCst).is_ok() {
                break;
            }
        }
        let order = inside.load(SeqCst);
        inside.store(order + 1, SeqCst);
        taken.store(0, SeqCst);
        order
    })
}

#[test]
fn a_lock_has_as_many_executions_as_orders() {
    let two = [vec![0, 1], vec![1, 0]];
    let three = [vec![0, 1, 2], vec![0, 2, 1], vec![1, 0, 2], vec![1, 2, 0], vec![2, 0, 1], vec![2, 1, 0]];
    for hint in WAYS {
        check(|| under_ticket_lock::<2>(hint), &two, 2);
        check(|| under_spinlock::<2>(hint), &two, 2);
        check(|| under_swap::<2>(hint), &two, 2);
        check(|| under_ticket_lock::<3>(hint), &three, 6);
        check(|| under_spinlock::<3>(hint), &three, 6);
        check(|| under_swap::<3>(hint), &three, 6);
    }
    // In each order, the first look of the second task may be in vain, and that of the third one while the first or the second one
    // has the lock.
    // Two attempts in vain while the first task has the lock may come in either order.
    check_silent(|| under_ticket_lock::<2>(no_hint), &two, 2..=4);
    check_silent(|| under_spinlock::<2>(no_hint), &two, 2..=4);
    check_silent(|| under_swap::<2>(no_hint), &two, 2..=4);
    check_silent(|| under_ticket_lock::<3>(no_hint), &three, 6..=36);
    check_silent(|| under_spinlock::<3>(no_hint), &three, 6..=42);
    check_silent(|| under_swap::<3>(no_hint), &three, 6..=42);
}

#[test]
fn where_memory_is_weak_the_executions_without_stale_accesses_are_as_many() {
    let two = [vec![0, 1], vec![1, 0]];
    let three = [vec![0, 1, 2], vec![0, 2, 1], vec![1, 0, 2], vec![1, 2, 0], vec![2, 0, 1], vec![2, 1, 0]];
    for hint in WAYS {
        check_first_level(|| under_spinlock::<2>(hint), &two, 2..=2);
        check_first_level(|| under_ticket_lock::<3>(hint), &three, 6..=6);
    }
    check_first_level(|| under_spinlock::<2>(no_hint), &two, 2..=4);
    check_first_level(|| under_ticket_lock::<3>(no_hint), &three, 6..=36);
}

/// No look that finds the lock taken adds an execution, but one that finds it free is followed by an attempt.
#[test]
fn a_look_before_each_attempt_can_be_overtaken() {
    let two = [vec![0, 1], vec![1, 0]];
    for hint in WAYS {
        // The second task looks after the first one has given the lock back; or it looks before the first one has taken it, and
        // its attempt comes before the first one gives it back, and fails, or after that. Each of the two can be the first.
        check(|| under_patient_spinlock::<2>(hint), &two, 6);
    }
}

fn wait_for_a_count(hint: fn(), least: u32) -> u32 {
    let counter = atomics::<1>();
    let adders = [(); 2].map(|()| {
        let counter = counter.clone();
        thread::spawn(move || counter[0].fetch_add(1, SeqCst))
    });
    let seen = loop {
        let seen = counter[0].load(SeqCst);
        if seen >= least {
            break seen;
        }
        hint();
    };
    adders.into_iter().for_each(|adder| assert!(adder.join().unwrap() < 2));
    seen
}

#[test]
fn a_counter_is_waited_for_once_for_each_order() {
    for hint in WAYS {
        // The two additions in both orders, and then the look.
        check(|| wait_for_a_count(hint, 2), &[2], 2);
        // The look comes after the first one or after both.
        check(|| wait_for_a_count(hint, 1), &[1, 2], 4);
        // No round is in vain: before, between and after.
        check(|| wait_for_a_count(hint, 0), &[0, 1, 2], 6);
    }
    // The first look may see nothing, or one addition.
    check_silent(|| wait_for_a_count(no_hint, 2), &[2], 2..=6);
    check_silent(|| wait_for_a_count(no_hint, 1), &[1, 2], 4..=8);
    check(|| wait_for_a_count(no_hint, 0), &[0, 1, 2], 6);
}

#[test]
fn a_loop_that_gives_up_is_no_loop_that_waits() {
    for rounds in [1, 2, 3, 20, 40] {
        let program = |hint: fn()| {
            move || {
                let flag = atomics::<1>();
                let other = flag.clone();
                let child = thread::spawn(move || other[0].store(1, SeqCst));
                let round = (0..rounds).find(|_| {
                    let is_set = flag[0].load(SeqCst) == 1;
                    if !is_set {
                        hint();
                    }
                    is_set
                });
                child.join().unwrap();
                round
            }
        };
        if rounds < 32 {
            // The store comes before one of the looks or after all of them.
            let expected: Vec<Option<u32>> = (0..rounds).map(Some).chain([None]).collect();
            check(program(no_hint), &expected, u64::from(rounds) + 1);
        }
        for hint in WAYS {
            let (seen, _) = results(program(hint));
            assert!(seen.contains(&Some(None)) && seen.contains(&Some(Some(0))), "{rounds} {seen:?}");
        }
    }
}

#[test]
fn a_loop_that_writes_is_no_loop_that_waits() {
    // The flag is set before one of three looks or after all of them, and the number of additions shows before which.
    let program = || {
        let [flag, count] = [atomics::<1>(), atomics::<1>()];
        let other = flag.clone();
        let child = thread::spawn(move || other[0].store(1, SeqCst));
        for _ in 0..3 {
            if flag[0].load(SeqCst) == 1 {
                break;
            }
            count[0].fetch_add(1, SeqCst);
        }
        child.join().unwrap();
        count[0].load(SeqCst)
    };
    check(program, &[0, 1, 2, 3], 4);
    // Without an end to its patience, somebody else may see any number. The search does not call itself complete.
    let program = |hint: fn()| {
        move || {
            let [flag, count] = [atomics::<1>(), atomics::<1>()];
            let other = (flag.clone(), count.clone());
            let child = thread::spawn(move || {
                let seen = other.1[0].load(SeqCst);
                other.0[0].store(1, SeqCst);
                seen
            });
            while flag[0].load(SeqCst) == 0 {
                count[0].fetch_add(1, SeqCst);
                hint();
            }
            child.join().unwrap()
        }
    };
    for hint in WAYS {
        let (seen, exploration) = results_of(500, &program(hint));
        assert!(seen.len() > 1 && exploration.probes < 5 && !exploration.complete, "{seen:?}");
    }
}

#[test]
fn what_is_waited_for_in_vain_is_found() {
    let silent: (fn(), u64) = (no_hint, 4);
    for (hint, most) in WAYS.map(|hint| (hint, 2)).into_iter().chain([silent]) {
        let wait = move |atomic: &AtomicU32| {
            while atomic.load(SeqCst) != 1 {
                hint();
            }
        };
        // Nobody sets it.
        let (seen, exploration) = results(|| wait(&atomics::<1>()[0]));
        assert_eq!((seen, exploration.traces), (BTreeSet::from([None]), 1), "{exploration:?}");
        // It is set for a moment only: the look comes between the stores, or nothing is ever seen.
        let (seen, exploration) = results(|| {
            let flag = atomics::<1>();
            let other = flag.clone();
            let child = thread::spawn(move || {
                other[0].store(1, SeqCst);
                other[0].store(0, SeqCst);
            });
            wait(&flag[0]);
            child.join().unwrap();
        });
        assert_eq!(seen, BTreeSet::from([None, Some(())]), "{exploration:?}");
        // Without a hint, a look before the two stores may come before either.
        assert!((2..=most).contains(&exploration.traces), "{exploration:?}");
        assert_eq!(exploration.cut, Some(Cut::Livelock), "{exploration:?}");
        // Two that wait for each other.
        let (seen, exploration) = results(|| {
            let flags = atomics::<2>();
            let other = flags.clone();
            let child = thread::spawn(move || {
                wait(&other[0]);
                other[1].store(1, SeqCst);
            });
            wait(&flags[1]);
            flags[0].store(1, SeqCst);
            child.join().unwrap();
        });
        assert_eq!((seen, exploration.traces), (BTreeSet::from([None]), 1), "{exploration:?}");
    }
}

fn remember_whether_it_waited(hint: fn()) -> bool {
    let flag = atomics::<1>();
    let other = flag.clone();
    let child = thread::spawn(move || other[0].store(1, SeqCst));
    let mut waited = false;
    while flag[0].load(SeqCst) == 0 {
        waited = true;
        hint();
    }
    child.join().unwrap();
    waited
}

/// The limit of the method: where there is a hint, the engine does not see what a task remembers for itself.
#[test]
fn a_task_that_remembers_that_it_had_to_wait_is_seen_as_one_that_had_not() {
    check(|| remember_whether_it_waited(spins), &[false], 1);
}

/// Without a hint, the local state says what the task remembers: the round in which that changes is not in vain.
#[test]
fn what_a_task_remembers_is_seen_where_there_is_no_hint() {
    check(|| remember_whether_it_waited(no_hint), &[false, true], 2);
    // It counts its rounds and gives up after twenty: the store comes before one of the 21 looks, or after all.
    let counts = || {
        let flag = atomics::<1>();
        let other = flag.clone();
        let child = thread::spawn(move || other[0].store(1, SeqCst));
        let mut rounds = 0;
        while flag[0].load(SeqCst) == 0 && rounds < 20 {
            rounds += 1;
        }
        child.join().unwrap();
        rounds
    };
    check(counts, &(0..=20).collect::<Vec<_>>(), 22);
}
