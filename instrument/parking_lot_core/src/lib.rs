//! The interface of [parking_lot_core](https://docs.rs/parking_lot_core/0.9), on a
//! [`runtime`].
//!
//! Patched in under this name it lets the real parking_lot, and everything else that is built on parking_lot_core, run
//! under control: a task that parks waits in the runtime. The threads that park at one address are in a queue; a task
//! that looks at a queue holds the lock of the lot, as with the original, and taking that lock is a visible step.
//!
//! Outside a controlled run threads wait on a mutex and a condition variable of std.
//!
//! # Limits
//!
//! - There is one lock for all queues, where the original has one for each of its buckets. So two operations on
//!   unrelated queues depend on each other: no execution is lost, some are explored twice.
//! - No unlock is asked to be fair ([`UnparkResult::be_fair`] is false): the effect of a fair one is among the
//!   schedules anyway.
//! - Points in time are those of the mirror of std, as in a crate whose `std` is the mirror.
//! - Deadlock detection is off: the runtime's is the better one.

#![warn(missing_docs)]

mod controlled;
pub mod deadlock;
mod lot;
mod outside;
mod queues;
mod spin_wait;
mod words;

use interloper_std::runtime;
use interloper_std::time::Instant;

pub use spin_wait::SpinWait;
pub use words::{
    DEFAULT_PARK_TOKEN, DEFAULT_UNPARK_TOKEN, FilterOp, ParkResult, ParkToken, RequeueOp, UnparkResult, UnparkToken,
};

/// Parks the thread in the queue of `key`, unless `validate` says no.
///
/// `validate` runs while the lot is locked; `before_sleep` runs later, when the thread is in the queue already;
/// `timed_out`, which receives the key of the queue and whether no other thread is left in it, runs while the lot is
/// locked.
///
/// # Safety
/// `key` is an address that the caller controls. `validate` and `timed_out` do not panic and call nothing of this crate;
/// `before_sleep` does not call [`park`] and does not panic.
#[track_caller]
pub unsafe fn park(
    key: usize,
    validate: impl FnOnce() -> bool,
    before_sleep: impl FnOnce(),
    timed_out: impl FnOnce(usize, bool),
    park_token: ParkToken,
    timeout: Option<Instant>,
) -> ParkResult {
    let park = lot::Park { key, validate, before_sleep, timed_out, park_token, timeout };
    if runtime::is_controlled() { controlled::park(park) } else { outside::park(park) }
}

/// Unparks one thread from the queue of `key`. `callback` runs while the lot is locked, before the thread is woken,
/// even if there is no thread.
///
/// What the caller and `callback` have done happens before the return of the [`park`] that this ends. The same holds for
/// the other functions that unpark.
///
/// # Safety
/// `key` is an address that the caller controls. `callback` does not panic and calls nothing of this crate.
#[track_caller]
pub unsafe fn unpark_one(key: usize, callback: impl FnOnce(UnparkResult) -> UnparkToken) -> UnparkResult {
    if runtime::is_controlled() {
        lot::unpark_one(controlled::lock(), key, callback)
    } else {
        lot::unpark_one(outside::lock(), key, callback)
    }
}

/// Unparks all threads from the queue of `key`, and says how many.
///
/// # Safety
/// `key` is an address that the caller controls.
#[track_caller]
pub unsafe fn unpark_all(key: usize, unpark_token: UnparkToken) -> usize {
    if runtime::is_controlled() {
        lot::unpark_all(controlled::lock(), key, unpark_token)
    } else {
        lot::unpark_all(outside::lock(), key, unpark_token)
    }
}

/// Takes threads from the queue of `key_from`. As `validate` says, the first is unparked or the threads go into the
/// queue of `key_to`. Both functions run while the lot is locked.
///
/// # Safety
/// The keys are addresses that the caller controls. The functions do not panic and call nothing of this crate.
#[track_caller]
pub unsafe fn unpark_requeue(
    key_from: usize,
    key_to: usize,
    validate: impl FnOnce() -> RequeueOp,
    callback: impl FnOnce(RequeueOp, UnparkResult) -> UnparkToken,
) -> UnparkResult {
    if runtime::is_controlled() {
        lot::unpark_requeue(controlled::lock(), key_from, key_to, validate, callback)
    } else {
        lot::unpark_requeue(outside::lock(), key_from, key_to, validate, callback)
    }
}

/// Unparks those threads of the queue of `key` that `filter` chooses by their tokens. Both functions run while the lot
/// is locked.
///
/// # Safety
/// `key` is an address that the caller controls. The functions do not panic and call nothing of this crate.
#[track_caller]
pub unsafe fn unpark_filter(
    key: usize,
    filter: impl FnMut(ParkToken) -> FilterOp,
    callback: impl FnOnce(UnparkResult) -> UnparkToken,
) -> UnparkResult {
    if runtime::is_controlled() {
        lot::unpark_filter(controlled::lock(), key, filter, callback)
    } else {
        lot::unpark_filter(outside::lock(), key, filter, callback)
    }
}
