//! Mirrors [`std::sync`].

#[macro_use]
mod lock;

pub mod atomic;
mod barrier;
mod condvar;
mod lazily;
mod lazy_lock;
pub mod mpsc;
mod mutex;
mod once;
mod once_lock;
mod poisoning;
mod real;
mod rwlock;

pub use std::sync::*;

pub use barrier::{Barrier, BarrierWaitResult};
pub use condvar::{Condvar, WaitTimeoutResult};
pub use lazy_lock::LazyLock;
pub use mutex::{Mutex, MutexGuard};
pub use once::Once;
pub use once_lock::OnceLock;
pub use rwlock::{RwLock, RwLockReadGuard, RwLockWriteGuard};

/// As [`std::sync::ONCE_INIT`].
#[deprecated(since = "1.38.0", note = "the `Once::new()` function is now preferred")]
#[expect(clippy::declare_interior_mutable_const, reason = "std has it")]
pub const ONCE_INIT: Once = Once::new();
