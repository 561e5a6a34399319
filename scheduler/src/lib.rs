//! Tasks on fibers under a strategy, and the one source of decisions that all explorations share.

#![warn(missing_docs)]

pub mod decisions;
