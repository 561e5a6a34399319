//! Stores before the clock moves on: every task sees them, since on no machine do they stay invisible for so long.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::time::Duration;

use interloper_scheduler::strategies::{Exploration, RandomWalk};
use interloper_scheduler::{Config, End, Engine, Freedom, Freedoms};
use interloper_std::hint::spin_loop;
use interloper_std::sync::Arc;
use interloper_std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use interloper_std::thread::{self, JoinHandle, sleep};
use interloper_std::time::Instant;

use crate::hints::results;
use crate::unbounded::Oldest;

const WEAK: Freedoms = Freedoms::NONE.with(Freedom::Memory, u32::MAX);
const SECOND: Duration = Duration::from_secs(1);

/// What the main task gives that shares two numbers with another one, in all executions of a complete search.
fn outcomes<R: Ord + 'static>(
    freedoms: Freedoms,
    other: fn(&[AtomicU32; 2]),
    main: fn(&[AtomicU32; 2], JoinHandle<()>) -> R,
) -> BTreeSet<R> {
    let (outcomes, exploration) = explored(freedoms, other, main);
    assert!(exploration.complete, "{exploration:?}");
    outcomes
}

fn explored<R: Ord + 'static>(
    freedoms: Freedoms,
    other: fn(&[AtomicU32; 2]),
    main: fn(&[AtomicU32; 2], JoinHandle<()>) -> R,
) -> (BTreeSet<R>, Exploration) {
    results(freedoms, move || {
        let shared = Arc::new([const { AtomicU32::new(0) }; 2]);
        let child = thread::spawn({
            let shared = shared.clone();
            move || other(&shared)
        });
        main(&shared, child)
    })
}

fn stores_one(shared: &[AtomicU32; 2]) {
    shared[0].store(1, Relaxed);
}

#[test]
fn a_sleep_shows_what_was_stored_before_it_ends() {
    let after_sleep = |shared: &[AtomicU32; 2], _| {
        sleep(SECOND);
        shared[0].load(Relaxed)
    };
    assert_eq!(outcomes(WEAK, stores_one, after_sleep), BTreeSet::from([1]));
    let at_once = |shared: &[AtomicU32; 2], _| shared[0].load(Relaxed);
    assert_eq!(outcomes(WEAK, stores_one, at_once), BTreeSet::from([0, 1]));
    let early = WEAK.with(Freedom::Time, 1);
    assert_eq!(outcomes(early, stores_one, after_sleep), BTreeSet::from([0, 1]), "a sleep that may end early");
}

/// It shows it to all tasks, not only to the one that slept.
#[test]
fn the_sleep_of_another_task_shows_it() {
    let sleeps = |shared: &[AtomicU32; 2]| {
        let _ = shared[1].load(Relaxed);
        sleep(SECOND);
        shared[1].store(2, Relaxed);
    };
    // A third task stores while the child sleeps and the main task waits for it.
    let waits = |shared: &[AtomicU32; 2], child: JoinHandle<()>| {
        thread::scope(|scope| {
            scope.spawn(|| stores_one(shared));
            child.join().unwrap();
            shared[0].load(Relaxed)
        })
    };
    assert_eq!(outcomes(WEAK, sleeps, waits), BTreeSet::from([1]));
    let does_not_sleep = |shared: &[AtomicU32; 2]| shared[1].store(2, Relaxed);
    assert_eq!(outcomes(WEAK, does_not_sleep, waits), BTreeSet::from([0, 1]));
}

/// A loop that waits at a hint and has seen a stale store looks again before the clock moves on.
#[test]
fn who_waits_goes_on_before_a_sleep_ends() {
    let waits = |shared: &[AtomicU32; 2]| {
        while shared[0].load(Relaxed) == 0 {
            spin_loop();
        }
        shared[1].store(1, Relaxed);
    };
    let sleeps = |shared: &[AtomicU32; 2], _| {
        shared[0].store(1, Relaxed);
        sleep(SECOND);
        shared[1].load(Relaxed)
    };
    // Hints that return with nothing changed are left out, so the search is not complete.
    assert_eq!(explored(WEAK, waits, sleeps).0, BTreeSet::from([1]));
    let does_not_sleep = |shared: &[AtomicU32; 2], _| {
        shared[0].store(1, Relaxed);
        shared[1].load(Relaxed)
    };
    assert_eq!(explored(WEAK, waits, does_not_sleep).0, BTreeSet::from([0, 1]));
}

/// So does a loop that gives many hints between two looks, as back-off does: hints take no time in comparison with a sleep. The
/// store comes before the first look, or while the task gives its hints.
#[test]
fn who_gives_many_hints_looks_before_a_sleep_ends() {
    let backs_off = |shared: &[AtomicU32; 2]| {
        while shared[0].load(Relaxed) == 0 {
            (0..200).for_each(|_| spin_loop());
        }
        shared[1].store(1, Relaxed);
    };
    let sleeps = |shared: &[AtomicU32; 2], _| {
        shared[0].store(1, Relaxed);
        sleep(SECOND);
        shared[1].load(Relaxed)
    };
    // Where nothing is stored, the clock moves on: nobody waits for the hints of a loop that has looked in vain.
    let sleeps_twice = |shared: &[AtomicU32; 2], _| {
        sleep(SECOND);
        let early = shared[1].load(Relaxed);
        shared[0].store(1, Relaxed);
        sleep(SECOND);
        2 * early + shared[1].load(Relaxed)
    };
    for freedoms in [Freedoms::NONE, WEAK] {
        assert_eq!(explored(freedoms, backs_off, sleeps).0, BTreeSet::from([1]), "{freedoms:?}");
        assert_eq!(explored(freedoms, backs_off, sleeps_twice).0, BTreeSet::from([1]), "{freedoms:?}");
    }
}

/// So does a loop that changes something itself before it waits at a hint. It does so once: the clock need not wait until it has
/// nothing to change.
#[test]
fn who_changes_something_before_a_hint_looks_before_a_sleep_ends() {
    let counts = |shared: &[AtomicU32; 2]| {
        while shared[0].load(Relaxed) == 0 {
            shared[1].fetch_add(2, Relaxed);
            spin_loop();
        }
        shared[1].fetch_or(1, Relaxed);
    };
    for freedoms in [Freedoms::NONE, WEAK] {
        let mut engine = Engine::new(Config { freedoms, ..Config::default() });
        // An exhaustive search takes the loop for one that has no effect on others.
        for (seed, sleeps_before) in (0..500).flat_map(|seed| [(seed, false), (seed, true)]) {
            let seen = Cell::new(0);
            let execution = engine.run(&mut RandomWalk::new(seed), || {
                let shared = Arc::new([const { AtomicU32::new(0) }; 2]);
                let child = thread::spawn({
                    let shared = shared.clone();
                    move || counts(&shared)
                });
                if sleeps_before {
                    sleep(SECOND);
                }
                shared[0].store(1, Relaxed);
                sleep(SECOND);
                seen.set(shared[1].load(Relaxed) & 1);
                child.join().unwrap();
            });
            assert_eq!((execution.end, seen.get()), (End::Finished, 1), "{freedoms:?}, seed {seed}, {sleeps_before}");
        }
    }
}

/// A loop that gives up after some looks, with more and more hints between them as crossbeam's back-off has, does so before a sleep
/// ends: hints and looks take no time in comparison. While it counts its rounds in an atomic, too.
#[test]
fn who_gives_up_does_so_before_a_sleep_ends() {
    fn backs_off(shared: &[AtomicU32; 2], looks: u32, counts: bool) -> bool {
        (0..looks).any(|step| {
            (0..1 << step.min(6)).for_each(|_| spin_loop());
            shared[1].fetch_add(2 * u32::from(counts), Relaxed);
            shared[0].load(Relaxed) == 1
        })
    }
    // Whether the flag was seen, and whether the loop was over before the sleep was.
    fn seen(looks: u32, counts: bool, freedoms: Freedoms) -> BTreeSet<(bool, bool)> {
        let mut engine = Engine::new(Config { freedoms, ..Config::default() });
        let run = |seed| {
            let seen = Cell::new(None);
            let execution = engine.run(&mut RandomWalk::new(seed), || {
                let shared = Arc::new([const { AtomicU32::new(0) }; 2]);
                let over = Arc::new(AtomicU32::new(0));
                let child = thread::spawn({
                    let (shared, over) = (shared.clone(), over.clone());
                    move || {
                        let seen = backs_off(&shared, looks, counts);
                        over.store(1, Relaxed);
                        seen
                    }
                });
                sleep(SECOND);
                let is_over = over.load(Relaxed) == 1;
                shared[0].store(1, Relaxed);
                seen.set(Some((child.join().unwrap(), is_over)));
            });
            assert_eq!(execution.end, End::Finished, "{freedoms:?}, seed {seed}");
            seen.get().expect("the main task has ended")
        };
        (0..100).map(run).collect()
    }
    for (freedoms, counts) in [(Freedoms::NONE, false), (Freedoms::NONE, true), (WEAK, false), (WEAK, true)] {
        assert_eq!(seen(11, counts, freedoms), BTreeSet::from([(false, true)]), "{freedoms:?}, {counts}");
        // A loop that goes on for long is taken to wait, and the clock moves on.
        assert_eq!(seen(100, counts, freedoms), BTreeSet::from([(true, false)]), "{freedoms:?}, {counts}");
    }
}

/// A loop that sees one stale store after the other has seen the newest one before a sleep ends, however many they are.
#[test]
fn who_sees_many_stale_stores_sees_the_newest_one_before_a_sleep_ends() {
    let mut engine = Engine::new(Config { freedoms: WEAK, ..Config::default() });
    for newest in [2, 200] {
        let seen = Cell::new(0);
        let execution = engine.run(&mut Oldest, || {
            let shared = Arc::new([const { AtomicU32::new(0) }; 2]);
            let child = thread::spawn({
                let shared = shared.clone();
                move || {
                    while shared[0].load(Relaxed) != newest {
                        spin_loop();
                    }
                    shared[1].store(1, Relaxed);
                }
            });
            (1..=newest).for_each(|number| shared[0].store(number, Relaxed));
            sleep(SECOND);
            seen.set(shared[1].load(Relaxed));
            child.join().unwrap();
        });
        assert_eq!((execution.end, seen.get()), (End::Finished, 1), "{newest} stores");
    }
}

/// What is stored after the sleep is as weak as ever.
#[test]
fn a_sleep_shows_nothing_that_is_stored_after_it() {
    let stores_late = |shared: &[AtomicU32; 2]| {
        sleep(SECOND);
        shared[0].store(1, Relaxed);
        shared[1].store(1, Relaxed);
    };
    let reads = |shared: &[AtomicU32; 2], _| {
        sleep(SECOND);
        let second = shared[1].load(Relaxed);
        (shared[0].load(Relaxed), second)
    };
    let all = [(0, 0), (0, 1), (1, 0), (1, 1)];
    assert_eq!(outcomes(WEAK, stores_late, reads), BTreeSet::from(all));
}

/// A store after the sleep comes after what was stored before it, and so does a read-modify-write.
#[test]
fn a_store_after_a_sleep_comes_last() {
    let stores = |shared: &[AtomicU32; 2], child: JoinHandle<()>| {
        sleep(SECOND);
        shared[0].store(2, Relaxed);
        child.join().unwrap();
        shared[0].load(Relaxed)
    };
    assert_eq!(outcomes(WEAK, stores_one, stores), BTreeSet::from([2]));
    let at_once = |shared: &[AtomicU32; 2], child: JoinHandle<()>| {
        shared[0].store(2, Relaxed);
        child.join().unwrap();
        shared[0].load(Relaxed)
    };
    assert_eq!(outcomes(WEAK, stores_one, at_once), BTreeSet::from([1, 2]));
    let exchanges = |shared: &[AtomicU32; 2], _| {
        sleep(SECOND);
        shared[0].compare_exchange(0, 2, Relaxed, Relaxed)
    };
    assert_eq!(outcomes(WEAK, stores_one, exchanges), BTreeSet::from([Err(1)]));
}

/// A loop that looks at the clock until a time has passed is a sleep, too, once no other task can go on.
#[test]
fn a_loop_over_the_clock_shows_it() {
    let waits = |shared: &[AtomicU32; 2], child: JoinHandle<()>| {
        while !child.is_finished() {
            thread::yield_now();
        }
        let start = Instant::now();
        while start.elapsed() < SECOND {}
        shared[0].load(Relaxed)
    };
    // No search of such loops is complete: how far a look moves the clock is not a choice.
    assert_eq!(explored(WEAK, stores_one, waits).0, BTreeSet::from([1]));
    let at_once = |shared: &[AtomicU32; 2], child: JoinHandle<()>| {
        while !child.is_finished() {
            thread::yield_now();
        }
        shared[0].load(Relaxed)
    };
    assert_eq!(explored(WEAK, stores_one, at_once).0, BTreeSet::from([0, 1]));
}
