//! Judges: was what happened atomic?
//!
//! A judge is a pure function from what was observed, and the sequential behaviour, to a verdict with its witness.
//! There is no I/O, no thread, no clock and no global here.
//!
//! - [`composed`]: one call of a method under test that overlaps atomic operations of an environment. With k of them
//!   there are k + 1 sequential orders, so this judge is fast enough to follow every execution of the search.
//! - [`history`] and [`general`]: calls that overlap each other in any way, some of them perhaps still pending, and
//!   the general search for a linearization.
//!
//! # Limits
//! - The general search is exponential in the number of calls that overlap each other; a [`general::Budget`] bounds
//!   it, and reaching the bound is a verdict of its own.
//! - A judge answers for the history it is given. That other histories of the same program are linearizable is for
//!   the exploration to say.

pub mod composed;
pub mod distinct;
pub mod enumerate;
pub mod general;
pub mod history;
#[allow(clippy::type_complexity)] // memo tables: the key is what the answer depends on
pub mod outcomes;
pub mod program;
pub mod recording;
pub mod schema;
pub mod types;
pub mod visibility;
