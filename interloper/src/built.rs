//! What executions look at in this program beyond its steps: plain memory, and the orderings of its atomics.

use interloper_scheduler::schedule::{Memory, Preempt};
use interloper_scheduler::{Locate, Located, Watch};
use interloper_std::plain;

use crate::blocks::as_compiled;
use crate::locate::{knows_lines, locate};

/// The memory of programs that ask for none; `None` is weak memory where orderings are weaker than `SeqCst`. That needs a program
/// that `cargo interloper` built: in others the counts of an `Arc`, which order what its owners do, cannot be seen.
pub(crate) fn memory() -> Option<Memory> {
    (!plain::is_announced()).then_some(Memory::SequentiallyConsistent)
}

/// What a search under sequential consistency has not examined: so many accesses of first executions whose orderings are weaker.
pub(crate) fn ran_as_seq_cst(accesses: u64) -> Option<String> {
    let weaker = match accesses {
        0 => return None,
        1 => "1 access to an atomic with an ordering weaker than SeqCst".to_owned(),
        more => format!("{more} accesses to atomics with orderings weaker than SeqCst"),
    };
    Some(format!("{weaker} ran as SeqCst: weak memory (`memory = \"weak\"`, `--memory weak`) examines the orderings"))
}

/// Where tasks of programs are preempted that say nothing about it.
pub(crate) fn preempt() -> Preempt {
    if plain::preempts() { Preempt::Memory } else { Preempt::Synchronisation }
}

/// How executions look at plain memory, if they do. `wanted` is `None` where the program says nothing about it: then they look if
/// it was built for that. Where loads and stores are steps, they look in any case.
pub(crate) fn watch(wanted: Option<bool>, leaks: bool, preempt: Preempt) -> Option<Watch> {
    let looks = wanted.unwrap_or_else(|| plain::is_announced() || plain::quarantines());
    let races = looks && (plain::judges_races() || !plain::is_announced());
    let steps = preempt == Preempt::Memory;
    let locate: Locate = if steps { locate_step } else { locate };
    (looks || steps).then_some(Watch { locate: Some(locate), races, leaks, steps })
}

/// As [`locate`], with the places of the program as those of all steps are.
fn locate_step(address: usize) -> Located {
    match locate(address) {
        Located::Program(place) => Located::Program(as_compiled(place)),
        other => other,
    }
}

/// Why loads and stores cannot be steps, if that is so: the search would explore nothing more, and seem to.
pub(crate) fn lacks_steps() -> Option<&'static str> {
    (!plain::announces_all()).then_some(
        "loads and stores can be steps only in a program that was built for it: run it with `cargo interloper test --preempt \
         memory`",
    )
}

/// Whether the places of accesses that the compiler announces cannot be known.
pub(crate) fn lacks_lines() -> bool {
    plain::is_announced() && !knows_lines()
}
