//! What executions look at in this program beyond its steps: plain memory, and the orderings of its atomics.

use std::sync::Once;

use interloper_scheduler::schedule::Preempt;
use interloper_scheduler::{Freedom, Freedoms, Locate, Located, Watch};
use interloper_std::plain;

use crate::blocks::as_compiled;
use crate::locate::{knows_lines, locate, prepare};

/// What a search under sequential consistency has not examined: so many accesses of an execution, at most, have weaker orderings.
pub(crate) fn ran_as_seq_cst(accesses: u64) -> Option<String> {
    let weaker = match accesses {
        0 => return None,
        1 => "1 access to an atomic with an ordering weaker than SeqCst".to_owned(),
        more => format!("{more} accesses to atomics with orderings weaker than SeqCst"),
    };
    Some(format!("{weaker} ran as SeqCst: weak memory (`memory = \"weak\"`, `--memory weak`) examines the orderings"))
}

/// What a finding with these departures may rest on, in a program that did not ask for weak memory and that `cargo interloper` did
/// not build: there the counts of an `Arc`, which order what its owners do, cannot be seen.
pub(crate) fn may_lack_order(departures: Freedoms) -> Option<&'static str> {
    let needs_weak_memory = departures.count(Freedom::Memory) > 0;
    (needs_weak_memory && (!plain::is_announced() || plain::is_quiet())).then_some(
        "this finding needs weak memory, which is the default because the program has orderings weaker than SeqCst. This build does not \
         see the order that the count of an `Arc`, or a crate outside of control, makes: if the finding depends on such an order, run \
         `cargo interloper test`, which sees it",
    )
}

/// Where tasks of programs are preempted that say nothing about it.
pub(crate) fn preempt() -> Preempt {
    if plain::preempts() { Preempt::Memory } else { Preempt::Synchronisation }
}

/// How executions look at plain memory, if they do. `wanted` is `None` where the program says nothing about it: then they look if
/// it was built for that. Where loads and stores are steps, they look in any case.
pub(crate) fn watch(wanted: Option<bool>, leaks: bool, preempt: Preempt) -> Option<Watch> {
    let looks = wanted.unwrap_or_else(|| plain::is_announced() || plain::quarantines());
    let races = looks && (plain::judges_races() || !plain::is_announced()) && !gives_own_memory();
    let steps = preempt == Preempt::Memory;
    let locate: Locate = if steps { locate_step } else { locate };
    (looks || steps).then(|| {
        prepare();
        Watch { locate: Some(locate), races, leaks, steps }
    })
}

/// Whether the allocator of the program gives out memory that nobody is told of; says so once.
fn gives_own_memory() -> bool {
    static SAID: Once = Once::new();
    let gives = plain::gives_own_memory();
    if gives {
        SAID.call_once(|| {
            eprintln!(
                "data races: not looked for, since the allocator of the program gives out parts of larger blocks: memory that one thread \
                 frees and another one gets would look shared"
            );
        });
    }
    gives
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
