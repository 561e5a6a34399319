//! Tasks on fibers under a strategy, and the one source of decisions that all explorations share.
//!
//! [`Engine`] runs a program: its tasks are fibers on one OS thread, and at each visible step a [`Strategy`] chooses
//! whose step is next. What came of it is an [`Execution`]. The [`decisions`] of a run can be drawn at random, searched
//! exhaustively, and replayed.
//!
//! # Limits
//!
//! - Memory is sequentially consistent: reorderings that weaker atomics admit are not shown.
//! - A time-out passes only when no task can go on: the virtual clock stands still otherwise, unless a task polls it. An
//!   execution that has the freedom of time ([`Freedom::Time`]) lets some sleepers and time-outs come earlier.
//! - A task that makes thousands of steps in a row while others could go on is held back for a while: a loop that waits
//!   must not keep those from running that it waits for. [`Execution::steered`] says that this happened.
//! - While a task unwinds it is not preempted.
//! - What a task does between two visible steps is one step, also where it touches memory that others touch.

#![warn(missing_docs)]

mod access;
mod deadline;
pub mod decisions;
mod determinism;
mod engine;
mod execution;
mod explore;
mod freedoms;
mod holding;
mod shrink;
pub mod strategies;
mod strategy;
mod traces;
pub mod words;

pub use access::{Access, unserialisable};
pub use deadline::{Deadline, Effort};
pub use determinism::Difference;
pub use engine::{Config, Detached, Engine, Lost, OwnStack, Stuck, Unlock, Watchdog};
pub use execution::{Blocked, Cause, End, Event, Execution, Held, PanicReport, SourcePlace, TaskReport};
pub use explore::{Executions, Explored, Stopped};
pub use freedoms::{Freedom, Freedoms, FreedomsError};
pub use holding::{Hold, Holding};
pub use interloper_std::runtime;
pub use shrink::{Failing, Shrunk, shrink};
pub use strategy::{Around, Pending, Strategy};
pub use traces::{Fingerprint, Fingerprints, Pick, Traces, Unseen, meets};
