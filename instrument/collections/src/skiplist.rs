//! A sorted map and a sorted set: [`crossbeam_skiplist`], instrumented. Everything is lock-free.
//!
//! Each method on one key or one end is one step. Iteration, `range` and `clear` are sequences of steps, as in the
//! original: each step looks for the entry after the last one, even if the last one was removed.
//!
//! # Differences from the original
//! - `insert` on an existing key removes the old entry before it links the new one, and `pop_front` finds the entry
//!   before it removes it. Here each is one step: whatever others can see between is not found.
//! - Keys are in the order of their type; the abstract type orders their plain forms. A key type whose order differs
//!   (`Reverse`) cannot be used in a controlled run.

mod core;
mod entry;
mod iterate;
mod list;
pub mod map;
pub mod set;
#[cfg(test)]
mod tests;
mod words;

pub use map::SkipMap;
pub use set::SkipSet;
