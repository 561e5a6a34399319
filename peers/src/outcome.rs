//! What all tools have in common: the programs that they run, and what an execution came to.

use std::collections::BTreeSet;
use std::fmt;

/// A small program by its name, and what it comes to.
pub type Small = (&'static str, fn() -> i32);

/// The programs, over one tool.
pub struct Programs {
    /// Small enough to be gone through to the end.
    pub small: [Small; 15],
    /// Each of so many tasks takes and gives back a lock of its own, so many times.
    pub uncontended: fn(usize, usize),
    /// So many tasks are there at once.
    pub crowd: fn(usize),
    /// Figure 1 of the AtomFuzzer paper, with no block marked. Gives the balance: -40 when both tasks have withdrawn.
    pub unmarked_withdraw: fn() -> i32,
    /// Figure 2: the same, marked, with so many operations on another lock before the block of one task.
    pub withdraw_after: fn(usize) -> i32,
}

/// What an execution came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// The program's value.
    Value(i32),
    /// No task could go on.
    Deadlock,
    /// A panic, say.
    Other,
}

/// What an exhaustive search came to.
#[derive(Clone, Debug)]
pub struct Searched {
    pub executions: u64,
    pub outcomes: BTreeSet<Outcome>,
    /// False when the tool stopped at a failure, as loom does at a deadlock.
    pub exhausted: bool,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Value(value) => write!(f, "{value}"),
            Outcome::Deadlock => f.write_str("deadlock"),
            Outcome::Other => f.write_str("failure"),
        }
    }
}
