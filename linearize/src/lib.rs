//! Judges: was what happened atomic?
//!
//! A judge is a pure function: from an observation and the sequential behaviour to a verdict with its witness. This crate
//! uses no I/O, no thread, no clock and no global.
//!
//! | question | modules |
//! |---|---|
//! | One call of a method under test overlaps k atomic operations of an environment: does one of the k + 1 sequential orders explain what happened? Fast enough to follow every execution of a search. | [`composed`] |
//! | Is this history linearizable? Calls may overlap in any way, and some may still be pending. | [`history`], [`general`] |
//! | The same in O(n log n) for collections and registers whose values are distinct. | [`distinct`] |
//! | The same for a recorded history over a reference data type: part by part, each by the checker that fits. | [`recording`], [`types`] |
//! | Which outcomes may a small program have, when the visibility level of each method says what it sees? | [`schema`], [`visibility`], [`program`], [`outcomes`] |
//! | Through which linearizations and visibilities? | [`enumerate`] |
//! | Where do histories for experiments come from? | [`generate`], streams of `interloper_random` |
//! | Which happens-before orders can the locks and volatile variables of a program impose? | [`happens_before`] |
//!
//! # Limits
//! - The general search is exponential in the number of calls that overlap. A [`general::Budget`] bounds the search, and
//!   a search that reaches the bound has the verdict unknown.
//! - Outcomes are exact up to 64 invocations and a bound on the configurations; beyond these limits they are an error.
//! - A judge answers only for the history that it is given. Whether other histories of the same program are linearizable
//!   is a question for the exploration.

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
#[cfg(test)]
mod testing;
pub mod types;
pub mod visibility;
