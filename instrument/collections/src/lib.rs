//! Instrumented wrappers over concurrent collections.

pub mod session;
