//! The small programs of SCTBench (its set CS) whose difficulty grows with the number of threads, and some easy ones.

use interloper::Value;

use super::platform::sync::atomic::{AtomicI64, Ordering::SeqCst};
use super::platform::sync::{Arc, Mutex};
use super::platform::thread;
use super::{Bug, Program, Suite, done};

const SUITE: Suite = Suite("SCTBench, CS");

const REORDER: &str = "Threads set a and then b; others look at both. The bug needs a look after some thread has set a \
                       and before any thread has set b.";
const TWO_STAGE: &str = "Threads set a value, and then a second one computed from it, each under its own lock. The bug \
                         needs a reader between the two, before any thread has set the second one.";

pub(super) fn programs() -> Vec<Program> {
    let reorder = |name, body| SUITE.bad(name, Bug::Panic("a and b do not fit"), REORDER, body);
    let two_stage = |name, body| SUITE.bad(name, Bug::Panic("the values do not fit"), TWO_STAGE, body);
    vec![
        reorder("reorder-3", || run_reorder(2, 1, false)),
        reorder("reorder-4", || run_reorder(3, 1, false)),
        reorder("reorder-5", || run_reorder(4, 1, false)),
        reorder("reorder-10", || run_reorder(9, 1, false)),
        reorder("reorder-20", || run_reorder(10, 10, false)),
        reorder("reorder-50", || run_reorder(40, 10, false)),
        reorder("reorder-100", || run_reorder(99, 1, false)),
        SUITE.good("reorder-10-in-order", "Sets b first, and the reader looks at a first.", || run_reorder(9, 1, true)),
        two_stage("twostage", || run_two_stage(1, 1, false)),
        two_stage("twostage-20", || run_two_stage(10, 10, false)),
        two_stage("twostage-50", || run_two_stage(40, 10, false)),
        two_stage("twostage-100", || run_two_stage(99, 1, false)),
        SUITE.good("twostage-20-one-section", "Sets and reads both values in one section.", || {
            run_two_stage(10, 10, true)
        }),
        SUITE.bad(
            "wronglock",
            Bug::Panic("the value has changed"),
            "One thread increments a counter under a lock, seven others under another lock.",
            || wrong_lock(7, false),
        ),
        SUITE.bad(
            "wronglock-3",
            Bug::Panic("the value has changed"),
            "As wronglock, with three other threads.",
            || wrong_lock(3, false),
        ),
        SUITE.good("wronglock-3-one-lock", "All threads use one lock.", || wrong_lock(3, true)),
        SUITE.bad(
            "token-ring",
            Bug::Panic("the token is lost"),
            "Three threads pass a number on, each once, in whatever order they come.",
            || token_ring(false),
        ),
        SUITE.good("token-ring-joined", "The threads come one after another.", || token_ring(true)),
        SUITE.bad("deadlock01", Bug::Deadlock, "Two threads take two locks, in opposite orders.", || deadlock(false)),
        SUITE.good("deadlock01-in-order", "Two threads take two locks in the same order.", || deadlock(true)),
    ]
}

#[derive(Default)]
struct Pair {
    a: AtomicI64,
    b: AtomicI64,
}

fn run_reorder(setters: usize, checkers: usize, in_order: bool) -> Value {
    let pair = Arc::new(Pair::default());
    let set = |_| {
        let pair = pair.clone();
        thread::spawn(move || pair.set(in_order))
    };
    let setting: Vec<_> = (0..setters).map(set).collect();
    let check = |_| {
        let pair = pair.clone();
        thread::spawn(move || assert!(pair.fits(in_order), "a and b do not fit"))
    };
    let checking: Vec<_> = (0..checkers).map(check).collect();
    setting.into_iter().chain(checking).for_each(|thread| thread.join().unwrap());
    done()
}

impl Pair {
    fn set(&self, in_order: bool) {
        let (first, second) = if in_order { (&self.b, &self.a) } else { (&self.a, &self.b) };
        let [one, other] = if in_order { [-1, 1] } else { [1, -1] };
        first.store(one, SeqCst);
        second.store(other, SeqCst);
    }

    fn fits(&self, in_order: bool) -> bool {
        if in_order {
            // Once a is set, so is b.
            return self.a.load(SeqCst) == 0 || self.b.load(SeqCst) == -1;
        }
        (self.a.load(SeqCst) == 0 && self.b.load(SeqCst) == 0)
            || (self.a.load(SeqCst) == 1 && self.b.load(SeqCst) == -1)
    }
}

#[derive(Default)]
struct Stages {
    first_lock: Mutex<()>,
    second_lock: Mutex<()>,
    first: AtomicI64,
    second: AtomicI64,
}

fn run_two_stage(writers: usize, readers: usize, one_section: bool) -> Value {
    let stages = Arc::new(Stages::default());
    let write = |_| {
        let stages = stages.clone();
        thread::spawn(move || stages.write(one_section))
    };
    let writing: Vec<_> = (0..writers).map(write).collect();
    let read = |_| {
        let stages = stages.clone();
        thread::spawn(move || stages.read(one_section))
    };
    let reading: Vec<_> = (0..readers).map(read).collect();
    writing.into_iter().chain(reading).for_each(|thread| thread.join().unwrap());
    done()
}

impl Stages {
    fn write(&self, one_section: bool) {
        let section = self.first_lock.lock().unwrap();
        self.first.store(1, SeqCst);
        let _kept = one_section.then_some(section);
        let _second = self.second_lock.lock().unwrap();
        self.second.store(self.first.load(SeqCst) + 1, SeqCst);
    }

    fn read(&self, one_section: bool) {
        let section = self.first_lock.lock().unwrap();
        if self.first.load(SeqCst) == 0 {
            return;
        }
        let first = self.first.load(SeqCst);
        let _kept = one_section.then_some(section);
        let second = {
            let _second = self.second_lock.lock().unwrap();
            self.second.load(SeqCst)
        };
        assert!(second == first + 1, "the values do not fit");
    }
}

fn wrong_lock(others: usize, one_lock: bool) -> Value {
    let shared = Arc::new((Mutex::new(()), Mutex::new(()), AtomicI64::new(0)));
    let add = |value: &AtomicI64| {
        let seen = value.load(SeqCst);
        value.store(seen + 1, SeqCst);
        seen
    };
    let checked = shared.clone();
    let first = thread::spawn(move || {
        let (lock, _, value) = &*checked;
        let _section = lock.lock().unwrap();
        let seen = value.load(SeqCst);
        add(value);
        assert!(value.load(SeqCst) == seen + 1, "the value has changed");
    });
    let rest = |_| {
        let shared = shared.clone();
        thread::spawn(move || {
            let (right, wrong, value) = &*shared;
            let _section = if one_lock { right } else { wrong }.lock().unwrap();
            add(value);
        })
    };
    let rest: Vec<_> = (0..others).map(rest).collect();
    first.join().unwrap();
    rest.into_iter().for_each(|thread| thread.join().unwrap());
    done()
}

fn token_ring(joined: bool) -> Value {
    let ring = Arc::new(Mutex::new(([1, 2, 1], [false; 3])));
    let shared = ring.clone();
    let look = move || {
        let (values, passed) = &*shared.lock().unwrap();
        let all_passed = passed.iter().all(|passed| *passed);
        assert!(!all_passed || values.iter().all(|value| *value == values[0]), "the token is lost");
    };
    let mut threads = Vec::new();
    for station in 0..3 {
        let shared = ring.clone();
        let pass = move || {
            let (values, passed) = &mut *shared.lock().unwrap();
            let before = values[(station + 2) % 3];
            values[station] = if station == 0 { (before + 1) % 4 } else { before };
            passed[station] = true;
        };
        threads.push(thread::spawn(pass));
        if joined && station < 2 {
            threads.pop().into_iter().for_each(|thread| thread.join().unwrap());
        }
    }
    threads.push(thread::spawn(look));
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    done()
}

fn deadlock(in_order: bool) -> Value {
    let locks = Arc::new((Mutex::new(0), Mutex::new(0)));
    let others = locks.clone();
    let other = thread::spawn(move || {
        let (one, two) = if in_order { (&others.0, &others.1) } else { (&others.1, &others.0) };
        let mut one = one.lock().unwrap();
        *two.lock().unwrap() += 1;
        *one += 1;
    });
    {
        let mut one = locks.0.lock().unwrap();
        *locks.1.lock().unwrap() += 1;
        *one += 1;
    }
    other.join().unwrap();
    done()
}
