//! Variables that are published in the wrong order, and values that are made twice.

use interloper::ToValue;

use super::platform::sync::atomic::{AtomicBool, AtomicI64, Ordering::SeqCst};
use super::platform::sync::{Arc, Mutex};
use super::platform::{atomic, beside, thread};
use super::{Bug, CLASSIC, Expected, Family, Program};

const FILE: Family = Family::new(CLASSIC, include_str!("memory.rs"));

pub(super) fn programs() -> Vec<Program> {
    vec![
        FILE.bad(
            "double-checked-once",
            "double-checked",
            Bug::NotSerialisable,
            "Looks at a flag, takes the lock, and makes the value without looking again: it is made twice, and the \
             two threads have different ones.",
            || double_checked(get_checked_once).to_value(),
        ),
        FILE.bad(
            "double-checked-early",
            "double-checked",
            Bug::Panic("the value is not there yet"),
            "Raises the flag before the value is there: who finds the flag raised finds nothing else.",
            || double_checked(get_published_early).to_value(),
        ),
        FILE.good(
            "double-checked",
            Expected::Error,
            "Looks, takes the lock, looks again, and raises the flag last. That the flag was raised between the two \
             looks is what the second one is for.",
            || double_checked(get_double_checked).to_value(),
        ),
        FILE.bad(
            "once-cell",
            "once-cell-compare-exchange",
            Bug::NotSerialisable,
            "Sets a cell that was empty a moment ago: both threads set it, and the first has a value that is not in \
             the cell.",
            || once_cell(get_or_set).to_value(),
        ),
        FILE.good(
            "once-cell-compare-exchange",
            Expected::Clean,
            "Sets the cell if it is empty, in one operation, or else takes what is there.",
            || once_cell(get_or_exchange).to_value(),
        ),
        FILE.bad(
            "reorder",
            "reorder-locked",
            Bug::Panic("a and b do not fit"),
            "Sets a and then b; the other thread reads both between the two.",
            || reorder().to_value(),
        ),
        FILE.good("reorder-locked", Expected::Clean, "Sets and reads both under a lock.", || {
            reorder_locked().to_value()
        }),
        FILE.bad(
            "seqlock-odd",
            "seqlock",
            Bug::NotSerialisable,
            "A reader that does not mind an odd number: it reads the same number before and after, in the middle of \
             a write, and one half of the old value with one half of the new.",
            || seqlock(Seqlock::read_careless).to_value(),
        ),
        FILE.good(
            "seqlock",
            Expected::Error,
            "A reader that starts again when the number is odd or has changed: it is interrupted, and reads again.",
            || seqlock(Seqlock::read).to_value(),
        ),
        FILE.bad(
            "ring-buffer-published-early",
            "ring-buffer",
            Bug::NotSerialisable,
            "Moves the tail before the slot is written: the reader takes a 0 that no thread put there.",
            || ring_buffer(Ring::push_early).to_value(),
        ),
        FILE.good(
            "ring-buffer",
            Expected::Warning,
            "Writes the slot, then moves the tail. One thread reads and writes each end, and the other thread only \
             reads it, so an interruption does no harm.",
            || ring_buffer(Ring::push).to_value(),
        ),
    ]
}

/// A value that is made when it is first needed.
struct Lazy {
    ready: AtomicBool,
    value: Mutex<Option<i64>>,
    made: AtomicI64,
}

impl Lazy {
    fn make(&self) -> i64 {
        self.made.fetch_add(1, SeqCst) + 1
    }

    /// What is there when the flag is raised.
    fn value(&self) -> i64 {
        self.value.lock().unwrap().expect("the value is not there yet")
    }
}

/// What two threads get.
fn double_checked(get: fn(&Lazy) -> i64) -> (i64, i64) {
    let lazy = Arc::new(Lazy { ready: AtomicBool::new(false), value: Mutex::new(None), made: AtomicI64::new(0) });
    beside(&lazy, get, get)
}

// case: double-checked-once
/// Looks before it takes the lock, only.
fn get_checked_once(lazy: &Lazy) -> i64 {
    atomic("get", || {
        if lazy.ready.load(SeqCst) {
            return lazy.value();
        }
        let mut value = lazy.value.lock().unwrap();
        let made = lazy.make();
        *value = Some(made);
        lazy.ready.store(true, SeqCst);
        made
    })
}
// end

// case: double-checked-early
/// Raises the flag, then sets the value under a lock of its own.
fn get_published_early(lazy: &Lazy) -> i64 {
    atomic("get", || {
        if !lazy.ready.swap(true, SeqCst) {
            let made = lazy.make();
            *lazy.value.lock().unwrap() = Some(made);
        }
        lazy.value()
    })
}
// end

// case: double-checked
/// Looks before and after it takes the lock.
fn get_double_checked(lazy: &Lazy) -> i64 {
    atomic("get", || {
        if lazy.ready.load(SeqCst) {
            return lazy.value();
        }
        let mut value = lazy.value.lock().unwrap();
        if !lazy.ready.load(SeqCst) {
            *value = Some(lazy.make());
            lazy.ready.store(true, SeqCst);
        }
        value.expect("the value is not there yet")
    })
}
// end

/// What two threads get that offer 1 and 2, and what is in the cell; 0 is an empty one.
fn once_cell(get: fn(&AtomicI64, offer: i64) -> i64) -> (i64, i64, i64) {
    let cell = Arc::new(AtomicI64::new(0));
    let (own, other) = beside(&cell, |cell| get(cell, 1), move |cell| get(cell, 2));
    (own, other, cell.load(SeqCst))
}

// case: once-cell
/// Sets the cell if it was empty.
fn get_or_set(cell: &AtomicI64, offer: i64) -> i64 {
    atomic("get_or_set", || match cell.load(SeqCst) {
        0 => {
            cell.store(offer, SeqCst);
            offer
        }
        value => value,
    })
}
// end

// case: once-cell-compare-exchange
/// Sets the cell if it is empty.
fn get_or_exchange(cell: &AtomicI64, offer: i64) -> i64 {
    atomic("get_or_set", || match cell.compare_exchange(0, offer, SeqCst, SeqCst) {
        Ok(_) => offer,
        Err(value) => value,
    })
}
// end

// case: reorder
/// One thread sets, two others look; gives what they see.
fn reorder() -> [(i64, i64); 2] {
    let shared = Arc::new((AtomicI64::new(0), AtomicI64::new(0)));
    let check = |(a, b): &(AtomicI64, AtomicI64)| {
        let seen = atomic("check", || (a.load(SeqCst), b.load(SeqCst)));
        assert!(matches!(seen, (0, 0) | (1, -1)), "a and b do not fit");
        seen
    };
    let set = |(a, b): &(AtomicI64, AtomicI64)| {
        atomic("set", || {
            a.store(1, SeqCst);
            b.store(-1, SeqCst);
        });
    };
    let theirs = Arc::clone(&shared);
    let checker = thread::spawn(move || check(&theirs));
    let (seen, ()) = beside(&shared, check, set);
    [seen, checker.join().unwrap()]
}
// end

// case: reorder-locked
/// One thread sets, two others look; gives what they see.
fn reorder_locked() -> [(i64, i64); 2] {
    let shared = Arc::new(Mutex::new((0, 0)));
    let check = |pair: &Mutex<(i64, i64)>| {
        let seen = atomic("check", || *pair.lock().unwrap());
        assert!(matches!(seen, (0, 0) | (1, -1)), "a and b do not fit");
        seen
    };
    let set = |pair: &Mutex<(i64, i64)>| atomic("set", || *pair.lock().unwrap() = (1, -1));
    let theirs = Arc::clone(&shared);
    let checker = thread::spawn(move || check(&theirs));
    let (seen, ()) = beside(&shared, check, set);
    [seen, checker.join().unwrap()]
}
// end

// case: seqlock
/// Two halves of a value and the number of their version, odd while they are written.
#[derive(Default)]
struct Seqlock {
    number: AtomicI64,
    halves: (AtomicI64, AtomicI64),
}

impl Seqlock {
    fn write(&self, value: i64) {
        atomic("write", || {
            self.number.fetch_add(1, SeqCst);
            self.halves.0.store(value, SeqCst);
            self.halves.1.store(value, SeqCst);
            self.number.fetch_add(1, SeqCst);
        });
    }

    fn halves(&self) -> (i64, i64) {
        (self.halves.0.load(SeqCst), self.halves.1.load(SeqCst))
    }

    fn read(&self) -> (i64, i64) {
        atomic("read", || {
            loop {
                let before = self.number.load(SeqCst);
                let halves = self.halves();
                if before % 2 == 0 && self.number.load(SeqCst) == before {
                    return halves;
                }
                thread::yield_now();
            }
        })
    }
}
// end

// case: seqlock-odd
/// Takes an odd number for a version.
impl Seqlock {
    fn read_careless(&self) -> (i64, i64) {
        atomic("read", || {
            loop {
                let before = self.number.load(SeqCst);
                let halves = self.halves();
                if self.number.load(SeqCst) == before {
                    return halves;
                }
                thread::yield_now();
            }
        })
    }
}
// end

/// What is read beside a write.
fn seqlock(read: fn(&Seqlock) -> (i64, i64)) -> (i64, i64) {
    let lock = Arc::new(Seqlock::default());
    beside(&lock, read, |lock| lock.write(1)).0
}

// case: ring-buffer
/// One thread moves the tail, one the head.
#[derive(Default)]
struct Ring {
    slots: [AtomicI64; 2],
    head: AtomicI64,
    tail: AtomicI64,
}

impl Ring {
    fn slot(&self, index: i64) -> &AtomicI64 {
        &self.slots[index as usize % self.slots.len()]
    }

    /// The place for another element, if there is one.
    fn vacant(&self) -> Option<i64> {
        let tail = self.tail.load(SeqCst);
        (tail - self.head.load(SeqCst) < self.slots.len() as i64).then_some(tail)
    }

    fn push(&self, value: i64) -> bool {
        atomic("push", || {
            let Some(tail) = self.vacant() else { return false };
            self.slot(tail).store(value, SeqCst);
            self.tail.store(tail + 1, SeqCst);
            true
        })
    }

    fn pop(&self) -> Option<i64> {
        atomic("pop", || {
            let head = self.head.load(SeqCst);
            if head == self.tail.load(SeqCst) {
                return None;
            }
            let value = self.slot(head).load(SeqCst);
            self.head.store(head + 1, SeqCst);
            Some(value)
        })
    }
}
// end

// case: ring-buffer-published-early
/// Moves the tail first.
impl Ring {
    fn push_early(&self, value: i64) -> bool {
        atomic("push", || {
            let Some(tail) = self.vacant() else { return false };
            self.tail.store(tail + 1, SeqCst);
            self.slot(tail).store(value, SeqCst);
            true
        })
    }
}
// end

/// Which of the elements 1 and 2 were taken, and whether they were put.
fn ring_buffer(push: fn(&Ring, i64) -> bool) -> ([Option<i64>; 2], [bool; 2]) {
    let ring = Arc::new(Ring::default());
    beside(&ring, |ring| [ring.pop(), ring.pop()], move |ring| [push(ring, 1), push(ring, 2)])
}
