//! Locks that are taken with Acquire and given back with Release, or ought to be.
//!
//! A thread that does not get the lock soon goes on without, except where a program says that it spins.

use interloper::ToValue;

use super::platform::sync::Arc;
use super::platform::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use super::platform::{beside, hint};
use super::{Bug, CLASSIC, Expected, Family, Program};

use Ordering::{AcqRel, Acquire, Relaxed, Release};

const FILE: Family = Family::new(CLASSIC, include_str!("locks.rs")).weak_memory();
const MCS: Family = FILE.from("J. M. Mellor-Crummey, M. L. Scott, TOCS 1991").showing("mcs-lock");

const LOST: Bug = Bug::Panic("an increment is lost");

pub(super) fn programs() -> Vec<Program> {
    vec![
        FILE.showing("spin-lock").bad(
            "spin-lock-relaxed-unlock",
            "spin-lock-release",
            LOST,
            "Gives the lock back with Relaxed instead of Release.",
            || spin_lock(Acquire, Relaxed).to_value(),
        ),
        FILE.showing("spin-lock").bad(
            "spin-lock-relaxed-lock",
            "spin-lock-release",
            LOST,
            "Takes the lock with Relaxed instead of Acquire.",
            || spin_lock(Relaxed, Release).to_value(),
        ),
        FILE.showing("spin-lock").good(
            "spin-lock-release",
            Expected::Clean,
            "Takes the lock with Acquire and gives it back with Release.",
            || spin_lock(Acquire, Release).to_value(),
        ),
        FILE.showing("spinning").bad(
            "spinning-lock-relaxed-unlock",
            "spinning-lock-release",
            LOST,
            "Spins until it has the lock, and gives it back with Relaxed instead of Release.",
            || spinning_lock(Relaxed).to_value(),
        ),
        FILE.showing("spinning").good(
            "spinning-lock-release",
            Expected::Clean,
            "Spins until it has the lock, and gives it back with Release.",
            || spinning_lock(Release).to_value(),
        ),
        FILE.showing("spinning-ticket-lock").bad(
            "spinning-ticket-lock-relaxed",
            "spinning-ticket-lock-acquire",
            LOST,
            "Spins until it is its turn, and looks with Relaxed instead of Acquire.",
            || spinning_ticket_lock(Relaxed).to_value(),
        ),
        FILE.showing("spinning-ticket-lock").good(
            "spinning-ticket-lock-acquire",
            Expected::Clean,
            "Spins until it is its turn, and looks with Acquire.",
            || spinning_ticket_lock(Acquire).to_value(),
        ),
        FILE.showing("ticket-lock").bad(
            "ticket-lock-relaxed",
            "ticket-lock-acquire",
            LOST,
            "Looks whether it is its turn with Relaxed instead of Acquire.",
            || ticket_lock(Relaxed).to_value(),
        ),
        FILE.showing("ticket-lock").good(
            "ticket-lock-acquire",
            Expected::Clean,
            "Looks with Acquire whether it is its turn.",
            || ticket_lock(Acquire).to_value(),
        ),
        MCS.bad(
            "mcs-lock-relaxed-hand-over",
            "mcs-lock-release-hand-over",
            LOST,
            "Hands the lock to the next in the queue with Relaxed instead of Release.",
            || mcs_lock(Relaxed).to_value(),
        ),
        MCS.good("mcs-lock-release-hand-over", Expected::Clean, "Hands the lock over with Release.", || {
            mcs_lock(Release).to_value()
        }),
    ]
}

/// What a lock is for: whoever gets it increments this.
#[derive(Default)]
struct Number(AtomicI64);

impl Number {
    /// Gives 1, the number of increments.
    fn increment(&self) -> i64 {
        self.0.store(self.0.load(Relaxed) + 1, Relaxed);
        1
    }

    /// At the end, after increments of both threads.
    fn is(&self, (own, other): (i64, i64)) {
        assert!(self.0.load(Relaxed) == own + other, "an increment is lost");
    }
}

// case: spin-lock
/// Two threads increment a number under a flag, which they try to raise once.
fn spin_lock(takes: Ordering, gives_back: Ordering) {
    let shared: Arc<(AtomicBool, Number)> = Arc::default();
    let try_increment = move |(held, number): &(AtomicBool, Number)| {
        if held.swap(true, takes) {
            return 0;
        }
        let increments = number.increment();
        held.store(false, gives_back);
        increments
    };
    let increments = beside(&shared, try_increment, try_increment);
    shared.1.is(increments);
}
// end

// case: spinning
/// Two threads increment a number under a flag, for which they spin.
fn spinning_lock(gives_back: Ordering) {
    let shared: Arc<(AtomicBool, Number)> = Arc::default();
    let increment = move |(held, number): &(AtomicBool, Number)| {
        while held.compare_exchange_weak(false, true, Acquire, Relaxed).is_err() {
            hint::spin_loop();
        }
        let increments = number.increment();
        held.store(false, gives_back);
        increments
    };
    let increments = beside(&shared, increment, increment);
    shared.1.is(increments);
}
// end

// case: ticket-lock
/// The number of the next one to come, and of the one whose turn it is.
#[derive(Default)]
struct TicketLock {
    next: AtomicUsize,
    serving: AtomicUsize,
}

/// Two threads increment a number under a ticket lock, if it is their turn.
fn ticket_lock(looks: Ordering) {
    let shared: Arc<(TicketLock, Number)> = Arc::default();
    let try_increment = move |(lock, number): &(TicketLock, Number)| {
        let ticket = lock.next.fetch_add(1, Relaxed);
        if lock.serving.load(looks) != ticket {
            return 0;
        }
        let increments = number.increment();
        lock.serving.store(ticket + 1, Release);
        increments
    };
    let increments = beside(&shared, try_increment, try_increment);
    shared.1.is(increments);
}
// end

// case: spinning-ticket-lock
/// Two threads increment a number under a ticket lock, and spin until it is their turn.
fn spinning_ticket_lock(looks: Ordering) {
    let shared: Arc<(TicketLock, Number)> = Arc::default();
    let increment = move |(lock, number): &(TicketLock, Number)| {
        let ticket = lock.next.fetch_add(1, Relaxed);
        while lock.serving.load(looks) != ticket {
            hint::spin_loop();
        }
        let increments = number.increment();
        lock.serving.store(ticket + 1, Release);
        increments
    };
    let increments = beside(&shared, increment, increment);
    shared.1.is(increments);
}
// end

// case: mcs-lock
/// A queue of nodes, one for each thread; 0 is no node.
#[derive(Default)]
struct McsLock {
    tail: AtomicUsize,
    nodes: [Node; 3],
}

#[derive(Default)]
struct Node {
    next: AtomicUsize,
    waits: AtomicBool,
}

impl McsLock {
    /// Stays in the queue, and looks a few times whether it was handed the lock.
    fn try_lock(&self, own: usize) -> bool {
        self.nodes[own].waits.store(true, Relaxed);
        let before = self.tail.swap(own, AcqRel);
        if before == 0 {
            return true;
        }
        self.nodes[before].next.store(own, Release);
        (0..4).any(|_| !self.nodes[own].waits.load(Acquire))
    }

    fn unlock(&self, own: usize, hands_over: Ordering) {
        let next = self.nodes[own].next.load(Acquire);
        if next != 0 {
            self.nodes[next].waits.store(false, hands_over);
        } else {
            // Where it fails, somebody is about to queue behind this node, and does not get the lock.
            let _ = self.tail.compare_exchange(own, 0, Release, Relaxed);
        }
    }
}

/// Two threads increment a number under an MCS lock, if they get it.
fn mcs_lock(hands_over: Ordering) {
    let shared: Arc<(McsLock, Number)> = Arc::default();
    let try_increment = move |(lock, number): &(McsLock, Number), own| {
        if !lock.try_lock(own) {
            return 0;
        }
        let increments = number.increment();
        lock.unlock(own, hands_over);
        increments
    };
    let increments = beside(&shared, move |shared| try_increment(shared, 1), move |shared| try_increment(shared, 2));
    shared.1.is(increments);
}
// end
