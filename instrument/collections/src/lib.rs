//! Instrumented wrappers over concurrent collections.
//!
//! Each wrapper has the API of the original and the original underneath. Outside a controlled run it *is* the original,
//! but for a look at two thread-locals. In a [`session`] it announces every operation, waits until its lock is free, and
//! reports what happened as a call of an abstract type, so that an adversary can act in between.
//!
//! | wrapper | original | abstract type |
//! |---|---|---|
//! | [`DashMap`] | `dashmap::DashMap` | map |
//! | [`SkipMap`], [`SkipSet`] | `crossbeam_skiplist` | sorted map, sorted set |
//! | [`SegQueue`], [`ArrayQueue`] | `crossbeam::queue` | queue, bounded queue |
//! | [`AtomicUsize`] and its like | `std::sync::atomic` | register, or counter |
//! | [`Mutex`], [`RwLock`] | `std::sync`, around std's collections | that of the collection |
//! | [`Shared`] | none: a sequential model of one's own | that model |
//! | [`OnceLock`] | `std::sync` | none: a value that changes once |
//!
//! # Steps
//! Everything that the original does atomically is one step. A method that the original does not do atomically is a
//! sequence of steps, and its documentation says of which.
//!
//! A guard keeps its lock: as long as it lives, no operation that needs the lock happens, and the task that asks for it
//! again waits for itself, which the session reports. The session is asked before the real lock is touched, so a
//! controlled run, which has one thread, never hangs.
//!
//! # Programs
//! A program that a runtime of the mirror of std controls (`interloper::check` and the like) has no session. There each
//! step is one of the engine, and calls about different keys are independent of each other. What an execution writes must
//! be gone in the next: a collection that an earlier execution wrote to, since it is made outside of the program or stands
//! in a static, ends the execution as a failure. A collection that no execution writes to may be made outside.
//!
//! # Private collections
//! A collection that is no part of the run, made inside the method under test say, is private: its operations are no
//! steps. A task that finds a lock of it taken lets others run until it is free.
//! One that is used in several runs and is a part of none of them is foreign: the session hears of it
//! ([`session::Session::foreign`]).
//!
//! # Limits
//! - A guard must be dropped by the task that made it.
//! - An attempt (`try_get`) finds a lock taken by a guard. The original can also find it taken by a call that has not come
//!   to its end.
//! - The order of a collection's keys is that of their plain forms ([`interloper_commutativity::Value`]).

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
pub mod stray;
mod subject;
mod task;
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
pub use task::words;
