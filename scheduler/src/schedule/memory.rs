//! Which memory executions have, as a value with a text form.

use crate::execution::Execution;
use crate::freedoms::{Freedom, Freedoms};

/// Which memory executions have. The text forms are `sc` and `weak`.
///
/// ```
/// use interloper_scheduler::schedule::Memory;
///
/// assert_eq!("weak".parse(), Ok(Memory::Weak));
/// assert_eq!(Memory::SequentiallyConsistent.to_string(), "sc");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Memory {
    /// Each access to an atomic sees the newest store, whatever its ordering.
    SequentiallyConsistent,
    /// An access to an atomic may see an older store, as far as C++20, and so Rust, allows it for the orderings of the
    /// program. Some executions are sequentially consistent nevertheless: those of each schedule that come first.
    Weak,
}

impl Memory {
    /// The freedoms of the execution after which [`Memory::of_first_run`] decides.
    pub const FOR_FIRST_RUN: Freedoms = Freedoms::NONE.with(Freedom::Memory, u32::MAX);

    /// The memory for a program that asks for none: weak if its first run has an ordering weaker than `SeqCst`. The run has the
    /// freedoms [`Memory::FOR_FIRST_RUN`], since orderings are seen only where memory is weak, and the strategy
    /// [`FirstRun`](crate::strategies::FirstRun).
    pub fn of_first_run(execution: &Execution) -> Memory {
        if execution.weaker > 0 { Memory::Weak } else { Memory::SequentiallyConsistent }
    }

    /// These freedoms with this memory. A number that they name for weak memory stays.
    #[must_use]
    pub fn within(self, freedoms: Freedoms) -> Freedoms {
        match self {
            Memory::SequentiallyConsistent => freedoms.with(Freedom::Memory, 0),
            Memory::Weak if freedoms.count(Freedom::Memory) > 0 => freedoms,
            Memory::Weak => freedoms.with(Freedom::Memory, u32::MAX),
        }
    }
}

words! {
    Memory: SequentiallyConsistent as "sc", Weak as "weak";
    else MemoryError: "{:?} is not a memory: write sc (sequentially consistent) or weak"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts() {
        for memory in [Memory::SequentiallyConsistent, Memory::Weak] {
            assert_eq!(memory.to_string().parse(), Ok(memory));
        }
        let error = "Weak".parse::<Memory>().unwrap_err().to_string();
        assert_eq!(error, "\"Weak\" is not a memory: write sc (sequentially consistent) or weak");
    }

    #[test]
    fn memory_adds_to_freedoms_or_takes_away() {
        let once = Freedoms::ALL.with(Freedom::Memory, 1);
        assert_eq!(Memory::Weak.within(Freedoms::ALL).count(Freedom::Memory), u32::MAX);
        assert_eq!(Memory::Weak.within(once), once);
        assert_eq!(Memory::SequentiallyConsistent.within(once), Freedoms::ALL);
    }
}
