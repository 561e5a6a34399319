//! How an atomic access goes where memory is weak. Values are the bits of 64 at most that an atomic has.

use std::fmt;

/// What an atomic access does.
pub enum Effect<'a> {
    /// It reads.
    Load,
    /// It writes this.
    Store(u64),
    /// It reads, and writes what the function gives for what it has read; nothing, if it gives nothing.
    Update {
        /// A function that gives the same for the same.
        change: &'a dyn Fn(u64) -> Option<u64>,
        /// Whether it is a compare-exchange, which has an ordering of its own for when it fails.
        compares: bool,
        /// Whether it may also write nothing where the function gives something: a weak compare-exchange.
        may_fail: bool,
    },
}

/// What came of an atomic access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accessed {
    /// What it has read, or what the newest value was before it wrote.
    pub found: u64,
    /// Whether it wrote.
    pub wrote: bool,
    /// What is now the newest value, if that has changed.
    pub newest: Option<u64>,
}

impl Effect<'_> {
    /// What comes of the access where it reads the newest value, and writes what is then the newest.
    pub fn on_newest(&self, newest: u64) -> Accessed {
        let written = match self {
            Effect::Load => None,
            Effect::Store(value) => Some(*value),
            Effect::Update { change, .. } => change(newest),
        };
        Accessed { found: newest, wrote: written.is_some(), newest: written }
    }
}

impl fmt::Debug for Effect<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Effect::Load => f.write_str("Load"),
            Effect::Store(value) => f.debug_tuple("Store").field(value).finish(),
            Effect::Update { compares, may_fail, .. } => {
                let mut shown = f.debug_struct("Update");
                shown.field("compares", compares).field("may_fail", may_fail).finish_non_exhaustive()
            }
        }
    }
}
