//! Concurrent objects under small harnesses: which of their methods are not atomic?

pub mod object;
mod panics;
pub mod stress;

pub use object::{Description, Method, MethodId, Object, Program, Role};
