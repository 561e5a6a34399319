//! Loops that look at a stale store: they wait no longer than std promises, and give up where they can.

use std::collections::BTreeSet;

use interloper_scheduler::strategies::RandomWalk;
use interloper_scheduler::{Config, Engine, Freedom, Freedoms, Strategy};
use interloper_std::hint::spin_loop;
use interloper_std::sync::Arc;
use interloper_std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use interloper_std::thread;

use crate::hints::results;

const WEAK: Freedoms = Freedoms::NONE.with(Freedom::Memory, u32::MAX);

/// The main task waits for a flag that another one sets.
fn waits(hint: fn()) {
    let flag = Arc::new(AtomicU32::new(0));
    let other = flag.clone();
    let child = thread::spawn(move || other.store(1, Relaxed));
    while flag.load(Relaxed) == 0 {
        hint();
    }
    child.join().unwrap();
}

/// The first look comes before the store, or after it and sees it, or after it and does not: three traces. After the hint, the
/// second look comes after the store and sees it. The first two are found again without weak memory, in the first round.
#[test]
fn who_waits_for_a_store_sees_it() {
    let (_, exploration) = results(WEAK, || waits(spin_loop));
    assert_eq!((exploration.traces, exploration.redundant), (3, 2), "{exploration:?}");
}

/// With one round of the hint, the search is complete: it knows that the loop does nothing but wait.
#[test]
fn a_loop_that_only_waits_is_seen_through() {
    let (_, exploration) = results(WEAK.with(Freedom::Hints, 1), || waits(spin_loop));
    assert!(exploration.complete, "{exploration:?}");
}

/// Without a hint, nothing says that the loop waits: it may have given up after more looks than were tried.
#[test]
fn a_loop_without_a_hint_ends_and_the_search_says_that_it_left_something_out() {
    let (_, exploration) = results(WEAK, || waits(|| ()));
    assert!(!exploration.complete && exploration.traces > 3, "{exploration:?}");
}

/// The flag is set before the second number, and both are seen in the other order: only a loop that sees stale zeros gives up then.
#[test]
fn a_bounded_loop_gives_up_on_stale_looks() {
    let gives_up = || {
        let shared = Arc::new((AtomicU32::new(0), AtomicU32::new(0)));
        let other = shared.clone();
        let child = thread::spawn(move || {
            other.0.store(1, Relaxed);
            other.1.store(1, Relaxed);
        });
        let second = shared.1.load(Relaxed);
        let gives_up = (0..3).all(|_| {
            let is_zero = shared.0.load(Relaxed) == 0;
            spin_loop();
            is_zero
        });
        child.join().unwrap();
        (second, gives_up)
    };
    let (seen, exploration) = results(WEAK.with(Freedom::Hints, 2), gives_up);
    let all = [(0, false), (0, true), (1, false), (1, true)];
    assert_eq!(seen, BTreeSet::from(all), "{exploration:?}");
    let (seen, _) = results(Freedoms::NONE.with(Freedom::Hints, 2), gives_up);
    assert_eq!(seen, BTreeSet::from([(0, false), (0, true), (1, false)]), "without weak memory");
}

/// saa backs off like this: twice as many hints after each look.
#[test]
fn more_hints_between_two_looks_than_a_livelock_has_rounds() {
    let freedoms = WEAK.with(Freedom::Hints, 64);
    let mut engine = Engine::new(Config { freedoms, livelock_rounds: 100, ..Config::default() });
    let mut strategy = RandomWalk::new(7);
    for number in 0..300 {
        assert!(strategy.begin());
        let execution = engine.run(&mut strategy, || {
            let flag = Arc::new(AtomicU32::new(0));
            let other = flag.clone();
            let child = thread::spawn(move || other.store(1, Relaxed));
            let mut hints = 2;
            while flag.load(Relaxed) == 0 {
                (0..hints).for_each(|_| spin_loop());
                hints = (2 * hints).min(2048);
            }
            child.join().unwrap();
        });
        assert!(execution.end.is_finished(), "{number}: {:?}", execution.end);
        strategy.end(&execution, &engine.trace());
    }
}
