//! Instrumented wrappers over concurrent collections.

pub mod atomic;
pub mod cell;
pub mod dashmap;
mod environment;
mod hash;
pub mod lock;
pub mod queue;
pub mod session;
mod shared;
mod site;
pub mod skiplist;
mod subject;
#[cfg(test)]
mod testing;

pub use crate::dashmap::DashMap;
pub use atomic::{AtomicBool, AtomicI32, AtomicI64, AtomicIsize, AtomicU32, AtomicU64, AtomicUsize};
pub use cell::OnceLock;
pub use hash::{FixedHasher, KeyHasher, RandomState};
pub use lock::{Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard, StdCollection};
pub use queue::{ArrayQueue, SegQueue};
pub use shared::Shared;
pub use skiplist::{SkipMap, SkipSet};
pub use subject::Subject;
