//! Queues of crossbeam, instrumented. Each operation is one lock-free step.

#[macro_use]
mod shell;

mod array;
mod seg;

pub use array::ArrayQueue;
pub use seg::SegQueue;

#[cfg(test)]
mod tests;
