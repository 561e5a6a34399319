//! A hint that a thread spins or yields may return although nothing has changed: loops that give up, and loops that wait.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

use interloper_scheduler::strategies::{Exhaustive, Exploration};
use interloper_scheduler::{Engine, Executions, Freedom, Freedoms, Stopped};
use interloper_std::sync::Arc;
use interloper_std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use interloper_std::thread;

use crate::freedoms::{config, found_by_all};

const HINTS: Freedoms = Freedoms::NONE.with(Freedom::Hints, 2);

/// A flag that another task sets; who waits for it gives up after some rounds.
fn gives_up(rounds: usize, hint: fn()) -> impl Fn() -> Option<u32> {
    gives_up_looking(rounds, |flag| flag.load(SeqCst), hint)
}

fn gives_up_looking(rounds: usize, look: fn(&AtomicU32) -> u32, hint: fn()) -> impl Fn() -> Option<u32> {
    move || {
        let flag = Arc::new(AtomicU32::new(0));
        let other = flag.clone();
        let child = thread::spawn(move || other.store(1, SeqCst));
        let mut found = None;
        for _ in 0..rounds {
            if look(&flag) == 1 {
                found = Some(1);
                break;
            }
            hint();
        }
        child.join().unwrap();
        found
    }
}

/// What a program gives in all its executions, and what the search says of itself.
#[track_caller]
pub(crate) fn results<T: Ord>(freedoms: Freedoms, program: impl Fn() -> T) -> (BTreeSet<T>, Exploration) {
    let seen = RefCell::new(BTreeSet::new());
    let mut engine = Engine::new(config(freedoms));
    let mut search = Exhaustive::new();
    let explored = engine.explore(
        &mut search,
        Executions::AtMost(100_000),
        || {
            let result = program();
            seen.borrow_mut().insert(result);
        },
        |_, execution| {
            assert!(execution.end.is_finished(), "{:?}", execution.end);
            ControlFlow::<()>::Continue(())
        },
    );
    assert_eq!(explored.stopped, Stopped::Exhausted);
    (seen.take(), search.exploration().clone())
}

#[test]
fn a_bounded_loop_gives_up() {
    use interloper_scheduler::strategies::Cut;
    let both = BTreeSet::from([None, Some(1)]);
    for hint in [thread::yield_now as fn(), std_hint] {
        for rounds in [2, 3, 4, 20, 500] {
            // Without the freedom the hint waits for the store: that is not all, and the search says so.
            let (seen, exploration) = results(Freedoms::NONE, gives_up(rounds, hint));
            assert_eq!(seen, BTreeSet::from([Some(1)]), "{rounds}");
            assert_eq!((exploration.complete, exploration.cut), (false, Some(Cut::Hints)), "{rounds}");
            let (seen, exploration) = results(HINTS, gives_up(rounds, hint));
            assert_eq!(seen, both, "{rounds}");
            // In the second and the third round others can come between. From the fourth on they cannot, and it is said.
            assert_eq!(exploration.complete, rounds <= 3, "{rounds} {exploration:?}");
            // The store is before the first look, or the first hint waits for it. Or it does not: the store is before the
            // second look, between that and the third one, or after them all.
            assert_eq!(exploration.traces, 2 + rounds.min(3) as u64, "{rounds} {exploration:?}");
            let (seen, exploration) = results(Freedoms::NONE.with(Freedom::Hints, 20), gives_up(rounds, hint));
            assert_eq!(seen, both, "{rounds}");
            assert_eq!(exploration.complete, rounds <= 21, "{rounds} {exploration:?}");
            assert_eq!(exploration.traces, 2 + rounds.min(21) as u64, "{rounds} {exploration:?}");
        }
    }
}

/// A read-modify-write that changes nothing is a look: the burst goes on, and the counts are those of loads.
#[test]
fn a_bounded_loop_of_attempts_gives_up() {
    let looks: [fn(&AtomicU32) -> u32; 3] = [
        |flag| flag.fetch_or(0, SeqCst),
        |flag| flag.compare_exchange(1, 1, SeqCst, SeqCst).unwrap_or_else(|there| there),
        |flag| flag.fetch_max(0, SeqCst),
    ];
    for look in looks {
        for rounds in [2, 3, 4, 20, 500] {
            let (seen, exploration) = results(HINTS, gives_up_looking(rounds, look, std_hint));
            assert_eq!(seen, BTreeSet::from([None, Some(1)]), "{rounds}");
            assert_eq!(exploration.complete, rounds <= 3, "{rounds} {exploration:?}");
            assert_eq!(exploration.traces, 2 + rounds.min(3) as u64, "{rounds} {exploration:?}");
        }
    }
}

/// As thingbuf's `pop`: who finds a place claimed and not yet filled looks whether the queue is empty by a `fetch_or(0)`,
/// spins twice as often in each round, and gives up after three.
#[test]
fn a_loop_that_backs_off_longer_and_longer_gives_up() {
    let program = |rounds: u32| {
        move || {
            let queue = Arc::new([const { AtomicU32::new(0) }; 2]);
            let other = queue.clone();
            let child = thread::spawn(move || {
                let [tail, filled] = &*other;
                tail.fetch_add(1, SeqCst);
                filled.store(1, SeqCst);
            });
            let [tail, filled] = &*queue;
            let mut round = 0;
            let popped = loop {
                if filled.load(SeqCst) == 1 {
                    break "popped";
                }
                if tail.fetch_or(0, SeqCst) == 0 {
                    break "empty";
                }
                if round == rounds {
                    break "busy";
                }
                (0..1 << round.min(3)).for_each(|_| std_hint());
                round += 1;
            };
            child.join().unwrap();
            popped
        }
    };
    // Without the freedom the spinning task waits for the other one.
    assert_eq!(results(Freedoms::NONE, program(3)).0, BTreeSet::from(["empty", "popped"]));
    let (seen, exploration) = results(HINTS, program(3));
    assert_eq!(seen, BTreeSet::from(["busy", "empty", "popped"]), "{exploration:?}");
    assert_eq!(seen, all_that_a_loop_comes_to(program(3)));
    // Without an end to its patience it is never busy.
    assert_eq!(results(HINTS, program(u32::MAX)).0, BTreeSet::from(["empty", "popped"]));
}

#[track_caller]
fn std_hint() {
    if !PLAIN.get() {
        interloper_std::hint::spin_loop();
    }
}

#[test]
fn a_bounded_loop_without_a_hint_gives_up() {
    // After 32 looks the task is taken to wait. It gives up all the same.
    let (seen, exploration) = results(HINTS, gives_up(100, || ()));
    assert_eq!(seen, BTreeSet::from([None, Some(1)]));
    assert!(!exploration.complete, "{exploration:?}");
    let (seen, exploration) = results(HINTS, gives_up(33, || ()));
    assert_eq!(seen, BTreeSet::from([None, Some(1)]));
    assert!(exploration.complete, "{exploration:?}");
}

#[test]
fn a_loop_that_waits_is_explored_in_few_executions_and_is_no_livelock() {
    let program = |yields: bool| {
        move || {
            let (flag, value) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
            let other = (flag.clone(), value.clone());
            let child = thread::spawn(move || {
                other.1.store(1, SeqCst);
                other.0.store(1, SeqCst);
                other.1.store(2, SeqCst);
            });
            while flag.load(SeqCst) == 0 {
                if yields { thread::yield_now() } else { std_hint() }
            }
            let seen = value.load(SeqCst);
            child.join().unwrap();
            seen
        }
    };
    for yields in [false, true] {
        let (seen, exploration) = results(HINTS, program(yields));
        assert_eq!(seen, BTreeSet::from([1, 2]));
        assert!(exploration.complete && exploration.traces < 80, "{yields} {exploration:?}");
    }
}

/// A queue of one place, in the shape of those of published crates: who finds the other in the middle of its operation
/// backs off for some rounds, and then says that it is busy.
struct Slot {
    /// 0: empty, 1: being filled or emptied, 2: full.
    state: AtomicU32,
    value: AtomicU32,
    patience: u32,
}

impl Slot {
    fn enter(&self, from: u32) -> Result<(), &'static str> {
        for _ in 0..self.patience {
            match self.state.load(SeqCst) {
                1 => std_hint(),
                state if state == from => match self.state.compare_exchange(from, 1, SeqCst, SeqCst) {
                    Ok(_) => return Ok(()),
                    Err(_) => std_hint(),
                },
                2 => return Err("full"),
                _ => return Err("empty"),
            }
        }
        Err("busy")
    }

    fn push(&self, value: u32) -> Result<(), &'static str> {
        self.enter(0)?;
        self.value.store(value, SeqCst);
        self.state.store(2, SeqCst);
        Ok(())
    }

    fn pop(&self) -> Result<u32, &'static str> {
        self.enter(2)?;
        let value = self.value.load(SeqCst);
        self.state.store(0, SeqCst);
        Ok(value)
    }
}

/// What the program comes to where a hint is no more than a step that is always enabled, in all its schedules.
fn all_that_a_loop_comes_to<T: Ord>(program: impl Fn() -> T) -> BTreeSet<T> {
    PLAIN.set(true);
    let seen = RefCell::new(BTreeSet::new());
    let mut engine = Engine::new(config(Freedoms::NONE));
    let run = || {
        let result = program();
        seen.borrow_mut().insert(result);
    };
    let judge = |_: &Engine, _| ControlFlow::<()>::Continue(());
    let explored = engine.explore(&mut Exhaustive::new(), Executions::AtMost(1_000_000), run, judge);
    PLAIN.set(false);
    assert_eq!(explored.stopped, Stopped::Exhausted);
    seen.take()
}

std::thread_local! {
    /// Hints are nothing at all.
    static PLAIN: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

#[test]
fn a_queue_that_gives_up_is_busy() {
    let program = |patience: u32| {
        move || {
            let slot = Arc::new(Slot { state: AtomicU32::new(0), value: AtomicU32::new(0), patience });
            let other = slot.clone();
            let child = thread::spawn(move || other.push(1));
            let (pushed, popped) = (slot.push(2), slot.pop());
            (pushed, popped, child.join().unwrap())
        }
    };
    type Results = (Result<(), &'static str>, Result<u32, &'static str>, Result<(), &'static str>);
    let busy = |results: &BTreeSet<Results>| {
        results
            .iter()
            .filter(|(push, pop, other)| *push == Err("busy") || *pop == Err("busy") || *other == Err("busy"))
            .count()
    };
    let (ordinary, exploration) = results(Freedoms::NONE, program(3));
    assert_eq!((busy(&ordinary), exploration.complete), (0, false));
    let (free, exploration) = results(Freedoms::NONE.with(Freedom::Hints, 12), program(3));
    assert!(exploration.complete, "{exploration:?}");
    assert!(free.is_superset(&ordinary), "{free:?} {ordinary:?}");
    // Main finds the other one pushing, and then pops what that has pushed, or is busy again; the other one finds main
    // pushing or popping.
    assert!(free.contains(&(Err("busy"), Ok(1), Ok(()))), "{free:?}");
    assert!(free.contains(&(Err("busy"), Err("busy"), Ok(()))), "{free:?}");
    assert!(free.contains(&(Ok(()), Ok(2), Err("busy"))), "{free:?}");
    // All schedules of the loop as it is, in which each hint goes on, come to no more.
    assert_eq!(free, all_that_a_loop_comes_to(program(3)));
    // With more rounds than others can come between it is found, and said not to be all.
    let (free, exploration) = results(HINTS, program(8));
    assert!(busy(&free) > 0 && !exploration.complete, "{free:?} {exploration:?}");
    // Random strategies find it, too.
    found_by_all(HINTS, || {
        let (pushed, popped, other) = program(8)();
        assert!(pushed != Err("busy") && popped != Err("busy") && other != Err("busy"), "busy");
    });
}

/// Reads again until nobody has written meanwhile: it leaves its loop because of what it sees, not of how often it looked.
#[test]
fn a_loop_that_sees_something_new_is_in_its_first_round_again() {
    let program = || {
        let shared = Arc::new([const { AtomicU32::new(0) }; 3]);
        let other = shared.clone();
        let child = thread::spawn(move || {
            let [version, first, second] = &*other;
            version.store(1, SeqCst);
            first.store(7, SeqCst);
            second.store(7, SeqCst);
            version.store(2, SeqCst);
        });
        let [version, first, second] = &*shared;
        let seen = loop {
            let before = version.load(SeqCst);
            let seen = (first.load(SeqCst), second.load(SeqCst));
            if before % 2 == 0 && version.load(SeqCst) == before {
                break seen;
            }
            std_hint();
        };
        child.join().unwrap();
        seen
    };
    let (seen, exploration) = results(HINTS, program);
    assert_eq!(seen, BTreeSet::from([(0, 0), (7, 7)]));
    assert!(exploration.complete, "{exploration:?}");
}
