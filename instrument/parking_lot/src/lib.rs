//! A mirror of [`parking_lot`] whose visible steps go through a [`runtime`](interloper_std::runtime).
//!
//! The locks are those of [`lock_api`] with raw locks that go through the runtime of the thread. Outside a controlled
//! run the raw locks are parking_lot's own.
//!
//! ```
//! use interloper_parking_lot::{Mutex, RwLock};
//!
//! static COUNTER: Mutex<u32> = Mutex::new(0);
//! *COUNTER.lock() += 1;
//! let lock = RwLock::new(5);
//! assert_eq!(*lock.upgradable_read() + *COUNTER.lock(), 6);
//! ```
//!
//! Points in time are those of the mirror of std: [`interloper_std::time::Instant`].
//!
//! # Limits
//!
//! - Under control a reader waits behind a writer that waits only in executions with the freedom to prefer writers. The
//!   original always makes it wait.
//! - What is in the lock of a static is not fresh in each execution, unlike in a lock of the mirror of std; the lock is.
//! - There is no deadlock detection of its own: the runtime's is the better one.

#![warn(missing_docs)]
#![allow(unexpected_cfgs, reason = "`cargo interloper` has another name for one")]

/// The original, which is under control itself, or a mirror in its place: see `cargo interloper`.
#[cfg(interloper_real_parking_lot)]
pub use parking_lot::*;

#[cfg(not(interloper_real_parking_lot))]
mod condvar;
#[cfg(not(interloper_real_parking_lot))]
mod marker;
#[cfg(not(interloper_real_parking_lot))]
mod model;
#[cfg(not(interloper_real_parking_lot))]
mod once;
#[cfg(not(interloper_real_parking_lot))]
mod raw_fair_mutex;
#[cfg(not(interloper_real_parking_lot))]
mod raw_mutex;
#[cfg(not(interloper_real_parking_lot))]
mod raw_rwlock;
#[cfg(not(interloper_real_parking_lot))]
mod thread_id;
#[cfg(not(interloper_real_parking_lot))]
mod types;

/// What only this crate has: its locks say where their methods begin and their guards end ([`interloper_std::runtime::calls`]).
#[cfg(not(interloper_real_parking_lot))]
#[doc(hidden)]
pub const MARKS_ITS_CALLS: () = ();

#[cfg(not(interloper_real_parking_lot))]
pub use ::lock_api;
#[cfg(not(interloper_real_parking_lot))]
pub use condvar::{Condvar, WaitTimeoutResult};
#[cfg(not(interloper_real_parking_lot))]
pub use once::{Once, OnceState};
#[cfg(not(interloper_real_parking_lot))]
pub use raw_fair_mutex::RawFairMutex;
#[cfg(not(interloper_real_parking_lot))]
pub use raw_mutex::RawMutex;
#[cfg(not(interloper_real_parking_lot))]
pub use raw_rwlock::RawRwLock;
#[cfg(not(interloper_real_parking_lot))]
pub use thread_id::RawThreadId;
#[cfg(not(interloper_real_parking_lot))]
pub use types::*;

#[cfg(all(feature = "arc_lock", not(interloper_real_parking_lot)))]
pub use lock_api::{
    ArcMutexGuard, ArcReentrantMutexGuard, ArcRwLockReadGuard, ArcRwLockUpgradableReadGuard, ArcRwLockWriteGuard,
};
