//! What executions look at in this program beyond its steps: plain memory, and the orderings of its atomics.

use interloper_scheduler::Watch;
use interloper_scheduler::schedule::Memory;
use interloper_std::plain;

use crate::locate::{knows_lines, locate};

/// The memory of programs that ask for none; `None` is weak memory where orderings are weaker than `SeqCst`. That needs a program
/// that `cargo interloper` built: in others the counts of an `Arc`, which order what its owners do, cannot be seen.
pub(crate) fn memory() -> Option<Memory> {
    (!plain::is_announced()).then_some(Memory::SequentiallyConsistent)
}

/// How executions look at plain memory, if they do. `wanted` is `None` where the program says nothing about it: then they look if
/// it was built for that.
pub(crate) fn watch(wanted: Option<bool>, leaks: bool) -> Option<Watch> {
    let looks = wanted.unwrap_or_else(|| plain::is_announced() || plain::quarantines());
    looks.then(|| Watch { locate: Some(locate), races: plain::judges_races() || !plain::is_announced(), leaks })
}

/// Whether the places of accesses that the compiler announces cannot be known.
pub(crate) fn lacks_lines() -> bool {
    plain::is_announced() && !knows_lines()
}
