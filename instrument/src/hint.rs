//! Mirrors [`std::hint`].

use std::panic::Location;

use crate::runtime;

pub use std::hint::*;

/// As [`std::hint::spin_loop`]. Under control it yields: other tasks run first, if any can.
#[inline]
#[track_caller]
pub fn spin_loop() {
    let location = Location::caller();
    runtime::with(|current| current.runtime().yield_now(location)).unwrap_or_else(std::hint::spin_loop);
}
