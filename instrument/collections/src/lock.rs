//! Locks around the collections of std: every critical section is one step.
//!
//! The lock is the only access to the abstract state, so a section is atomic however many methods of the collection it
//! calls. Its effect is the state that it leaves.
//!
//! A lock outside the run (made inside the method under test, or the value of a map) is private: its sections make no
//! steps. In a controlled run a task that finds such a lock taken lets others run until it is free.
//!
//! # Differences from the original
//! - The content is a collection or value that has a plain form ([`StdCollection`]), and sized.
//! - [`Mutex`] can be cloned if its content can, so that a map on which an environment acts may hold it in an `Arc`.
//! - The order in which a `HashMap` or `HashSet` is iterated inside a section is std's and differs from process to
//!   process; with [`RandomState`](crate::RandomState) as its third parameter it does not.

#[macro_use]
mod shell;

mod collection;
mod keyed;
mod mutex;
mod rwlock;
mod section;
mod sequences;
#[cfg(test)]
mod tests;

pub use collection::{Record, StdCollection};
pub use mutex::{Mutex, MutexGuard};
pub use rwlock::{RwLock, RwLockReadGuard, RwLockWriteGuard};
