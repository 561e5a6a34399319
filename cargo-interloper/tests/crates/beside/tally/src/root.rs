//! A crate that knows nothing of Interloper. Its root is not named as usual, and it has lines of its own for what the
//! compiler declares anyway.
#![cfg_attr(not(feature = "locked"), no_std)]
#![deny(warnings)]

#[cfg(feature = "locked")]
extern crate std;

#[cfg(feature = "locked")]
mod locked;
#[cfg(feature = "locked")]
pub use locked::Tally;
