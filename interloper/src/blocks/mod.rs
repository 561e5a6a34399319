//! Programs with atomic blocks: can another task interrupt a block?
//!
//! [`atomic`](crate::atomic()) marks a block; [`check`](crate::check()) runs the program under many schedules, among
//! them those of AtomFuzzer (C.-S. Park and K. Sen, *Randomized active atomicity violation detection in concurrent
//! programs*, FSE 2008), and grades what it finds ([`Grade`]):
//!
//! - a *warning* says that a block accesses an object twice, so another task could come between the two accesses;
//! - an *error* is an execution in which another task did: the three accesses have no serial order ([`unserialisable`]
//!   lists the triples, for locks, reader-writer locks and atomics);
//! - a *bug* is an execution that panics, deadlocks, or has an outcome that no serial order of the blocks gives.
//!
//! To decide whether an error is a bug, the check runs the serial orders: the same program, with each block uninterrupted,
//! in every order of the blocks and of the steps outside them. The outcome of an execution is the value that the closure
//! returns, together with the values of blocks that were marked with [`atomic_returning`](crate::atomic_returning).
//!
//! # Limits
//!
//! - A random search is a sample: a clean report says how many executions it covers. The schedules are those of the given
//!   program with its inputs (section 3.4 of the paper: Figure 4).
//! - The search sees only steps that go through the mirror of std or another instrumented type. The limits of
//!   [`interloper_scheduler`](crate::blocks::Schedule) list what else is not modelled.
//! - A block that cannot end alone, because it waits for another task, has no serial order. Serial orders with such blocks
//!   are left out. If no other serial order exists, blocks are interrupted where they wait, and the report says so.

mod annotated;
#[doc(hidden)]
pub mod attribute;
pub(crate) mod backtraces;
mod check;
mod chunks;
mod describe;
mod explored;
mod failures;
mod futures;
mod grade;
mod judge;
pub(crate) mod leaving;
mod lines;
mod long_rows;
pub(crate) mod mark;
mod misuse;
pub mod orderings;
mod outcome;
mod overrides;
mod pace;
mod polls;
mod precedence;
mod program;
pub mod progress;
mod reached;
mod reference;
mod report;
mod room;
mod runner;
mod schedule;
mod sections;
mod serial;
mod settings;
mod subtrees;
mod testing;
mod triples;
mod unexplored;
mod watch;
mod worker;

pub use check::{Checker, check};
pub use grade::Grade;
pub use interloper_scheduler::schedule::{Memory, MemoryError, Preempt, PreemptError, Schedule, ScheduleError};
pub use interloper_scheduler::strategies::MAX_DEPTH;
pub use interloper_scheduler::{Access, Crash, Freedom, Freedoms, FreedomsError, unserialisable};
pub(crate) use lines::as_compiled;
#[cfg(feature = "composed")]
pub(crate) use lines::below_workspace;
pub use misuse::Misuse;
pub use overrides::{BadVariable, environment_is_usable};
pub use program::{Bug, Expected, Program, Unexpected};
pub use report::{Coverage, CutShort, Finding, InferredBlock, Report, SerialCoverage, Step, Violation, Warning};
pub use sections::Blocks;
pub use settings::{MAX_JOBS, Settings, StepBound};
pub use testing::{FINDINGS, NOTHING_TO_DO};
pub use unexplored::Unexplored;
pub use watch::{Phase, Watch};

pub use interloper_scheduler::{Clock, Detached};
