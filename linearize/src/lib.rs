//! Judges: was what happened atomic?
//!
//! A judge is a pure function from what was observed, and the sequential behaviour, to a verdict with its witness.
//! There is no I/O, no thread, no clock and no global here.
//!
//! | question | modules |
//! |---|---|
//! | One call of a method under test overlaps k atomic operations of an environment: does one of the k + 1 sequential orders explain what happened? Fast enough to follow every execution of a search. | [`composed`] |
//! | Is this history linearizable? Calls overlap each other in any way, some are perhaps still pending. | [`history`], [`general`] |
//! | The same in O(n log n) for collections and registers whose values are distinct. | [`distinct`] |
//! | The same for a recorded history over a reference data type: part by part, by the checker that fits. | [`recording`], [`types`] |
//! | Which outcomes does a small program admit, when each method sees what its visibility level says? | [`schema`], [`visibility`], [`program`], [`outcomes`] |
//! | Through which linearizations and visibilities? | [`enumerate`] |
//! | How does one get histories to try all this on? | [`generate`], [`random`] |
//! | Which happens-before orders can its locks and volatile variables impose? | [`happens_before`] |
//!
//! # Limits
//! - The general search is exponential in the number of calls that overlap each other; a [`general::Budget`] bounds
//!   it, and reaching the bound is a verdict of its own.
//! - Outcomes are exact up to 64 invocations and a bound on the configurations, and an error beyond.
//! - A judge answers for the history it is given. That other histories of the same program are linearizable is for
//!   the exploration to say.

pub mod composed;
pub mod distinct;
pub mod enumerate;
pub mod general;
pub mod generate;
pub mod happens_before;
pub mod history;
#[allow(clippy::type_complexity)] // memo tables: the key is what the answer depends on
pub mod outcomes;
pub mod program;
pub mod recording;
pub mod schema;
pub mod types;
pub mod visibility;
