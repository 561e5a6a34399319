//! Concurrent objects under small harnesses: which of their methods are not atomic, and how weak are they?
//!
//! You describe an [`Object`] once. [`schemas`] generates schemas for it; [`stress`] runs them on real threads and
//! [`systematic`] runs them under the scheduler. [`judge`] computes the correct outcomes. [`hunt`] searches for an incorrect
//! outcome and minimises its schema. [`mod@derive`] finds out how much each method sees, [`mod@explain`] describes a finding
//! step by step, and [`generated`] writes tests.
//!
//! The feature `objects` brings all of this. Without it the crate has what the reports of programs need as well: [`explored`], [`faults`]
//! and [`mattered`].
//!
//! # Limits
//!
//! - A pass is not a proof: it holds only for the schemas that ran and, on real threads, only for the executions that the
//!   machine happened to show.
//! - Core methods are trusted: a core method that is not atomic makes other methods look guilty.
//! - The systematic engine sees only steps that go through the mirror of std. A call that blocks in another kind of lock
//!   blocks the engine.

#![cfg_attr(
    not(feature = "objects"),
    allow(rustdoc::broken_intra_doc_links, reason = "the text links to what features bring")
)]

pub mod explored;
pub mod faults;
pub mod mattered;
#[cfg(feature = "objects")]
mod objects;

#[cfg(feature = "objects")]
pub use objects::*;
