//! Budgets and rate limiters: a number or two each.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use interloper::collections::{AtomicI64, AtomicU64};

use super::{TwoAtomics, TwoNumbers, method, two_atomics, two_numbers};
use crate::Case;
use crate::cases::{boxed, briefly, from_few_states};
use crate::source::Family;

const EXECUTION_POLICY: Family = Family::new("execution-policy 0.0.6", include_str!("limits.rs"));
const GOVERNOR: Family = EXECUTION_POLICY.from("governor 0.10.4");
const RUST_WEB_SERVER: Family = EXECUTION_POLICY.from("rust-web-server 17.107.0");
const OPENDEV_RUNTIME: Family = EXECUTION_POLICY.from("opendev-runtime 0.1.4");
const SAORSA_CORE: Family = EXECUTION_POLICY.from("saorsa-core 0.3.6");

pub(super) fn cases() -> Vec<Case> {
    vec![
        EXECUTION_POLICY.good(
            "budget-withdraw",
            "Takes tokens out of exactly the number that it saw, or none when there are too few.",
            || boxed(method("try_withdraw", AtomicI64::default, try_withdraw).values([0, 2, 3])),
        ),
        EXECUTION_POLICY.bad(
            "budget-withdraw-load-then-subtract",
            "budget-withdraw",
            "Takes tokens when there were enough a moment ago: the budget falls below zero.",
            || boxed(method("try_withdraw", AtomicI64::default, try_withdraw_unchecked).values([0, 2, 3])),
        ),
        EXECUTION_POLICY.good(
            "budget-deposit",
            "Adds a token up to the limit, by a compare-and-exchange loop.",
            || boxed(method("deposit", AtomicI64::default, deposit).values([0, 4, 5])),
        ),
        EXECUTION_POLICY.bad(
            "budget-deposit-load-then-store",
            "budget-deposit",
            "Adds a token up to the limit, by a load and a store: what others take or add meanwhile is undone.",
            || boxed(method("deposit", AtomicI64::default, deposit_load_then_store).values([0, 4, 5])),
        ),
        GOVERNOR.good(
            "arrival-time-loop",
            "Decides by the time of the next arrival and stores the new time; decides again when another was quicker.",
            || boxed(method("allow", AtomicU64::default, allow).arguments([10]).values([0, 30])),
        ),
        GOVERNOR.bad(
            "arrival-time-once",
            "arrival-time-loop",
            "Decides by the time of the next arrival, and does not look whether it could store the new time.",
            || boxed(method("allow", AtomicU64::default, allow_once).arguments([10]).values([0, 30])),
        ),
        RUST_WEB_SERVER.bad(
            "set-limits-two-stores",
            "set-limits-locked",
            "Sets the number of requests and the length of the window: for a while one is new and the other is old.",
            || {
                let method = method("set_limits", two_atomics, set_limits).arguments([(5, 60)]);
                boxed(briefly(from_few_states(method.names(["requests", "seconds"]))))
            },
        ),
        RUST_WEB_SERVER.good("set-limits-locked", "Sets both limits with both locked.", || {
            let method = method("set_limits", two_numbers, set_limits_locked).arguments([(5, 60)]);
            boxed(briefly(from_few_states(method.names(["requests", "seconds"]))))
        }),
        OPENDEV_RUNTIME.bad(
            "cooldown-load-then-store",
            "cooldown-fetch-update",
            "Looks when a sound was last played and stores the time: another sound was played meanwhile.",
            || boxed(method("may_play", AtomicU64::default, may_play).arguments([100]).values([0, 95])),
        ),
        OPENDEV_RUNTIME.good(
            "cooldown-fetch-update",
            "Looks when a sound was last played and stores the time, in one operation.",
            || boxed(method("may_play", AtomicU64::default, may_play_once).arguments([100]).values([0, 95])),
        ),
        SAORSA_CORE.bad(
            "bucket-refill-then-take",
            "bucket-refill-and-take",
            "Fills a bucket under its locks, and then takes a token under a lock: others see the token, or take it.",
            || {
                let method = method("try_acquire", two_numbers, refill_then_take).arguments([5]).values([0, 1]);
                boxed(briefly(from_few_states(method.names(["refilled", "tokens"]))))
            },
        ),
        SAORSA_CORE.good("bucket-refill-and-take", "Fills a bucket and takes a token with both locked.", || {
            let method = method("try_acquire", two_numbers, refill_and_take).arguments([5]).values([0, 1]);
            boxed(briefly(from_few_states(method.names(["refilled", "tokens"]))))
        }),
    ]
}

/// What a retry costs, what a call adds, and how much the budget holds.
const COST: i64 = 2;
const DEPOSIT: i64 = 2;
const BURST: i64 = 5;

// case: budget-withdraw
/// Takes the tokens for a retry; says whether there were enough.
///
/// execution-policy 0.0.6, `RetryBudget::try_withdraw`: `tokens.load`, then `tokens.compare_exchange_weak` with what
/// the last attempt saw. Atomic: a success finds the number that was judged, and a refusal is a look at the number.
fn try_withdraw(tokens: &AtomicI64, (): ()) -> bool {
    let mut seen = tokens.load(Relaxed);
    while seen >= COST {
        match tokens.compare_exchange_weak(seen, seen - COST, AcqRel, Relaxed) {
            Ok(_) => return true,
            Err(now) => seen = now,
        }
    }
    false
}
// end

// case: budget-withdraw-load-then-subtract
/// Takes the tokens for a retry; says whether there were enough.
///
/// The twin subtracts without comparing. Not atomic: two retries take the same tokens.
fn try_withdraw_unchecked(tokens: &AtomicI64, (): ()) -> bool {
    if tokens.load(Relaxed) < COST {
        return false;
    }
    tokens.fetch_sub(COST, AcqRel);
    true
}
// end

// case: budget-deposit
/// Adds the tokens of a call, up to the most that the budget holds.
///
/// execution-policy 0.0.6, `RetryBudget::deposit`: `tokens.load`, then `tokens.compare_exchange_weak` until it
/// succeeds. Atomic: it takes effect at the exchange that succeeds.
fn deposit(tokens: &AtomicI64, (): ()) {
    let mut seen = tokens.load(Relaxed);
    while let Err(now) = tokens.compare_exchange_weak(seen, (seen + DEPOSIT).min(BURST), AcqRel, Relaxed) {
        seen = now;
    }
}
// end

// case: budget-deposit-load-then-store
/// Adds the tokens of a call, up to the most that the budget holds.
///
/// The twin stores without comparing. Not atomic: it overwrites what it has not seen.
fn deposit_load_then_store(tokens: &AtomicI64, (): ()) {
    let seen = tokens.load(Relaxed);
    tokens.store((seen + DEPOSIT).min(BURST), Release);
}
// end

/// How early a cell may arrive, and the time between two cells.
const TOLERANCE: u64 = 10;
const INTERVAL: u64 = 7;

/// When the next cell is expected after one at `now`; `None` if that one comes too early.
fn next_arrival(expected: u64, now: u64) -> Option<u64> {
    (expected <= now + TOLERANCE).then(|| expected.max(now) + INTERVAL)
}

// case: arrival-time-loop
/// Whether a cell that arrives `now` conforms to the rate (the generic cell rate algorithm).
///
/// governor 0.10.4, `InMemoryState::measure_and_replace_one`: `load`, a decision, `compare_exchange_weak`, and the
/// decision again with what the exchange saw. Atomic: the state that is replaced is the one that was judged.
fn allow(expected: &AtomicU64, now: u64) -> bool {
    let mut seen = expected.load(Acquire);
    while let Some(next) = next_arrival(seen, now) {
        match expected.compare_exchange_weak(seen, next, Release, Relaxed) {
            Ok(_) => return true,
            Err(other) => seen = other,
        }
    }
    false
}
// end

// case: arrival-time-once
/// Whether a cell that arrives `now` conforms to the rate (the generic cell rate algorithm).
///
/// The twin lets the exchange fail. Not atomic: the cell conforms and is not counted.
fn allow_once(expected: &AtomicU64, now: u64) -> bool {
    let seen = expected.load(Acquire);
    let Some(next) = next_arrival(seen, now) else { return false };
    let _ = expected.compare_exchange(seen, next, Release, Relaxed);
    true
}
// end

// case: set-limits-two-stores
/// Sets how many requests are allowed in how many seconds.
///
/// rust-web-server 17.107.0, `RateLimiter::set_limits`: `max_requests.store`, then `window_secs.store`. Not atomic: a
/// request between the two is judged by the new number and the old window. Two operations: one reads the new value, and
/// one the old one. The crate calls it when a configuration is reloaded.
fn set_limits((requests, seconds): &TwoAtomics, (number, window): (u64, u64)) {
    requests.store(number, Relaxed);
    seconds.store(window, Relaxed);
}
// end

// case: set-limits-locked
/// Sets how many requests are allowed in how many seconds.
///
/// Atomic: both are locked.
fn set_limits_locked((requests, seconds): &TwoNumbers, (number, window): (u64, u64)) {
    let mut requests = requests.lock().unwrap();
    let mut seconds = seconds.lock().unwrap();
    *requests = number;
    *seconds = window;
}
// end

/// The shortest time between two sounds.
const COOLDOWN: u64 = 30;

// case: cooldown-load-then-store
/// Whether a sound may be played `now`; if so, remembers the time.
///
/// opendev-runtime 0.1.4, `play_finish_sound`: `LAST_PLAYED_MS.load`, then `LAST_PLAYED_MS.store`. Not atomic: two
/// sounds are played at once, which nobody but the listener minds.
fn may_play(last: &AtomicU64, now: u64) -> bool {
    if now.saturating_sub(last.load(Relaxed)) < COOLDOWN {
        return false;
    }
    last.store(now, Relaxed);
    true
}
// end

// case: cooldown-fetch-update
/// Whether a sound may be played `now`; if so, remembers the time.
///
/// Atomic: one operation.
fn may_play_once(last: &AtomicU64, now: u64) -> bool {
    last.fetch_update(Relaxed, Relaxed, |last| (now.saturating_sub(last) >= COOLDOWN).then_some(now)).is_ok()
}
// end

/// How many tokens a bucket holds.
const FULL: u64 = 1;

// case: bucket-refill-then-take
/// Takes a token `now`; says whether there was one. A token comes with each unit of time.
///
/// saorsa-core 0.3.6, `RateLimiter::try_acquire`: a critical section over `last_refill` and `tokens` that fills the
/// bucket, then one over `tokens` that takes. Not atomic: between the two, others see the token that came with this
/// call, or take it. One operation: it reads the tokens. For calls at the same time, who gets the token is a question
/// of who is first.
fn refill_then_take((refilled, tokens): &TwoNumbers, now: u64) -> bool {
    {
        let mut refilled = refilled.lock().unwrap();
        if now > *refilled {
            let mut tokens = tokens.lock().unwrap();
            *tokens = (*tokens + now - *refilled).min(FULL);
            *refilled = now;
        }
    }
    let mut tokens = tokens.lock().unwrap();
    let allowed = *tokens > 0;
    *tokens -= u64::from(allowed);
    allowed
}
// end

// case: bucket-refill-and-take
/// Takes a token `now`; says whether there was one. A token comes with each unit of time.
///
/// Atomic: both are locked until the token is taken.
fn refill_and_take((refilled, tokens): &TwoNumbers, now: u64) -> bool {
    let mut refilled = refilled.lock().unwrap();
    let mut tokens = tokens.lock().unwrap();
    if now > *refilled {
        *tokens = (*tokens + now - *refilled).min(FULL);
        *refilled = now;
    }
    let allowed = *tokens > 0;
    *tokens -= u64::from(allowed);
    allowed
}
// end
