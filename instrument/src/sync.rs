//! Mirrors [`std::sync`].

pub mod atomic;
mod barrier;
mod condvar;
mod mutex;
mod poisoning;
mod rwlock;

pub use std::sync::*;

pub use barrier::{Barrier, BarrierWaitResult};
pub use condvar::{Condvar, WaitTimeoutResult};
pub use mutex::{Mutex, MutexGuard};
pub use rwlock::{RwLock, RwLockReadGuard, RwLockWriteGuard};
