//! What std leaves open is a choice of the execution: how long a sleep takes, whether a wait ends unasked, whether a weak
//! compare-exchange fails, whether writers go before readers.
//!
//! The numbers of traces are derived in the comments. Each program that relies on more than std promises has a twin that
//! does not.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::time::Duration;

use interloper_scheduler::decisions::{Decisions, ReplaySource, mix};
use interloper_scheduler::strategies::{
    AtomFuzzer, Exhaustive, Exploration, Guided, Pct, Pos, PreemptionBound, RandomWalk, Selection, Surw,
};
use interloper_scheduler::{Config, End, Engine, Executions, Failing, Freedom, Freedoms, Stopped, Strategy, Unlock};
use interloper_std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use interloper_std::sync::{Arc, Condvar, Mutex, RwLock};
use interloper_std::thread;
use interloper_std::time::Instant;

const TIME: Freedoms = Freedoms::NONE.with(Freedom::Time, 1);
const WAKEUPS: Freedoms = Freedoms::NONE.with(Freedom::Wakeups, 1);
const WEAK: Freedoms = Freedoms::NONE.with(Freedom::Weak, 1);
const WRITERS: Freedoms = Freedoms::NONE.with(Freedom::Writers, 1);

fn config(freedoms: Freedoms) -> Config {
    Config { freedoms, unlock: Unlock::Part, ..Config::default() }
}

/// Explores a program to its end: how many traces there are, and how many of them fail.
#[track_caller]
fn explore(freedoms: Freedoms, program: impl Fn()) -> (u64, usize) {
    let (exploration, failed) = explore_all(freedoms, program);
    assert_eq!(exploration.redundant, 0, "{exploration:?}");
    (exploration.traces, failed)
}

/// As [`explore`], also where executions turn out to be of traces that were explored already.
#[track_caller]
fn explore_all(freedoms: Freedoms, program: impl Fn()) -> (Exploration, usize) {
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
fn found_by_all(freedoms: Freedoms, program: impl Fn()) {
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
    // The child first, with the notification behind it: 1. Main first: it waits, and the child notifies: 1.
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
    // unpark or behind it: 2.
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
    // The first one ends unasked, before the unpark or behind it; the second one takes the token: 2. The unpark cannot
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
    // Late: 1. Early: the load is before the store or behind it: 2.
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
    let seen = RefCell::new(BTreeSet::new());
    let (exploration, failed) = explore_all(TIME, || {
        let child = thread::spawn(|| thread::sleep(Duration::from_millis(10)));
        let start = Instant::now();
        AtomicU32::new(0).load(SeqCst);
        seen.borrow_mut().insert(start.elapsed());
        child.join().unwrap();
        assert!(start.elapsed() <= Duration::from_millis(10), "the clock goes to the deadline and not further");
    });
    assert_eq!(seen.take(), BTreeSet::from([Duration::ZERO, Duration::from_millis(10)]));
    // The sleep is late, or early and before the look at the clock, or early and behind it. The order of the last two was
    // found with the answer "early"; with the other one it is that of the first.
    assert_eq!((exploration.traces, exploration.redundant, failed), (3, 1, 0));
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
    // One read: the writer comes before it, or behind it.
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

// The exhaustive search against a search of all schedules.

/// What a task does next.
#[derive(Clone, Copy, Debug)]
enum Op {
    Read(usize),
    Write(usize),
    Now,
    Sleep(u64),
    Park,
    ParkAtMost(u64),
    Unpark(usize),
    Shared,
    Exclusive,
    WaitAtMost(u64),
    Wait,
    Notify,
}

struct World {
    start: Instant,
    variables: [AtomicU32; 2],
    lock: RwLock<u32>,
    condition: (Mutex<u32>, Condvar),
}

fn perform(world: &World, threads: &[thread::Thread], ops: &[Op], log: &mut Vec<u64>) {
    for op in ops {
        log.push(match *op {
            Op::Read(variable) => u64::from(world.variables[variable].load(SeqCst)),
            Op::Write(variable) => u64::from(world.variables[variable].swap(1, SeqCst)),
            Op::Now => world.start.elapsed().as_millis() as u64,
            Op::Sleep(time) => {
                thread::sleep(Duration::from_millis(time));
                0
            }
            Op::Park => {
                thread::park();
                0
            }
            Op::ParkAtMost(time) => {
                thread::park_timeout(Duration::from_millis(time));
                0
            }
            Op::Unpark(task) => {
                threads[task % threads.len()].unpark();
                0
            }
            Op::Shared => {
                let outer = world.lock.read().unwrap();
                let value = *outer + *world.lock.read().unwrap();
                u64::from(value)
            }
            Op::Exclusive => {
                let mut guard = world.lock.write().unwrap();
                *guard += 1;
                u64::from(*guard)
            }
            Op::WaitAtMost(time) => {
                let guard = world.condition.0.lock().unwrap();
                let (guard, waited) = world.condition.1.wait_timeout(guard, Duration::from_millis(time)).unwrap();
                u64::from(*guard) * 2 + u64::from(waited.timed_out())
            }
            Op::Wait => u64::from(*world.condition.1.wait(world.condition.0.lock().unwrap()).unwrap()),
            Op::Notify => {
                *world.condition.0.lock().unwrap() += 1;
                world.condition.1.notify_one();
                0
            }
        });
    }
}

/// What a program can come to: what its tasks have seen, or how it got stuck.
fn outcomes(freedoms: Freedoms, strategy: &mut dyn Strategy, rows: &[Vec<Op>]) -> Option<BTreeSet<String>> {
    let logs = Rc::new(RefCell::new(Vec::new()));
    let mut found = BTreeSet::new();
    let program = || {
        let world = Arc::new(World {
            start: Instant::now(),
            variables: Default::default(),
            lock: RwLock::default(),
            condition: Default::default(),
        });
        logs.replace(vec![Vec::new(); rows.len()]);
        // The main task parks and is unparked like the others.
        let main = [thread::current()];
        let children: Vec<_> = rows[1..]
            .iter()
            .map(|row| {
                let (world, row, main) = (world.clone(), row.clone(), main.clone());
                thread::spawn(move || {
                    let mut log = Vec::new();
                    perform(&world, &main, &row, &mut log);
                    log
                })
            })
            .collect();
        let threads: Vec<_> = children.iter().map(|child| child.thread().clone()).collect();
        let mut log = Vec::new();
        perform(&world, &threads, &rows[0], &mut log);
        logs.borrow_mut()[0] = log;
        for (number, child) in children.into_iter().enumerate() {
            logs.borrow_mut()[number + 1] = child.join().unwrap();
        }
    };
    let mut engine = Engine::new(config(freedoms));
    let explored = engine.explore(strategy, Executions::AtMost(40_000), program, |_, execution| {
        let tasks = |tasks: &[interloper_scheduler::TaskReport]| {
            tasks.iter().map(|task| format!("{} {:?}", task.task.0, task.wants.action)).collect::<Vec<_>>()
        };
        let outcome = match &execution.end {
            End::Finished => format!("{:?}", logs.borrow()),
            End::Deadlock(stuck) | End::Leaked(stuck) => format!("stuck: {:?}", tasks(stuck)),
            other => panic!("{other:?}"),
        };
        found.insert(outcome);
        ControlFlow::<()>::Continue(())
    });
    (explored.stopped == Stopped::Exhausted).then_some(found)
}

#[test]
fn an_exhaustive_search_has_all_outcomes_that_there_are() {
    let (mut compared, mut more) = (0, 0);
    for round in 0..160 {
        let mut draws = 0;
        let mut below = |most: u64| {
            draws += 1;
            mix(round, draws) % most
        };
        let tasks = 2 + usize::from(below(3) == 0);
        let length = if tasks == 2 { 3 } else { 2 };
        let mut row = |_| -> Vec<Op> {
            let mut op = |_| match below(12) {
                0 => Op::Read(below(2) as usize),
                1 => Op::Write(below(2) as usize),
                2 => Op::Now,
                3 => Op::Sleep(10 * (1 + below(2))),
                4 => Op::Park,
                5 => Op::ParkAtMost(15),
                6 => Op::Unpark(below(2) as usize),
                7 => Op::Shared,
                8 => Op::Exclusive,
                9 => Op::WaitAtMost(15),
                10 => Op::Wait,
                _ => Op::Notify,
            };
            (0..length).map(&mut op).collect()
        };
        let rows: Vec<Vec<Op>> = (0..tasks).map(&mut row).collect();
        let freedoms = [TIME, WAKEUPS, WRITERS, TIME.with(Freedom::Wakeups, 1).with(Freedom::Writers, 1)];
        let freedoms = freedoms[round as usize % 4];
        // Every schedule with every answer, as far as it can be tried.
        let Some(all) = outcomes(freedoms, &mut PreemptionBound::new(60), &rows) else { continue };
        let mut search = Exhaustive::new();
        let found = outcomes(freedoms, &mut search, &rows).expect("there are fewer traces than schedules");
        assert!(search.exploration().complete, "{:?} {rows:?}", search.exploration());
        assert_eq!(found, all, "{freedoms} {rows:?}");
        compared += 1;
        let ordinary = outcomes(Freedoms::NONE, &mut Exhaustive::new(), &rows).expect("there are fewer");
        assert!(all.is_superset(&ordinary), "{freedoms} {rows:?}: {all:?} {ordinary:?}");
        more += usize::from(all.len() > ordinary.len());
    }
    assert!(compared > 80 && more > 20, "{compared} {more}");
}

// Hints.

const HINTS: Freedoms = Freedoms::NONE.with(Freedom::Hints, 2);

/// A flag that another task sets; who waits for it gives up after some rounds.
fn gives_up(rounds: usize, hint: fn()) -> impl Fn() -> Option<u32> {
    move || {
        let flag = Arc::new(AtomicU32::new(0));
        let other = flag.clone();
        let child = thread::spawn(move || other.store(1, SeqCst));
        let mut found = None;
        for _ in 0..rounds {
            if flag.load(SeqCst) == 1 {
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
fn results<T: Ord>(freedoms: Freedoms, program: impl Fn() -> T) -> (BTreeSet<T>, Exploration) {
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
            // second look, between that and the third one, or behind them all.
            assert_eq!(exploration.traces, 2 + rounds.min(3) as u64, "{rounds} {exploration:?}");
            let (seen, exploration) = results(Freedoms::NONE.with(Freedom::Hints, 20), gives_up(rounds, hint));
            assert_eq!(seen, both, "{rounds}");
            assert_eq!(exploration.complete, rounds <= 21, "{rounds} {exploration:?}");
            assert_eq!(exploration.traces, 2 + rounds.min(21) as u64, "{rounds} {exploration:?}");
        }
    }
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
    let busy = |results: &BTreeSet<(Result<(), &str>, Result<u32, &str>, Result<(), &str>)>| {
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
