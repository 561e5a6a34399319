//! A sorted map and a sorted set: [`crossbeam_skiplist`], instrumented. Everything is lock-free.
//!
//! Each method on one key or one end is one step. Iteration, `range` and `clear` are sequences of steps, as in the
//! original: each looks for the next entry after the last, whatever became of that.
//!
//! # Differences from the original
//! - `insert` on a key that is there takes the old entry out before it links the new one, and `pop_front` finds the
//!   entry before it removes it. Here each is one step: what others can see in between is not found.
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
