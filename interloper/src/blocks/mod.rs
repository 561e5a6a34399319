//! Programs with atomic blocks: can another task get in between?
//!
//! [`atomic`](crate::atomic()) marks a block; [`check`](crate::check()) runs the program under many schedules, among
//! them those of AtomFuzzer (C.-S. Park and K. Sen, *Randomized active atomicity violation detection in concurrent
//! programs*, FSE 2008), and grades what it finds ([`Grade`]):
//!
//! - a *warning* says that a block accesses an object twice, so that another task might come in between;
//! - an *error* is an execution in which one did: its three accesses have no serial order ([`unserialisable`] lists the
//!   triples, for locks, reader-writer locks and atomics);
//! - a *bug* is an execution that panics, deadlocks, or comes to something that no serial order of the blocks comes to.
//!
//! Whether an error is a bug is decided by running the serial orders: the same program, each block without interruption,
//! in every order of the blocks and of the steps outside of them. What an execution comes to is what the closure returns
//! and what blocks return that were marked with [`atomic_returning`](crate::atomic_returning).
//!
//! # Limits
//!
//! - A search at random finds what it finds: a clean report says how many executions it is about. The schedules are
//!   those of the given program with its inputs (section 3.4 of the paper: Figure 4).
//! - Only what goes through the mirror of std, or another instrumented type, is seen: see
//!   [`interloper_scheduler`](crate::blocks::Schedule) for the rest of what is not modelled.
//! - A block that cannot come to its end alone, because it waits for something that another task does meanwhile, has no
//!   serial order. Orders with such blocks are left out; if there are no others, blocks are interrupted where they wait,
//!   and the report says so.

mod annotated;
#[doc(hidden)]
pub mod attribute;
mod backtraces;

mod check;
mod describe;
mod failures;
mod judge;
pub(crate) mod leaving;
mod long_rows;
pub(crate) mod mark;
mod outcome;
mod overrides;
mod precedence;
mod program;
mod reached;
mod reference;
mod report;
mod runner;
mod schedule;
mod sections;
mod serial;
mod settings;

mod testing;
mod triples;
mod unexplored;
mod watch;
mod worker;

pub use check::{Checker, check};
pub use interloper_scheduler::strategies::MAX_DEPTH;
pub use interloper_scheduler::{Access, Freedom, Freedoms, FreedomsError, unserialisable};
pub use overrides::BadVariable;
pub use program::{Bug, Expected, Program, Unexpected};
pub use report::{Coverage, CutShort, Finding, Grade, Misuse, Report, SerialCoverage, Step, Violation, Warning};
pub use schedule::{Schedule, ScheduleError};
pub use sections::Blocks;
pub use settings::{MAX_JOBS, Settings, StepBound};
pub use unexplored::Unexplored;
pub use watch::{Phase, Watch};

pub use interloper_scheduler::Detached;
