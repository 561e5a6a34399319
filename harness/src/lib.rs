//! Concurrent objects under small harnesses: which of their methods are not atomic, and how weak are they?
//!
//! An [`Object`] is described once. [`schemas`] are made for it, [`stress`] runs them on real threads and [`systematic`]
//! under the scheduler, [`judge`] knows the outcomes that are right, [`hunt`] searches for one that is not and makes its
//! schema small, [`mod@derive`] finds out how much each method sees, [`mod@explain`] says what
//! was found, step by step, and [`generated`] writes tests.
//!
//! # Limits
//!
//! - Nothing found is no proof: a pass holds for the schemas that were run and, on real threads, for the executions that
//!   the machine happened to make.
//! - What the core methods have in common with the method under test is trusted: a core method that is not atomic itself
//!   makes others look guilty.
//! - The systematic engine sees the steps that go through the mirror of std. A call that blocks in a lock of another kind
//!   blocks the engine.

pub mod derive;
pub mod explain;
pub mod generated;
pub mod hunt;
pub mod judge;
pub mod object;
mod panics;
pub mod schemas;
pub mod stress;
pub mod systematic;

pub use object::{Description, Method, MethodId, Object, Program, Role};
