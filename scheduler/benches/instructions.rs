//! How many instructions things take: `valgrind --tool=callgrind` over this counts the same in each run, where times depend
//! on the machine and on what else it does.
//!
//! ```text
//! cargo bench -p interloper-scheduler --bench instructions -- NAME ROUNDS
//! ```
//!
//! The instructions of one round are those of 200 rounds less those of 100, by 100.

use std::hint::black_box;
use std::ops::ControlFlow;
use std::panic::Location;

use interloper_scheduler::runtime::{self, Current, Handle, Mode, NewTask, ObjectKind};
use interloper_scheduler::strategies::{Exhaustive, RandomWalk};
use interloper_scheduler::{Config, Engine, Executions, Fingerprints, Freedom, Freedoms, Strategy, Unlock};
use interloper_std::sync::atomic::{AtomicU64, Ordering};
use interloper_std::sync::{Arc, Mutex};
use interloper_std::thread;

/// How often each task takes its lock and gives it back.
const PAIRS: usize = 1000;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let [name, rounds] = &arguments[..] else {
        eprintln!(
            "NAME ROUNDS: lock, recorded, fingerprints, freedoms, withdraw, looks, atomics, weak, own or own-weak, and how often"
        );
        return;
    };
    let rounds: u64 = rounds.parse().expect("a number of rounds");
    let config = Config { unlock: Unlock::Part, ..Config::default() };
    match name.as_str() {
        // As the benchmark of the engine has it.
        "lock" => run(Config { decisions: false, ..config }, rounds, |_| {}),
        "recorded" => run(config, rounds, |_| {}),
        "fingerprints" => {
            let mut fingerprints = Fingerprints::default();
            run(config, rounds, |engine| {
                black_box(engine.fingerprint(&mut fingerprints));
            });
        }
        "freedoms" => run(Config { freedoms: Freedoms::ALL, ..config }, rounds, |_| {}),
        "withdraw" => withdraw(config, rounds),
        "looks" => looks(config, rounds),
        "atomics" => atomics(config, rounds, 1),
        "weak" => atomics(weak(config), rounds, 1),
        "own" => atomics(config, rounds, 0),
        "own-weak" => atomics(weak(config), rounds, 0),
        other => eprintln!("there is no {other}"),
    }
}

/// Two tasks take and give back a lock of their own each, at random, so often.
fn run(config: Config, rounds: u64, mut after: impl FnMut(&Engine)) {
    let (mut engine, mut strategy) = (Engine::new(config), RandomWalk::new(0));
    for _ in 0..rounds {
        strategy.begin();
        black_box(engine.run(&mut strategy, || {
            let task = NewTask { name: None, location: Location::caller() };
            let other = runtime::with(|current| current.runtime().spawn(task, Box::new(work))).unwrap();
            work();
            runtime::with(|current| current.runtime().join(other, Location::caller())).unwrap().unwrap();
        }));
        after(&engine);
    }
}

/// A task checks a balance and then withdraws, while another does the same: most of it is the begin and the end of an execution.
fn withdraw(config: Config, rounds: u64) {
    fn check_then_withdraw(balance: &Mutex<i32>) {
        if *balance.lock().unwrap() >= 70 {
            *balance.lock().unwrap() -= 70;
        }
    }
    let (mut engine, mut strategy) = (Engine::new(config), RandomWalk::new(0));
    for _ in 0..rounds {
        strategy.begin();
        black_box(engine.run(&mut strategy, || {
            let balance = Arc::new(Mutex::new(100));
            let others = balance.clone();
            let other = thread::spawn(move || check_then_withdraw(&others));
            check_then_withdraw(&balance);
            other.join().unwrap();
            assert!(matches!(*balance.lock().unwrap(), 30 | -40));
        }));
    }
}

/// So many executions of an exhaustive search: a task looks at one atomic after the other, and at all of them again, while another
/// changes the last ones.
fn looks(config: Config, rounds: u64) {
    const CHANGED: usize = 8;
    let (mut engine, mut search) = (Engine::new(config), Exhaustive::new());
    engine.explore(
        &mut search,
        Executions::AtMost(rounds),
        || {
            let atomics = Arc::new([const { AtomicU64::new(0) }; PAIRS]);
            let others = atomics.clone();
            let other = thread::spawn(move || {
                others[PAIRS - CHANGED..].iter().for_each(|atomic| atomic.store(1, Ordering::Release));
            });
            for _ in 0..2 {
                black_box(atomics.iter().map(|atomic| atomic.load(Ordering::Acquire)).sum::<u64>());
            }
            other.join().unwrap();
        },
        |_, _| ControlFlow::<()>::Continue(()),
    );
}

fn weak(config: Config) -> Config {
    Config { freedoms: Freedoms::NONE.with(Freedom::Memory, u32::MAX), ..config }
}

/// Two tasks store to an atomic of their own each, at random, so often. After each store they load the atomic that is `further` on:
/// with 1 that of the other task, which they have nearly always not seen, and with 0 their own.
fn atomics(config: Config, rounds: u64, further: usize) {
    let (mut engine, mut strategy) = (Engine::new(config), RandomWalk::new(0));
    for _ in 0..rounds {
        strategy.begin();
        black_box(engine.run(&mut strategy, || {
            let both = Arc::new([AtomicU64::new(0), AtomicU64::new(0)]);
            let others = both.clone();
            let other = thread::spawn(move || exchange(&others[0], &others[further]));
            exchange(&both[1], &both[1 - further]);
            other.join().unwrap();
        }));
    }
}

fn exchange(own: &AtomicU64, other: &AtomicU64) {
    for number in 0..PAIRS as u64 {
        own.store(number, Ordering::Release);
        black_box(other.load(Ordering::Acquire));
    }
}

fn work() {
    let lock = Handle::default();
    for _ in 0..PAIRS {
        let acquire = |current: Current<'_>| {
            let object = lock.object(&current, ObjectKind::Mutex);
            current.runtime().acquire(object, Mode::Exclusive, Location::caller());
        };
        runtime::with(acquire).unwrap();
        let release = |current: Current<'_>| {
            let object = lock.object(&current, ObjectKind::Mutex);
            current.runtime().release(object, Mode::Exclusive, Location::caller());
        };
        runtime::with(release).unwrap();
    }
}
