//! Threads that loop until another thread has done something.

use interloper::ToValue;

use super::platform::sync::Arc;
use super::platform::sync::atomic::{AtomicBool, AtomicI64, Ordering::SeqCst};
use super::platform::{beside, thread};
use super::{Bug, CLASSIC, Expected, Family, Program};

const FILE: Family = Family::new(CLASSIC, include_str!("spinning.rs"));

pub(super) fn programs() -> Vec<Program> {
    vec![
        FILE.bad(
            "spin-lock-test-then-set",
            "spin-lock-swap",
            Bug::Panic("two threads are inside"),
            "Waits until the flag is down, and raises it: both threads have seen it down.",
            || spin_lock(test_then_set).to_value(),
        ),
        FILE.good("spin-lock-swap", Expected::Clean, "Raises the flag until it was down before.", || {
            spin_lock(swap).to_value()
        }),
        FILE.bad(
            "handshake-wait-first",
            "handshake-raise-first",
            Bug::Livelock,
            "Each thread waits for the flag of the other one before it raises its own: both go round for ever.",
            || handshake(wait_then_raise).to_value(),
        ),
        FILE.good(
            "handshake-raise-first",
            Expected::Clean,
            "Each thread raises its flag, and waits for that of the other one.",
            || handshake(raise_then_wait).to_value(),
        ),
    ]
}

/// Counts those who are inside, of whom there must be one at most.
#[derive(Default)]
struct Inside(AtomicI64, AtomicI64);

impl Inside {
    fn enter_and_leave(&self) {
        assert!(self.0.fetch_add(1, SeqCst) == 0, "two threads are inside");
        self.1.fetch_add(1, SeqCst);
        self.0.fetch_sub(1, SeqCst);
    }
}

/// Two threads take the lock once; gives how often somebody was inside.
fn spin_lock(lock: fn(&AtomicBool)) -> i64 {
    let shared = Arc::new((AtomicBool::new(false), Inside::default()));
    let visit = move |(flag, inside): &(AtomicBool, Inside)| {
        lock(flag);
        inside.enter_and_leave();
        flag.store(false, SeqCst);
    };
    beside(&shared, visit, visit);
    shared.1.1.load(SeqCst)
}

// case: spin-lock-test-then-set
/// Looks, then raises the flag.
fn test_then_set(flag: &AtomicBool) {
    while flag.load(SeqCst) {
        thread::yield_now();
    }
    flag.store(true, SeqCst);
}
// end

// case: spin-lock-swap
/// Looks and raises the flag.
fn swap(flag: &AtomicBool) {
    while flag.swap(true, SeqCst) {
        thread::yield_now();
    }
}
// end

/// Two threads meet.
fn handshake(meet: fn(own: &AtomicBool, other: &AtomicBool)) -> (bool, bool) {
    let flags = Arc::new((AtomicBool::new(false), AtomicBool::new(false)));
    beside(&flags, |(own, other)| meet(own, other), move |(other, own)| meet(own, other));
    (flags.0.load(SeqCst), flags.1.load(SeqCst))
}

// case: handshake-wait-first
/// Waits, then raises its flag.
fn wait_then_raise(own: &AtomicBool, other: &AtomicBool) {
    while !other.load(SeqCst) {
        thread::yield_now();
    }
    own.store(true, SeqCst);
}
// end

// case: handshake-raise-first
/// Raises its flag, then waits.
fn raise_then_wait(own: &AtomicBool, other: &AtomicBool) {
    own.store(true, SeqCst);
    while !other.load(SeqCst) {
        thread::yield_now();
    }
}
// end
