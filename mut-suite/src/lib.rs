//! The regression suite: methods under test with their expected verdicts, and programs with blocks ([`blocks`]) with
//! their expected grades.
//!
//! Each [`Case`] is a method as applications have it, wrapped as a method under test. The bad ones come from the paper
//! (COLT), from everyday Rust and from published crates, and each bad case that can be corrected names the corrected one
//! as its twin. The expected verdicts were worked out by hand; `tests/suite.rs` compares the tool's verdicts with them.
//!
//! The source text of a case is the code that runs: it is cut out of the compiled file.
//!
//! # Limits
//! A verdict holds within the bounds of the case: three environment operations, unless the case says otherwise, over a
//! few keys and values.

pub mod benchmarks;
pub mod blocks;
mod case;
mod cases;
pub mod objects;
mod published;
mod source;

use std::sync::OnceLock;

pub use case::{Case, Unexpected, run_case};

/// All cases, in a fixed order: the paper's first.
pub fn cases() -> Vec<Case> {
    static CASES: OnceLock<Vec<Case>> = OnceLock::new();
    CASES.get_or_init(cases::all).clone()
}

/// The case with this name.
pub fn find(name: &str) -> Option<Case> {
    cases().into_iter().find(|case| case.name == name)
}
