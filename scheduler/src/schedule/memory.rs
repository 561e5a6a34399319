//! Which memory executions have, as a value with a text form.

use crate::execution::Execution;
use crate::freedoms::{Freedom, Freedoms};
use crate::strategies::{FirstRun, RandomWalk};
use crate::strategy::Strategy;

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
    /// The memory for a program that asks for none: weak if one of its first executions has an ordering weaker than `SeqCst`. `run`
    /// makes these, or none where there is no time for more: one without preemptions and, while all orderings are `SeqCst`, a few
    /// [random walks](RandomWalk), which see orderings on slow paths.
    pub fn of_program(seed: u64, mut run: impl FnMut(&mut dyn Strategy) -> Option<Execution>) -> Memory {
        let (mut first, mut walk) = (FirstRun, RandomWalk::new(seed));
        let mut steps = 0;
        for number in 0..=FIRST_WALKS {
            let strategy: &mut dyn Strategy = if number == 0 { &mut first } else { &mut walk };
            match run(strategy) {
                Some(execution) if execution.weaker > 0 => return Memory::Weak,
                Some(execution) => steps += execution.steps,
                None => break,
            }
            if steps > FIRST_STEPS {
                break;
            }
        }
        Memory::SequentiallyConsistent
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

/// How many random walks look for an ordering weaker than `SeqCst`, and how many steps all these executions have at most, but for the
/// last.
const FIRST_WALKS: u32 = 32;
const FIRST_STEPS: u64 = 1 << 14;

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
