//! The collections that the cases of the suite use, under the names of `interloper::collections`: here `DashMap` is the
//! original. Cases over other collections are compiled, and not looked at.

pub use ::dashmap::DashMap;
pub use driver::collections::{
    ArrayQueue, AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Mutex, RwLock, SegQueue,
};

/// The entries of a map.
pub mod dashmap {
    pub use ::dashmap::Entry;
}
