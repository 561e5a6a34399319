//! Locks around the collections of std: every critical section is one step.
//!
//! The lock is abstract state's only door, so a section is atomic however many methods of the collection it calls. Its
//! effect is the state that it leaves.
//!
//! A lock that is not part of a run (made inside the method under test, or the value of a map) is private: its sections
//! are no steps. In a controlled run a task that finds such a lock taken lets others run until it is free.
//!
//! # Differences from the original
//! - The content is a collection or value that has a plain form ([`StdCollection`]), and sized.
//! - [`Mutex`] can be cloned (the content is), so that it may stand behind an `Arc` in a map that an environment acts on.
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

pub use collection::StdCollection;
pub use mutex::{Mutex, MutexGuard};
pub use rwlock::{RwLock, RwLockReadGuard, RwLockWriteGuard};
