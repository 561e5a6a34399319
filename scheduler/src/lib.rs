//! Tasks on fibers under a strategy, and the one source of decisions that all explorations share.
//!
//! [`Engine`] runs a program: the tasks of the program are fibers on one OS thread, and at each visible step a [`Strategy`]
//! chooses the task that makes the next step. The result is an [`Execution`]. The [`decisions`] of an execution can be
//! drawn at random, searched exhaustively, and replayed.
//!
//! # Limits
//!
//! - Memory is sequentially consistent unless an execution has the freedom of memory ([`Freedom::Memory`]). Then accesses to
//!   atomics read what C++20, and so Rust, allows them to read, but for load buffering: no load reads what a later step
//!   stores, so two threads that each read the other's later store are not seen.
//! - Plain memory is always as the last step left it. Where the engine looks at it ([`Config::plain`]), an execution with a
//!   data race ends there. Of code that was not prepared for that nothing is seen: std as it was compiled before, crates that
//!   are not under control, foreign functions. A block of memory that the mirror allocates for itself counts as its own, with
//!   whatever the program puts into it, such as a message in a channel. The values of thread-locals and statics count.
//! - Loads and stores of plain memory are steps only if [`Watch::steps`] says so. A copy is one step then, whatever its size, and
//!   a loop that looks at plain memory for ever ends at the bound on the steps.
//! - Where memory is weak, what std orders by means that are neither mirrored nor prepared orders nothing. That is the
//!   reference count of `Arc` in a program that `cargo interloper` did not build: a destructor that runs when the last one
//!   goes may see stale values there that a real run cannot see.
//! - Where memory is weak, a step of a channel, a barrier, a once cell or a collection happens before the later ones on the
//!   same object, also where std promises less: that two messages of different senders are ordered, for example.
//! - A time-out passes only when no task can go on: until then the virtual clock stands still, unless a task polls it. In an
//!   execution with the freedom of time ([`Freedom::Time`]), some sleeps and time-outs end earlier.
//! - A task that makes thousands of steps in a row while others could go on is held back for a while: a loop that waits
//!   must not prevent the tasks that it waits for from running. [`Execution::steered`] says that this happened.
//! - A task is not preempted while it unwinds.
//! - Everything else that a task does between two visible steps belongs to one step, even when it touches memory that other tasks
//!   touch.

#![warn(missing_docs)]

mod access;
pub mod choices;
mod deadline;
pub mod decisions;
mod determinism;
mod engine;
mod execution;
mod explore;
mod freedoms;
mod holding;
pub mod links;
mod memory;
pub mod orderings;
mod plain;
/// What a panic says, and panics that are not printed.
pub mod panics {
    pub use crate::engine::panics::{Panicked, caught, message, quietly, without_address};
}
mod saved;
pub mod schedule;
mod shard;
mod shrink;
mod spot;
pub mod strategies;
mod strategy;
#[cfg(test)]
mod testing;
mod traces;
mod vector_clock;
pub mod words;

pub use access::{Access, unserialisable};
pub use deadline::{Deadline, Effort};
pub use determinism::Difference;
pub use engine::{Clock, Config, Detached, Engine, Lost, OwnStack, Stuck, Unlock, Watchdog};
pub use execution::{
    Among, Blocked, Cause, Crash, End, Event, Execution, Held, Notice, Older, PanicReport, SourcePlace, TaskReport,
};
pub use explore::{Executions, Explored, Stopped};
pub use freedoms::{Freedom, Freedoms, FreedomsError};
pub use holding::{Hold, Holding};
pub use interloper_std::plain::Handed;
pub use interloper_std::runtime;
pub use plain::{Allocation, Doing, Fault, FaultKind, Locate, Located, Touch, Watch};
pub use shard::{Notices, OfShard, Shard, ShardError, Shards, idle};
pub use shrink::{Failing, Shrunk, shrink};
pub use strategy::{Around, Hint, Novelty, Pending, Stores, Strategy};
pub use traces::{Counted, Fingerprint, Fingerprints, Pick, Tally, Traces, Unseen, meets};
