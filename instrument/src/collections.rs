//! Mirrors [`mod@std::collections`]: under control hash tables are seeded from the run.

#[macro_use]
mod delegate;
mod map;
mod set;

pub use std::collections::*;

pub use map::HashMap;
pub use set::HashSet;

/// Mirrors [`std::collections::hash_map`].
pub mod hash_map {
    pub use std::collections::hash_map::*;

    pub use super::HashMap;
    pub use crate::hash::RandomState;
}

/// Mirrors [`std::collections::hash_set`].
pub mod hash_set {
    pub use std::collections::hash_set::*;

    pub use super::HashSet;
}
