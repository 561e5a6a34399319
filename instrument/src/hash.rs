//! Mirrors [`std::hash`]: under control the default hashers are seeded from the run.

use std::fmt;

use crate::runtime;

pub use std::hash::*;

/// Mirrors [`std::hash::RandomState`].
///
/// Under control their seeds follow from [`Runtime::seed`](crate::runtime::Runtime::seed), from the task that makes them, and from how many
/// it has made, so that the order of a map does not depend on the schedule. As in std, two of them differ.
#[derive(Clone)]
pub struct RandomState(Kind);

#[derive(Clone)]
enum Kind {
    Real(std::hash::RandomState),
    Seeded(u64),
}

impl RandomState {
    /// As [`std::hash::RandomState::new`].
    #[must_use]
    #[inline]
    pub fn new() -> RandomState {
        RandomState(runtime::hasher().map_or_else(|| Kind::Real(std::hash::RandomState::new()), Kind::Seeded))
    }
}

impl BuildHasher for RandomState {
    type Hasher = DefaultHasher;

    #[inline]
    fn build_hasher(&self) -> DefaultHasher {
        match &self.0 {
            Kind::Real(state) => state.build_hasher(),
            Kind::Seeded(seed) => {
                let mut hasher = DefaultHasher::new();
                hasher.write_u64(*seed);
                hasher
            }
        }
    }
}

impl Default for RandomState {
    #[inline]
    fn default() -> RandomState {
        RandomState::new()
    }
}

impl fmt::Debug for RandomState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RandomState").finish_non_exhaustive()
    }
}
