//! A mirror of `std` whose visible steps go through a [`runtime::Runtime`].
//!
//! Outside a controlled run every type is the real one.

#![warn(missing_docs)]

pub mod runtime;
