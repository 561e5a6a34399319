//! The serial orders of small programs, against all their executions.

use std::collections::BTreeSet;
use std::sync::Arc;

use interloper_commutativity::{ToValue, Value};
use interloper_scheduler::strategies::PreemptionBound;
use interloper_scheduler::{Config, Unlock};
use interloper_std::sync::Mutex;
use interloper_std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use interloper_std::thread;

use super::super::mark::{atomic, atomic_returning};
use super::super::outcome::Outcome;
use super::super::runner::{Body, Runner};
use super::super::sections::{Blocks, Passage};
use super::*;

/// One action of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Item {
    Load(usize),
    Store(usize),
    Add(usize),
    /// Takes a lock, loads, and releases the lock.
    Locked(usize),
    /// The steps between two brackets form a block.
    Bracket,
}

const ITEMS: [Item; 8] = [
    Item::Load(0),
    Item::Load(1),
    Item::Store(0),
    Item::Store(1),
    Item::Add(0),
    Item::Locked(0),
    Item::Bracket,
    Item::Bracket,
];

#[derive(Default)]
struct Shared {
    numbers: [AtomicU32; 2],
    lock: Mutex<u32>,
}

impl Shared {
    fn make(&self, item: Item, task: u32) -> u32 {
        match item {
            Item::Load(object) => self.numbers[object].load(SeqCst),
            Item::Store(object) => {
                self.numbers[object].store(task, SeqCst);
                0
            }
            Item::Add(object) => self.numbers[object].fetch_add(10, SeqCst),
            Item::Locked(object) => {
                let mut guard = self.lock.lock().unwrap();
                *guard += 100;
                *guard + self.numbers[object].load(SeqCst)
            }
            Item::Bracket => unreachable!("a bracket is no step"),
        }
    }

    /// Gives what the steps have seen.
    fn run(&self, items: &[Item], task: u32) -> Vec<u32> {
        let parts = items.split(|item| *item == Item::Bracket).enumerate();
        let part = |(index, part): (usize, &[Item])| {
            let make = || part.iter().map(|item| self.make(*item, task)).collect::<Vec<u32>>();
            if index % 2 == 1 && !part.is_empty() { atomic("block", make) } else { make() }
        };
        parts.flat_map(part).collect()
    }
}

/// `touched` says whether the main task has used all objects before.
fn program(tasks: &[Vec<Item>], touched: bool) -> Value {
    let shared = Arc::new(Shared::default());
    if touched {
        shared.run(&[Item::Load(0), Item::Load(1), Item::Locked(0)], 0);
    }
    let spawn = |(index, items): (usize, &Vec<Item>)| {
        let (shared, items) = (Arc::clone(&shared), items.clone());
        thread::spawn(move || shared.run(&items, index as u32 + 1))
    };
    let tasks: Vec<_> = tasks.iter().enumerate().map(spawn).collect();
    let seen: Vec<Vec<u32>> = tasks.into_iter().map(|task| task.join().unwrap()).collect();
    let left: Vec<u32> = shared.numbers.iter().map(|number| number.load(SeqCst)).collect();
    (seen, left).to_value()
}

fn runner(body: Body<'_>) -> Runner<'_> {
    Runner::new(body, Config { unlock: Unlock::Step, ..Config::default() })
}

/// The outcomes of the serial orders, and how many orders ran.
fn serial(body: Body<'_>) -> (BTreeSet<Outcome>, u32) {
    let mut runner = runner(body);
    let mut orders = SerialOrders::new(Rule::default(), Waiting::Refused);
    let (mut outcomes, mut count) = (BTreeSet::new(), 0);
    while let Some(made) = runner.run(&mut orders) {
        match orders.verdict() {
            Serial::Order => {
                outcomes.extend(made.outcome);
                count += 1;
            }
            verdict => assert_ne!(verdict, Serial::Diverged),
        }
    }
    (outcomes, count)
}

/// More preemptions than any of these programs has steps.
const MANY: u32 = 64;

/// The outcomes of all executions in which no block is interrupted.
fn brute_force(body: Body<'_>) -> BTreeSet<Outcome> {
    let mut runner = runner(body);
    let mut all = PreemptionBound::new(MANY);
    let mut outcomes = BTreeSet::new();
    while let Some(made) = runner.run(&mut all) {
        if !is_interrupted(&runner.engine.trace()) {
            outcomes.extend(made.outcome);
        }
    }
    outcomes
}

fn is_interrupted(trace: &[Event]) -> bool {
    let mut tracker = Tracker::new(Rule::new(Blocks::Marked));
    let mut inside: Option<TaskId> = None;
    trace.iter().any(|event| {
        let interrupted = inside.is_some_and(|task| task != event.task);
        inside = match tracker.note(event.task, event.operation) {
            Passage::Enters(_) | Passage::Inside(_) => Some(event.task),
            Passage::Outside | Passage::Leaves(_) | Passage::Cancels(_) => None,
        };
        interrupted
    })
}

#[test]
fn the_same_outcomes_as_among_all_executions() {
    let (mut state, mut several) = (42_u64, 0);
    let mut next = |options: usize| {
        // Knuth's MMIX generator: the same programs each time.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % options
    };
    for _ in 0..60 {
        let mut items = |length: usize| (0..length).map(|_| ITEMS[next(ITEMS.len())]).collect::<Vec<Item>>();
        let tasks = [items(4), items(4)];
        let body = || program(&tasks, false);
        let (outcomes, _) = serial(&body);
        assert_eq!(outcomes, brute_force(&body), "{tasks:?}");
        several += u32::from(outcomes.len() > 1);
    }
    assert!(several > 20, "{several}");
}

/// Blocks that depend on each other have n! orders.
#[test]
fn orders_are_counted_by_hand() {
    let check = |tasks: &[&[Item]], expected: u32| {
        let tasks: Vec<Vec<Item>> = tasks.iter().map(|items| [&[Item::Bracket], *items].concat()).collect();
        assert_eq!(serial(&|| program(&tasks, true)).1, expected, "{tasks:?}");
    };
    let (one, other) = (&[Item::Load(0), Item::Store(0)][..], &[Item::Load(1), Item::Store(1)][..]);
    check(&[one, one], 2);
    check(&[one, one, one], 6);
    // They do not depend on each other.
    check(&[one, other], 1);
    check(&[&[Item::Load(0)], &[Item::Load(0)]], 1);
    // Two by two: 2 · 2.
    check(&[one, one, other, other], 4);
}

/// Objects have numbers in the order of first use. The first block reads one and writes another, the second one reads the
/// latter: by the numbers alone they read the same object, and nothing else.
#[test]
fn the_same_number_can_be_another_object() {
    let tasks = [vec![Item::Bracket, Item::Load(0), Item::Store(1)], vec![Item::Bracket, Item::Load(1)]];
    let body = || program(&tasks, false);
    let (outcomes, _) = serial(&body);
    assert_eq!(outcomes.len(), 2);
    assert_eq!(outcomes, brute_force(&body));
}

/// A block that waits for a step of another task outside any block has one order: after that step.
#[test]
fn a_block_that_waits_comes_behind_what_it_waits_for() {
    let waits = |inside: bool| {
        let ready = Arc::new(AtomicU32::new(0));
        let theirs = Arc::clone(&ready);
        let task = thread::spawn(move || {
            atomic_returning("wait", || {
                while theirs.load(SeqCst) == 0 {
                    thread::yield_now();
                }
                theirs.load(SeqCst)
            })
        });
        let set = || ready.store(1, SeqCst);
        if inside {
            atomic("set", set)
        } else {
            set()
        }
        task.join().unwrap().to_value()
    };
    for inside in [false, true] {
        let (outcomes, _) = serial(&|| waits(inside));
        assert_eq!(outcomes.len(), 1);
    }
}
