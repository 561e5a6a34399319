//! Circuit breakers and shutdowns: a state, and a number or a flag beside it.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Release, SeqCst};

use interloper::collections::{AtomicBool, AtomicI64, AtomicU64, Mutex};

use super::{TwoAtomics, TwoNumbers, method, plain, two_atomics, two_numbers};
use crate::Case;
use crate::cases::{boxed, briefly, from_few_states};
use crate::source::Family;

const STYGIAN_PROXY: Family = Family::new("stygian-proxy 0.17.0", include_str!("breakers.rs"));
const METRICS_LIB: Family = STYGIAN_PROXY.from("metrics-lib 2.0.0");
const PUNCH_KERNEL: Family = STYGIAN_PROXY.from("punch-kernel 1.2.0");
const FASTAPI_CORE: Family = STYGIAN_PROXY.from("fastapi-core 0.5.0");

pub(super) fn cases() -> Vec<Case> {
    vec![
        STYGIAN_PROXY.bad(
            "breaker-success-two-atomics",
            "breaker-success-one-word",
            "Closes a half-open breaker and then forgets its failures, among them one of the closed breaker.",
            || {
                let make = || (AtomicU64::new(HALF_OPEN), AtomicU64::new(0));
                let method = method("record_success", make, record_success).names(["state", "failures"]);
                let method = method.values([CLOSED, OPEN, HALF_OPEN]);
                boxed(briefly(from_few_states(method.beside("record_failure", plain(record_failure)))))
            },
        ),
        STYGIAN_PROXY.good(
            "breaker-success-one-word",
            "Closes a half-open breaker and forgets the failures, which are in the same word.",
            || {
                let method = method("record_success", AtomicU64::default, record_success_in_one_word);
                boxed(method.values([HALF_OPEN * STATE, HALF_OPEN * STATE + 1, OPEN * STATE]))
            },
        ),
        METRICS_LIB.bad(
            "breaker-admit-two-atomics",
            "breaker-admit-locked",
            "Looks at the state of a breaker and then counts a trial call, when the breaker may be closed.",
            || {
                let method = method("is_allowed", two_atomics, is_allowed).names(["state", "trials"]);
                boxed(briefly(from_few_states(method.values([CLOSED, OPEN, HALF_OPEN]))))
            },
        ),
        METRICS_LIB.good(
            "breaker-admit-locked",
            "Looks at the state and counts a trial call with both locked.",
            || {
                let method = method("is_allowed", two_numbers, is_allowed_locked).names(["state", "trials"]);
                boxed(briefly(from_few_states(method.values([CLOSED, OPEN, HALF_OPEN]))))
            },
        ),
        PUNCH_KERNEL.bad(
            "track-request-flag-then-count",
            "track-request-one-word",
            "Counts a request when no shutdown had begun a moment ago: the shutdown has found none and is over.",
            || {
                let make = || (AtomicBool::new(false), AtomicU64::new(0));
                let method = method("track", make, track).names(["stopping", "in_flight"]);
                boxed(briefly(from_few_states(method.beside("stopped", plain(stopped)))))
            },
        ),
        PUNCH_KERNEL.good(
            "track-request-one-word",
            "Counts a request unless a shutdown has begun, which is a bit of the same word.",
            || boxed(method("track", AtomicU64::default, track_in_one_word).values([0, 1])),
        ),
        PUNCH_KERNEL.bad(
            "finish-request-subtract-then-repair",
            "finish-request-checked",
            "Subtracts one request, and stores zero when there was none: others see a number that cannot be.",
            || boxed(method("finish", AtomicI64::default, finish_and_repair).values([0, 1])),
        ),
        PUNCH_KERNEL.good("finish-request-checked", "Subtracts one request if there is one, in one operation.", || {
            boxed(method("finish", AtomicI64::default, finish_checked).values([0, 1]))
        }),
        FASTAPI_CORE.bad(
            "shutdown-load-then-store",
            "shutdown-locked",
            "Begins a shutdown that had not begun a moment ago: a forced one goes back to its first phase.",
            || {
                let make = || (AtomicU64::new(RUNNING), AtomicBool::new(false));
                let method = method("shutdown", make, shutdown).names(["phase", "forced"]);
                let method = method.values([RUNNING, CANCELLING]);
                boxed(briefly(from_few_states(method.beside("force", plain(force)))))
            },
        ),
        FASTAPI_CORE.good("shutdown-locked", "Begins a shutdown, or forces it, with both locked.", || {
            let make = <(Mutex<u64>, Mutex<bool>)>::default;
            let method = method("shutdown", make, shutdown_locked).names(["phase", "forced"]);
            boxed(briefly(from_few_states(method.values([RUNNING, CANCELLING]))))
        }),
    ]
}

/// The states of a breaker.
const CLOSED: u64 = 0;
const OPEN: u64 = 1;
const HALF_OPEN: u64 = 2;

/// So many failures open a breaker, and so many trial calls pass a half-open one.
const THRESHOLD: u64 = 2;
const TRIALS: u64 = 1;

// case: breaker-success-two-atomics
/// A call through the breaker has succeeded.
///
/// stygian-proxy 0.17.0, `CircuitBreaker::record_success`: `state.compare_exchange`, then `failure_count.store(0)`. Not
/// atomic, also seen by the breaker's own `record_failure`: a failure that the closed breaker has counted is set to
/// zero. Two operations: one finds the breaker closed, and one counts. The breaker then opens one failure later than it
/// should.
fn record_success((state, failures): &TwoAtomics, (): ()) {
    if state.compare_exchange(HALF_OPEN, CLOSED, AcqRel, Acquire).is_ok() {
        failures.store(0, Release);
    }
}

/// A call through the breaker has failed.
fn record_failure((state, failures): &TwoAtomics, (): ()) {
    let count = failures.fetch_add(1, AcqRel) + 1;
    let seen = state.load(Acquire);
    if seen == HALF_OPEN || (seen == CLOSED && count >= THRESHOLD) {
        let _ = state.compare_exchange(seen, OPEN, AcqRel, Acquire);
    }
}
// end

/// Where the state begins in a word; below it is the number of failures.
const STATE: u64 = 16;

// case: breaker-success-one-word
/// A call through the breaker has succeeded.
///
/// Atomic: state and failures change in one operation.
fn record_success_in_one_word(word: &AtomicU64, (): ()) {
    let _ = word.fetch_update(AcqRel, Acquire, |word| (word / STATE == HALF_OPEN).then_some(CLOSED * STATE));
}
// end

// case: breaker-admit-two-atomics
/// Whether a call may pass the breaker, whose time to stay open is over.
///
/// metrics-lib 2.0.0, `MetricCircuitBreaker::is_allowed_at` without its clock: `state.load`, `state.compare_exchange`,
/// then a bounded `half_open_calls.fetch_update`. Not atomic: the call is counted as a trial although the breaker was
/// closed after the load. One operation: it closes the open breaker. The crate's own methods do not close an open
/// breaker directly, and as far as docs/COMPOSED.md tried them, they show no violation.
fn is_allowed((state, trials): &TwoAtomics, (): ()) -> bool {
    match state.load(Acquire) {
        CLOSED => return true,
        OPEN => {
            let _ = state.compare_exchange(OPEN, HALF_OPEN, AcqRel, Acquire);
        }
        _ => {}
    }
    trials.fetch_update(AcqRel, Acquire, |made| (made < TRIALS).then_some(made + 1)).is_ok()
}
// end

// case: breaker-admit-locked
/// Whether a call may pass the breaker, whose time to stay open is over.
///
/// Atomic: both are locked.
fn is_allowed_locked((state, trials): &TwoNumbers, (): ()) -> bool {
    let mut state = state.lock().unwrap();
    let mut trials = trials.lock().unwrap();
    if *state == CLOSED {
        return true;
    }
    *state = HALF_OPEN;
    let allowed = *trials < TRIALS;
    *trials += u64::from(allowed);
    allowed
}
// end

// case: track-request-flag-then-count
/// Counts a request; says whether it may go on.
///
/// punch-kernel 1.2.0, `ShutdownCoordinator::track_request`: a look at a flag (there a `watch` channel), then
/// `in_flight.fetch_add`. Not atomic, also seen by the shutdown, which sets the flag and waits until no request is in
/// flight: a request is counted after both. Two operations: those two.
fn track((stopping, in_flight): &(AtomicBool, AtomicU64), (): ()) -> bool {
    if stopping.load(Acquire) {
        return false;
    }
    in_flight.fetch_add(1, SeqCst);
    true
}

/// Begins the shutdown; says whether no request is in flight.
fn stopped((stopping, in_flight): &(AtomicBool, AtomicU64), (): ()) -> bool {
    stopping.store(true, Release);
    in_flight.load(SeqCst) == 0
}
// end

// case: track-request-one-word
/// Counts a request; says whether it may go on. The lowest bit says that a shutdown has begun.
///
/// Atomic: flag and number are one word.
fn track_in_one_word(word: &AtomicU64, (): ()) -> bool {
    word.fetch_update(AcqRel, Acquire, |word| (word % 2 == 0).then_some(word + 2)).is_ok()
}
// end

// case: finish-request-subtract-then-repair
/// Counts one request less, not below zero.
///
/// punch-kernel 1.2.0, `ShutdownCoordinator::finish_request`: `in_flight.fetch_sub`, and `in_flight.store(0)` when
/// there was none. Not atomic: between the two, others see the number below zero (in the crate, where it is unsigned,
/// the largest of all), and what they count is lost. Only a caller that finishes more than it began comes there.
fn finish_and_repair(in_flight: &AtomicI64, (): ()) {
    if in_flight.fetch_sub(1, SeqCst) == 0 {
        in_flight.store(0, SeqCst);
    }
}
// end

// case: finish-request-checked
/// Counts one request less, not below zero.
///
/// Atomic: one operation.
fn finish_checked(in_flight: &AtomicI64, (): ()) {
    let _ = in_flight.fetch_update(SeqCst, SeqCst, |number| (number > 0).then(|| number - 1));
}
// end

/// Phases of a shutdown.
const RUNNING: u64 = 0;
const STOPPING: u64 = 1;
const CANCELLING: u64 = 4;

// case: shutdown-load-then-store
/// Begins a shutdown; forces one that has begun.
///
/// fastapi-core 0.5.0, `ShutdownController::shutdown`: `phase.load`, then `phase.store` or `forced.store`. Not atomic,
/// also seen by the controller's own `force_shutdown`: the phase goes back from cancelling to the first one. One
/// operation: it stores the later phase after the load.
fn shutdown((phase, forced): &(AtomicU64, AtomicBool), (): ()) {
    if phase.load(Acquire) == RUNNING {
        phase.store(STOPPING, Release);
    } else {
        forced.store(true, Release);
    }
}

/// Forces the shutdown.
fn force((phase, forced): &(AtomicU64, AtomicBool), (): ()) {
    forced.store(true, Release);
    phase.store(CANCELLING, Release);
}
// end

// case: shutdown-locked
/// Begins a shutdown; forces one that has begun.
///
/// Atomic: both are locked.
fn shutdown_locked((phase, forced): &(Mutex<u64>, Mutex<bool>), (): ()) {
    let mut phase = phase.lock().unwrap();
    let mut forced = forced.lock().unwrap();
    if *phase == RUNNING {
        *phase = STOPPING;
    } else {
        *forced = true;
    }
}
// end
