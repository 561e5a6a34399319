//! A mirror of `std` whose visible steps go through a [`runtime::Runtime`].
//!
//! Outside a controlled run every type is the real one. Inside one, blocking, atomics, threads, time, thread-locals and
//! default hashers are the runtime's. There are two ways to adopt it:
//!
//! - One line at the root of a crate puts all of it under control, since a name that `extern crate` declares shadows the
//!   real `std` in every path:
//!
//!   ```
//!   #[macro_use]
//!   extern crate interloper_std as std;
//!
//!   use std::sync::Mutex;
//!   # fn main() { assert_eq!(*Mutex::new(1).lock().unwrap(), 1); }
//!   ```
//!
//!   (`as core` does the same for `core::`.)
//! - Or what is to be under control is imported from here: `use interloper_std::sync::Mutex;`.
//!
//! What is not mirrored is std's own.

#![warn(missing_docs)]

mod control;
pub mod hash;
pub mod hint;
pub mod panic;
pub mod runtime;
pub mod sync;
pub mod thread;
pub mod time;

pub use ::std::*;

/// The real std, for the macros of this crate.
#[doc(hidden)]
pub use ::std as __std;
