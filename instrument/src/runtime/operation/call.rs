//! Calls of methods of collections, as steps see them.

use super::Action;

/// The call of a method of a collection.
///
/// The same call is the same value in every execution and in every process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Call {
    /// What it does, for reports.
    pub verb: Verb,
    /// Which part of the collection it is about.
    pub extent: Extent,
    /// What tells its arguments from others.
    pub key: Key,
}

/// Which part of a collection a call is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Extent {
    /// The entry of its key.
    Entry,
    /// The whole collection.
    Whole,
}

/// A key of a collection, by a hash of 64 bits: two keys with the same hash count as one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key([u32; 2]);

/// What a call does to a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verb {
    /// Looks an entry up.
    Get,
    /// Looks whether there is an entry.
    Contains,
    /// Puts an entry in.
    Insert,
    /// Puts an entry in unless there is one.
    InsertIfAbsent,
    /// Takes the place of an entry, to do with it what the program says.
    Modify,
    /// Removes an entry.
    Remove,
    /// Finds the entry after a key.
    Next,
    /// Finds an entry by the order of keys.
    Find,
    /// Adds an element at the end.
    Push,
    /// Removes an element from an end.
    Pop,
    /// Counts the entries.
    Count,
    /// Reads from a socket or a pipe.
    Receive,
    /// Writes to a socket or a pipe.
    Send,
    /// Takes a connection.
    Accept,
    /// Makes a connection.
    Connect,
    /// Opens a port, or says what an event loop waits for.
    Open,
    /// Closes a socket or a pipe, or one direction of it.
    Close,
    /// Waits for the first of several events of sockets, pipes and timers.
    Await,
    /// Anything else.
    Call,
}

impl Verb {
    /// Whether it is about input or output, and not about a collection.
    pub const fn is_io(self) -> bool {
        use Verb::{Accept, Await, Close, Connect, Open, Receive, Send};
        matches!(self, Receive | Send | Accept | Connect | Open | Close | Await)
    }
}

impl Key {
    /// The key with this hash.
    #[must_use]
    pub const fn from_hash(hash: u64) -> Key {
        Key([hash as u32, (hash >> 32) as u32])
    }

    /// Its hash.
    #[must_use]
    pub const fn hash(self) -> u64 {
        self.0[0] as u64 | (self.0[1] as u64) << 32
    }
}

impl Call {
    /// A call that is about all of its object.
    pub const WHOLE: Call = Call { verb: Verb::Call, extent: Extent::Whole, key: Key([0, 0]) };

    /// The action of a call that may write.
    pub const fn invoked(self) -> Action {
        Action::Invoke(self.verb, self.extent, self.key)
    }

    /// The action of a call that only reads.
    pub const fn inspected(self) -> Action {
        Action::Inspect(self.verb, self.extent, self.key)
    }

    /// The key that it is about alone.
    pub const fn entry(self) -> Option<Key> {
        match self.extent {
            Extent::Entry => Some(self.key),
            Extent::Whole => None,
        }
    }

    /// Whether two calls of methods of one collection concern the same part of it.
    pub const fn overlaps(self, other: Call) -> bool {
        match (self.entry(), other.entry()) {
            (Some(a), Some(b)) => a.hash() == b.hash(),
            _ => true,
        }
    }
}
