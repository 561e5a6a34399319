//! Instrumented wrappers over concurrent collections.

pub mod session;
mod subject;

pub use subject::Subject;
