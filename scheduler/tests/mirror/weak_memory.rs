//! Weak memory through the mirror of `std`: the classical litmus tests, and what std's types order.
//!
//! That the model allows what C++20 allows is tested beside it. Here the engine has to show it all.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};

use interloper_scheduler::decisions::{Decisions, LooseSource, ReplaySource};
use interloper_scheduler::links::{Read, Told, links};
use interloper_scheduler::runtime::{Action, TaskId};
use interloper_scheduler::schedule::{FREE_EVERY, Memory, Plan, Schedule};
use interloper_scheduler::strategies::{Exhaustive, Guided, Pct, Pctwm, Pos, RandomWalk, Selection, Surw};
use interloper_scheduler::{Config, Engine, Execution, Executions, Freedom, Freedoms, Shard, Stopped, Strategy};
use interloper_std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, fence};
use interloper_std::sync::{Arc, Barrier, Condvar, Mutex, Once, OnceLock, RwLock, mpsc};
use interloper_std::thread;

use crate::continuing::{Continued, check_what_learns};

const ANY: Freedoms = Freedoms::NONE.with(Freedom::Memory, u32::MAX);

fn config(freedoms: Freedoms) -> Config {
    Config { freedoms, ..Config::default() }
}

/// What all executions give, how many they were, and whether none was left. The parts of the search give the same.
fn exhaust(freedoms: Freedoms, program: impl Fn() -> String) -> (BTreeSet<String>, u64) {
    exhaust_again_and_again(freedoms, &program)
}

/// The same, compiled once for all programs.
fn exhaust_again_and_again(freedoms: Freedoms, program: &dyn Fn() -> String) -> (BTreeSet<String>, u64) {
    let (outcomes, executions) = exhaust_part(freedoms, program, Shard::WHOLE);
    // Another process continues the search after each execution.
    let mut continued = Continued::new(Exhaustive::new);
    let again = exhaust_by(freedoms, program, &mut continued);
    assert_eq!(again, (outcomes.clone(), executions, Stopped::Exhausted));
    check_what_learns(&config(freedoms), &|| drop(program()));
    for of in [2, 3] {
        let part = |number| exhaust_part(freedoms, program, Shard::new(number, of).unwrap()).0;
        assert_eq!((1..=of).flat_map(part).collect::<BTreeSet<String>>(), outcomes, "{of} parts");
    }
    (outcomes, executions)
}

fn exhaust_part(freedoms: Freedoms, program: &dyn Fn() -> String, shard: Shard) -> (BTreeSet<String>, u64) {
    let mut search = Exhaustive::new().with_shard(shard);
    let (outcomes, executions, stopped) = exhaust_by(freedoms, program, &mut search);
    assert_eq!(stopped, Stopped::Exhausted);
    let all = (freedoms != Freedoms::NONE).then_some(u32::MAX);
    assert_eq!((search.exploration().complete, search.exploration().older), (true, all), "{:?}", search.exploration());
    (outcomes, executions)
}

fn exhaust_by(
    freedoms: Freedoms,
    program: &dyn Fn() -> String,
    search: &mut dyn Strategy,
) -> (BTreeSet<String>, u64, Stopped<()>) {
    let mut engine = Engine::new(config(freedoms));
    let mut outcomes = BTreeSet::new();
    let last = std::cell::RefCell::new(String::new());
    let run = || *last.borrow_mut() = program();
    let explored = engine.explore(search, Executions::AtMost(200_000), run, |_, execution| {
        assert!(execution.end.is_finished(), "{execution:?}");
        outcomes.insert(last.take());
        ControlFlow::<()>::Continue(())
    });
    (outcomes, explored.executions, explored.stopped)
}

/// What a thread does with x, y and z, and what it has read.
type Body = Box<dyn FnOnce([&AtomicU64; 3]) -> String + Send>;

/// Runs each body on a thread of its own; gives what they return, in their order.
fn threads<const N: usize>(bodies: [Body; N]) -> String {
    let shared = Arc::new([const { AtomicU64::new(0) }; 3]);
    let spawn = |body: Body| {
        let shared = shared.clone();
        thread::spawn(move || body(shared.each_ref()))
    };
    bodies.map(spawn).map(|thread| thread.join().unwrap()).concat()
}

macro_rules! threads {
    ($(|$shared:pat_param| $body:expr),* $(,)?) => {
        threads([$(Box::new(move |$shared: [&AtomicU64; 3]| -> String { $body })),*])
    };
}

fn check(name: &str, graphs: u64, program: impl Fn() -> String, expected: &str) {
    let (outcomes, executions) = exhaust(ANY, program);
    assert_eq!(outcomes.into_iter().collect::<Vec<_>>().join(" "), expected, "{name}");
    // The search makes a first round without weak memory.
    assert!(executions <= 2 * graphs, "{name}: {executions} executions for {graphs} execution graphs");
}

fn store_buffering(store: Ordering, load: Ordering) -> impl Fn() -> String {
    move || {
        threads!(
            |[x, y, _]| {
                x.store(1, store);
                y.load(load).to_string()
            },
            |[x, y, _]| {
                y.store(1, store);
                x.load(load).to_string()
            },
        )
    }
}

fn message_passing(store: Ordering, load: Ordering) -> impl Fn() -> String {
    move || {
        threads!(
            |[x, y, _]| {
                x.store(1, Relaxed);
                y.store(1, store);
                String::new()
            },
            |[x, y, _]| format!("{}{}", y.load(load), x.load(Relaxed)),
        )
    }
}

fn iriw(store: Ordering, load: Ordering) -> impl Fn() -> String {
    move || {
        threads!(
            |[x, _, _]| {
                x.store(1, store);
                String::new()
            },
            |[_, y, _]| {
                y.store(1, store);
                String::new()
            },
            |[x, y, _]| format!("{}{}", x.load(load), y.load(load)),
            |[x, y, _]| format!("{}{}", y.load(load), x.load(load)),
        )
    }
}

#[test]
fn litmus_tests() {
    check("SB", 4, store_buffering(Relaxed, Relaxed), "00 01 10 11");
    check("SB of acquire and release", 4, store_buffering(Release, Acquire), "00 01 10 11");
    check("SB that is sequentially consistent", 3, store_buffering(SeqCst, SeqCst), "01 10 11");
    check("MP", 4, message_passing(Relaxed, Relaxed), "00 01 10 11");
    check("MP of acquire and release", 3, message_passing(Release, Acquire), "00 01 11");
    let all: Vec<String> = (0..16).map(|number| format!("{number:04b}")).collect();
    check("IRIW", 16, iriw(Relaxed, Relaxed), &all.join(" "));
    let but_one: Vec<String> = all.iter().filter(|text| *text != "1010").cloned().collect();
    check("IRIW that is sequentially consistent", 15, iriw(SeqCst, SeqCst), &but_one.join(" "));
    let load_buffering = || {
        threads!(
            |[x, y, _]| {
                let read = x.load(Relaxed);
                y.store(1, Relaxed);
                read.to_string()
            },
            |[x, y, _]| {
                let read = y.load(Relaxed);
                x.store(1, Relaxed);
                read.to_string()
            },
        )
    };
    check("LB", 3, load_buffering, "00 01 10");
    let two_writes = || {
        let shared = Arc::new([const { AtomicU64::new(0) }; 2]);
        let write = |first: usize, second: usize| {
            let shared = shared.clone();
            thread::spawn(move || {
                shared[first].store(1, Relaxed);
                shared[second].store(2, Relaxed);
            })
        };
        let threads = [write(0, 1), write(1, 0)];
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        format!("{}{}", shared[0].load(Relaxed), shared[1].load(Relaxed))
    };
    check("2+2W", 4, two_writes, "11 12 21 22");
    let fenced = |order: Ordering| {
        move || {
            threads!(
                |[x, y, _]| {
                    x.store(1, Relaxed);
                    fence(order);
                    y.load(Relaxed).to_string()
                },
                |[x, y, _]| {
                    y.store(1, Relaxed);
                    fence(order);
                    x.load(Relaxed).to_string()
                },
            )
        }
    };
    check("SB with fences", 3, fenced(SeqCst), "01 10 11");
    check("SB with weaker fences", 4, fenced(AcqRel), "00 01 10 11");
    let sequence = |head: Ordering| {
        move || {
            threads!(
                |[x, y, _]| {
                    x.store(1, Relaxed);
                    y.store(1, head);
                    String::new()
                },
                |[_, y, _]| y.fetch_add(1, Relaxed).to_string(),
                |[x, y, _]| format!("{}{}", y.load(Acquire), x.load(Relaxed)),
            )
        }
    };
    let (released, _) = exhaust(ANY, sequence(Release));
    assert!(released.contains("121") && !released.contains("120"), "{released:?}");
    let (relaxed, _) = exhaust(ANY, sequence(Relaxed));
    assert!(relaxed.contains("120"), "{relaxed:?}");
}

/// With sequentially consistent memory nothing of this is seen, and nothing more is done.
#[test]
fn memory_is_sequentially_consistent_without_the_freedom() {
    let joined = |(outcomes, executions): (BTreeSet<String>, u64)| {
        (outcomes.into_iter().collect::<Vec<_>>().join(" "), executions)
    };
    assert_eq!(joined(exhaust(Freedoms::NONE, store_buffering(Relaxed, Relaxed))), ("01 10 11".to_owned(), 3));
    assert_eq!(joined(exhaust(Freedoms::NONE, message_passing(Relaxed, Relaxed))), ("00 01 11".to_owned(), 3));
}

/// Main stores to relaxed data, hands over by `give`, and the other thread, which has taken over by `take`, loads them.
fn passes<T: Send + Sync + 'static>(
    shared: T,
    give: impl Fn(&T) + Send + 'static,
    take: impl Fn(&T) -> bool + Send + Sync + 'static,
) -> String {
    let shared = Arc::new((shared, AtomicU64::new(0)));
    let other = {
        let shared = shared.clone();
        thread::spawn(move || !take(&shared.0) || shared.1.load(Relaxed) == 1)
    };
    shared.1.store(1, Relaxed);
    give(&shared.0);
    other.join().unwrap().to_string()
}

#[track_caller]
fn check_order(is_ordered: bool, program: impl Fn() -> String) {
    let (outcomes, _) = exhaust(ANY, program);
    assert_eq!(!outcomes.contains("false"), is_ordered, "{outcomes:?}");
    assert!(outcomes.contains("true"));
}

#[test]
fn what_std_orders() {
    let flag = |store: Ordering, load: Ordering| {
        move || passes(AtomicBool::new(false), move |flag| flag.store(true, store), move |flag| flag.load(load))
    };
    check_order(true, flag(Release, Acquire));
    check_order(false, flag(Relaxed, Acquire));
    check_order(false, flag(Release, Relaxed));
    let exchange = |success: Ordering, failure: Ordering| {
        move || {
            let take = move |flag: &AtomicUsize| flag.compare_exchange(0, 9, success, failure).is_err();
            passes(AtomicUsize::new(0), |flag| flag.store(1, Release), take)
        }
    };
    check_order(true, exchange(Relaxed, Acquire));
    check_order(false, exchange(AcqRel, Relaxed));
    check_order(true, || passes(Mutex::new(false), |lock| *lock.lock().unwrap() = true, |lock| *lock.lock().unwrap()));
    check_order(true, || {
        passes(RwLock::new(false), |lock| *lock.write().unwrap() = true, |lock| *lock.read().unwrap())
    });
    check_order(true, || {
        let wait = |(lock, condition): &(Mutex<bool>, Condvar)| {
            drop(condition.wait_while(lock.lock().unwrap(), |done| !*done).unwrap());
            true
        };
        let wake = |(lock, condition): &(Mutex<bool>, Condvar)| {
            *lock.lock().unwrap() = true;
            condition.notify_one();
        };
        passes((Mutex::new(false), Condvar::new()), wake, wait)
    });
    check_order(true, || passes(Once::new(), |once| once.call_once(|| ()), Once::is_completed));
    check_order(true, || passes(OnceLock::new(), |once| once.set(()).unwrap(), |once| once.get().is_some()));
    check_order(true, || {
        let (sender, receiver) = mpsc::channel();
        let receiver = Mutex::new(receiver);
        passes(receiver, move |_| sender.send(()).unwrap(), |receiver| receiver.lock().unwrap().recv().is_ok())
    });
    let meet = |barrier: &Barrier| drop(barrier.wait());
    check_order(true, move || {
        passes(Barrier::new(2), meet, |barrier| {
            barrier.wait();
            true
        })
    });
}

#[test]
fn spawn_join_and_unpark_order() {
    check_order(true, || {
        let data = Arc::new(AtomicU64::new(0));
        data.store(1, Relaxed);
        let other = data.clone();
        let read = thread::spawn(move || {
            let read = other.load(Relaxed);
            other.store(2, Relaxed);
            read
        });
        (read.join().unwrap() == 1 && data.load(Relaxed) == 2).to_string()
    });
    check_order(true, || {
        let data = Arc::new(AtomicU64::new(0));
        let other = data.clone();
        let waiter = thread::spawn(move || {
            thread::park();
            other.load(Relaxed) == 1
        });
        data.store(1, Relaxed);
        waiter.thread().unpark();
        waiter.join().unwrap().to_string()
    });
    // One that joins nobody knows nothing.
    check_order(false, || {
        let data = Arc::new((AtomicU64::new(0), AtomicBool::new(false)));
        let other = data.clone();
        let writer = thread::spawn(move || {
            other.0.store(1, Relaxed);
            other.1.store(true, Relaxed);
        });
        let fine = !data.1.load(Relaxed) || data.0.load(Relaxed) == 1;
        writer.join().unwrap();
        fine.to_string()
    });
}

/// What gives a lock back, wakes or ends is part of its own event, and not of the one before it.
#[test]
fn who_takes_over_comes_after_the_very_event_that_gave() {
    let mut engine = Engine::new(config(Freedoms::NONE));
    engine.tell_order(true);
    let program = || {
        let shared = Arc::new((Mutex::new(0), AtomicU64::new(0)));
        let other = shared.clone();
        let thread = thread::spawn(move || {
            thread::park();
            *other.0.lock().unwrap() += 1;
            other.1.store(1, Relaxed);
        });
        *shared.0.lock().unwrap() += 1;
        thread.thread().unpark();
        shared.1.load(Relaxed);
        thread.join().unwrap();
    };
    let mut seen = 0;
    engine.explore(&mut Exhaustive::new(), Executions::AtMost(10_000), program, |engine, execution| {
        assert!(execution.end.is_finished(), "{execution:?}");
        let (trace, edges) = (engine.trace(), engine.happens_before());
        let is_of = |index: &u32, task: u32, action: fn(Action) -> bool| {
            let event = &trace[*index as usize];
            event.task.0 == task && action(event.operation.action)
        };
        let comes_after = |action: fn(Action) -> bool, earlier: fn(Action) -> bool| {
            edges.iter().any(|(event, before)| is_of(event, 1, action) && is_of(before, 0, earlier))
        };
        // The unpark comes after the lock was given back, so its event is the one that is named.
        assert!(comes_after(|action| action == Action::Park, |action| action == Action::Unpark), "{edges:?} {trace:?}");
        assert!(!comes_after(|action| matches!(action, Action::Lock(_)), |_| true), "{edges:?} {trace:?}");
        // Main reads what the other stored without synchronising with it. It knows of it by joining, at the end.
        let of_main = edges.iter().filter(|(event, _)| trace[*event as usize].task == TaskId::MAIN);
        let ends: Vec<Action> = of_main.map(|(_, before)| trace[*before as usize].operation.action).collect();
        assert_eq!(ends, [Action::Exit], "{edges:?} {trace:?}");
        seen += 1;
        ControlFlow::<()>::Continue(())
    });
    assert!(seen > 1);
}

/// The atomic itself holds the newest value: what is read past the atomic operations, and what is written so, is seen.
#[test]
fn what_is_not_an_atomic_operation_sees_the_newest() {
    let (outcomes, _) = exhaust(ANY, || {
        let mut number = AtomicU64::new(1);
        *number.get_mut() = 2;
        let first = number.load(Relaxed);
        let shared = Arc::new(number);
        let other = shared.clone();
        thread::spawn(move || other.fetch_add(1, Relaxed)).join().unwrap();
        let mut number = Arc::into_inner(shared).unwrap();
        format!("{first}{}", *number.get_mut())
    });
    assert_eq!(outcomes.into_iter().collect::<Vec<_>>(), ["23"]);
}

/// A pointer that was published with Relaxed leads to where the old one led, or to the new place.
#[test]
fn pointers_are_read_as_they_were_stored() {
    let (outcomes, _) = exhaust(ANY, || {
        static NUMBERS: [u64; 2] = [7, 8];
        let pointer = Arc::new(AtomicPtr::new((&raw const NUMBERS[0]).cast_mut()));
        let other = pointer.clone();
        let reader = thread::spawn(move || {
            let read = [other.load(Relaxed), other.load(Relaxed)];
            // SAFETY: both places are statics.
            read.map(|pointer| unsafe { *pointer }.to_string()).concat()
        });
        pointer.store((&raw const NUMBERS[1]).cast_mut(), Relaxed);
        reader.join().unwrap()
    });
    assert_eq!(outcomes.into_iter().collect::<Vec<_>>().join(" "), "77 78 88");
}

/// A stale access is kept with what it could have read instead: every store that was made, except for those before what its
/// task has read.
#[test]
fn a_stale_access_tells_what_it_could_have_read() {
    let mut engine = Engine::new(Config { trace: true, ..config(ANY) });
    let program = || {
        let number = Arc::new(AtomicU64::new(0));
        let other = number.clone();
        let writer = thread::spawn(move || (1..=2).for_each(|value| other.store(value, Relaxed)));
        let read = [number.load(Relaxed), number.load(Relaxed)];
        writer.join().unwrap();
        assert!(read[0] <= read[1]);
    };
    // For each of the two loads: how many stores were made before it, and the number of the one that it reads.
    let mut seen = BTreeSet::new();
    engine.explore(&mut RandomWalk::new(1), Executions::AtMost(2_000), program, |engine, execution| {
        let mut stores: Vec<Option<u32>> = vec![None];
        let mut loads: Vec<(usize, usize)> = Vec::new();
        for (index, event) in (0u32..).zip(engine.trace().iter()) {
            match event.operation.action {
                Action::Write => stores.push(Some(index)),
                Action::Read => {
                    let oldest = loads.last().map_or(0, |&(_, read)| read);
                    let of = execution.accesses.iter().find(|(event, _)| *event == index).unwrap().1;
                    let others: Vec<_> = stores[oldest..].iter().rev().filter(|store| **store != of).copied().collect();
                    let older = execution.older.iter().find(|older| older.event == index);
                    assert_eq!(older.is_some(), Some(&of) != stores.last());
                    if let Some(older) = older {
                        let known = Told { accesses: &execution.accesses, older: &execution.older, ..Told::default() };
                        let read = links(&engine.trace(), known, |_| true)[index as usize].reads.clone();
                        assert_eq!(read, Some(Read { from: of, stale: true, others }));
                        assert_eq!(older.of, of);
                    }
                    loads.push((stores.len() - 1, stores.iter().position(|store| *store == of).unwrap()));
                }
                _ => {}
            }
        }
        seen.insert(loads);
        ControlFlow::<()>::Continue(())
    });
    // By hand: with the first load after i stores and the second one after j, they read the stores r <= s, where r <= i and
    // s <= j. (0, 0), (0, 1), (0, 2): 1, 2 and 3 ways; (1, 1), (1, 2), (2, 2): 3, 5 and 6.
    assert_eq!(seen.len(), 20, "{seen:?}");
}

/// Panics if the outcome is the weak one.
fn weak_store_buffering() {
    assert_ne!(store_buffering(Relaxed, Relaxed)(), "00");
}

#[test]
fn random_strategies_find_what_is_weak_and_it_replays_and_shrinks() {
    let strategies: [(&str, Box<dyn Strategy>); 4] = [
        ("random walk", Box::new(RandomWalk::new(1))),
        ("pct", Box::new(Pct::new(1, 3))),
        ("pos", Box::new(Pos::new(1))),
        ("surw", Box::new(Surw::new(1, Selection::OneObject))),
    ];
    for (name, mut strategy) in strategies {
        let mut engine = Engine::new(config(ANY));
        let explored = engine.explore(&mut *strategy, Executions::AtMost(200), weak_store_buffering, |engine, run| {
            match run.end.is_finished() {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break((engine.failing(&run), run)),
            }
        });
        let Stopped::Broken((failing, found)) = explored.stopped else { panic!("{name} finds nothing") };
        assert!(!found.older.is_empty() && found.departures.count(Freedom::Memory) > 0, "{name}: {found:?}");
        let mut engine = Engine::new(config(Freedoms::UNBOUNDED));
        let mut replay = Guided::new(ReplaySource::new(failing.decisions.clone()));
        let again = engine.run(&mut replay, weak_store_buffering);
        assert_eq!(replay.into_source().finish(), Ok(()), "{name}");
        assert_eq!((&again.end, &again.older), (&found.end, &found.older), "{name}");
        let fails = |_: &Engine, execution: &Execution| !execution.end.is_finished();
        let shrunk = engine.shrink(failing, Executions::AtMost(500), weak_store_buffering, fails);
        // The freedom, and one stale read: one of the loads can come before the other thread has stored.
        assert_eq!(shrunk.smallest.decisions.departures(), 2, "{name}: {}", shrunk.smallest.decisions);
        let text: Decisions = shrunk.smallest.decisions.to_string().parse().unwrap();
        let last = engine.run(&mut Guided::new(LooseSource::new(&text)), weak_store_buffering);
        assert_eq!(last.older.len(), 1, "{name}: {last:?}");
        let older = &last.older[0];
        assert_eq!((older.of, older.stores), (None, false), "{name}: the initial value is read");
    }
}

/// How many executions it takes to see this outcome, in the median of 101 seeds.
fn median(schedule: &Schedule, program: impl Fn() -> String, outcome: &str) -> u64 {
    let last = std::cell::RefCell::new(String::new());
    let run = || *last.borrow_mut() = program();
    let freedoms = Memory::Weak.within(schedule.freedoms());
    let mut engine = Engine::new(config(freedoms));
    let mut needed: Vec<u64> = (0..101)
        .map(|seed| {
            let mut search = schedule.search(&Plan { free_every: FREE_EVERY, ..Plan::new(seed) });
            let judge = |_: &Engine, _: Execution| {
                if last.take() == outcome { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            let explored = engine.explore(search.strategy(), Executions::AtMost(2_000), run, judge);
            assert_eq!(explored.stopped, Stopped::Broken(()), "{schedule} with seed {seed}");
            explored.executions
        })
        .collect();
    needed.sort_unstable();
    needed[50]
}

#[test]
fn weak_outcomes_are_seen_soon() {
    let seen = |schedule: &str, sb: u64, relaxed_iriw: u64| {
        let schedule: Schedule = schedule.parse().unwrap();
        let first = median(&schedule, store_buffering(Relaxed, Relaxed), "00");
        let second = median(&schedule, iriw(Relaxed, Relaxed), "1010");
        assert!(first <= sb && second <= relaxed_iriw, "{schedule}: {first} and {second}");
    };
    seen("portfolio", 4, 20);
    seen("pctwm", 4, 20);
    seen("random", 4, 30);
    seen("pos", 4, 30);
}

/// A loop that waits for a relaxed flag comes to its end, whatever it reads.
#[test]
fn a_loop_that_waits_comes_to_its_end() {
    let mut engine = Engine::new(config(ANY));
    let program = || {
        let flag = Arc::new(AtomicBool::new(false));
        let other = flag.clone();
        let waiter = thread::spawn(move || while !other.load(Relaxed) {});
        flag.store(true, Relaxed);
        waiter.join().unwrap();
    };
    let pctwm = Pctwm::starting_at(3, 2, 1, 0);
    let strategies: [Box<dyn Strategy>; 3] = [Box::new(RandomWalk::new(3)), Box::new(Pct::new(3, 2)), Box::new(pctwm)];
    for mut strategy in strategies {
        let explored = engine.explore(&mut *strategy, Executions::AtMost(200), program, |_, execution| {
            if execution.end.is_finished() { ControlFlow::Continue(()) } else { ControlFlow::Break(execution) }
        });
        assert_eq!(explored.stopped, Stopped::Limit);
    }
}

/// The programs whose outcome is the same with any memory: counters, and locks made of atomics.
#[test]
fn what_is_right_stays_right() {
    let counter = || {
        threads!(
            |[x, _, _]| {
                x.fetch_add(1, Relaxed);
                String::new()
            },
            |[x, _, _]| {
                x.fetch_add(1, Relaxed);
                String::new()
            },
            |[_, _, _]| String::new(),
        )
    };
    exhaust(ANY, counter);
    let spin_lock = |unlock: Ordering| {
        move || {
            let shared = Arc::new((AtomicBool::new(false), AtomicU64::new(0)));
            let add = move |shared: &(AtomicBool, AtomicU64)| {
                if shared.0.compare_exchange(false, true, Acquire, Relaxed).is_ok() {
                    shared.1.store(shared.1.load(Relaxed) + 1, Relaxed);
                    shared.0.store(false, unlock);
                    return 1;
                }
                0
            };
            let other = shared.clone();
            let thread = thread::spawn(move || add(&other));
            let added = add(&shared) + thread.join().unwrap();
            (shared.1.load(Relaxed) == added).to_string()
        }
    };
    check_order(true, spin_lock(Release));
    check_order(false, spin_lock(Relaxed));
}
