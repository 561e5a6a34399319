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
//!
//! # Statics
//!
//! Each execution has its own value of what stands in a static, as a process that has just started would: a value that is
//! initialised lazily is initialised again, an atomic or a lock has its initial value again. At the end of the execution
//! these values are dropped.
//!
//! # Limits
//!
//! - Memory is sequentially consistent under control.
//! - The counts of an `Arc` are std's own: which task drops the last one, and what `Arc::strong_count` says, is not
//!   explored for its own sake.
//! - An atomic has no room for more than its value, so it is known by its address. One that is moved after its first use is
//!   another from then on, and what it leaves at its old address is forgotten with the memory: when [`alloc::dealloc`] gives
//!   it back, or the task ends on whose stack it is. What a `Vec` gives back, say, after having moved or forgotten
//!   atomics in it, is noticed by nobody: another atomic at the same address then counts as the same one.
//! - What borrows from a static under control must not be used after the execution.
//! - The value in the lock of a static is fresh if it was made by the compiler, as that of a static usually is: one that
//!   holds what might be a pointer to the heap when it is first used is left as it is. So is what other types keep
//!   beside an atomic (`static mut`, an `UnsafeCell`), which executions that run at once on several threads share, and
//!   what is used by [`as_ptr`](sync::atomic::AtomicU32::as_ptr).
//! - Where the platform does not tell which memory is that of statics, they are not fresh.
//! - [`collections::HashMap`] and `HashSet` are types of their own, to which those traits of other crates do not apply that
//!   are implemented for the originals. They dereference to the originals.

#![warn(missing_docs)]

pub mod alloc;
pub mod collections;
mod control;
pub mod hash;
pub mod hint;
pub mod panic;
pub mod process;
pub mod runtime;
mod statics;
pub mod sync;
pub mod thread;
pub mod time;

pub use ::std::*;

/// The real std, for the macros of this crate.
#[doc(hidden)]
pub use ::std as __std;
