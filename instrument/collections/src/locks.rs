//! The locks inside a collection.

/// A lock inside a collection: a shard of a map, or 0 where there is one lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LockId(pub u32);

/// How a lock is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// Several holders may read.
    Shared,
    /// One holder.
    Exclusive,
}

/// The locks of the real collection that an operation takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// No lock: a lock-free operation.
    Nothing,
    /// One lock.
    One(LockId, Mode),
    /// Every lock of the collection, one after the other.
    All(Mode),
}
