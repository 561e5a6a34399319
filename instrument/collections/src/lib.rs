//! Instrumented wrappers over concurrent collections.
//!
//! Each wrapper has the API of the original, and the original inside. Outside a controlled execution a wrapper *is* the
//! original, except for a look at two thread-locals. In a [`session`] it announces every operation, waits until the lock
//! is free, and reports the operation as a call of an abstract type, so that an adversary can act between operations.
//!
//! | wrapper | original | abstract type |
//! |---|---|---|
//! | [`DashMap`] | `dashmap::DashMap` | map |
//! | [`SkipMap`], [`SkipSet`] | `crossbeam_skiplist` | sorted map, sorted set |
//! | [`SegQueue`], [`ArrayQueue`] | `crossbeam::queue` | queue, bounded queue |
//! | [`AtomicUsize`] and its like | `std::sync::atomic` | register, or counter |
//! | [`Mutex`], [`RwLock`] | `std::sync`, around std's collections | the type of the collection |
//! | [`Shared`] | none: a sequential model of your own | that model |
//! | [`OnceLock`] | `std::sync` | none: a value that changes once |
//!
//! # Steps
//! Everything that the original does atomically is one step. A method that is not atomic in the original is a sequence of
//! steps, and its documentation lists them.
//!
//! A guard keeps its lock: while the guard lives, no operation that needs the lock happens. A task that asks for a lock that
//! it holds waits for itself, and the session reports this. The wrapper asks the session before it touches the real lock,
//! so a controlled execution, which has one thread, never hangs.
//!
//! # Programs
//! A program under a runtime of the mirror of std (`interloper::check`, for example) has no session. In such a program each
//! step is a step of the engine, and calls about different keys are independent. Each execution must start with fresh
//! collections: an execution that uses a collection which an earlier execution wrote to, because the collection was created
//! outside the program or in a static, ends as a failure. A collection that no execution writes to may be created outside.
//!
//! # Private collections
//! A collection that is not part of the subject, for example because the method under test creates it, is private: its
//! operations are not steps. A task that finds a lock of a private collection taken lets other tasks run until the lock is
//! free. A collection that is used in several executions and is part of no subject is foreign, and the session hears of it
//! ([`session::Session::foreign`]).
//!
//! # Limits
//! - The task that created a guard must drop it.
//! - An attempt (`try_get`) finds a lock taken only by a guard. In the original, an unfinished call can also hold the lock.
//! - The keys of a collection have the order of their plain forms ([`interloper_commutativity::Value`]).

pub mod atomic;
pub mod cell;
pub mod dashmap;
mod environment;
#[macro_use]
mod published;
pub mod foreign;
mod hash;
pub mod lock;
mod locks;
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
pub use lock::{Mutex, MutexGuard, Record, RwLock, RwLockReadGuard, RwLockWriteGuard, StdCollection};
pub use queue::{ArrayQueue, SegQueue};
pub use shared::Shared;
pub use skiplist::{SkipMap, SkipSet};
pub use subject::Subject;
