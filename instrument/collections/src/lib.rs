//! Instrumented wrappers over concurrent collections.

pub mod atomic;
pub mod dashmap;
mod environment;
mod hash;
pub mod queue;
pub mod session;
mod site;
mod subject;
#[cfg(test)]
mod testing;

pub use crate::dashmap::DashMap;
pub use atomic::{AtomicBool, AtomicI32, AtomicI64, AtomicIsize, AtomicU32, AtomicU64, AtomicUsize};
pub use hash::{FixedHasher, KeyHasher, RandomState};
pub use queue::{ArrayQueue, SegQueue};
pub use subject::Subject;
