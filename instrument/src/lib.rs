//! A mirror of `std` whose visible steps go through a [`runtime::Runtime`].
//!
//! Outside a controlled execution every type is the real one. In a controlled execution, blocking, atomics, threads, time,
//! thread-locals and default hashers belong to the runtime. There are two ways to adopt the mirror:
//!
//! - One line at the root of a crate puts the whole crate under control, since a name that `extern crate` declares shadows
//!   the real `std` in every path:
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
//! - Or you import each type that is to be under control from here: `use interloper_std::sync::Mutex;`.
//!
//! Everything that is not mirrored is that of std.
//!
//! # Statics
//!
//! Each execution has its own values of statics, like a process that has just started: a lazily initialised value is
//! initialised anew, and an atomic or a lock has its initial value. At the end of the execution these values are dropped.
//!
//! This holds for the types of this crate. Everything else in the statics of chosen crates (a `static mut`, a cell beside an
//! atomic, a lazy value of another crate) is restored at the end of each execution, on Linux with 64 bits: see
//! [`runtime::Statics`]. `cargo interloper test` chooses the user's own crates and the crates under control; elsewhere the
//! user names the crates.
//!
//! # Limits
//!
//! - Under control, the runtime says whether memory is sequentially consistent, and what an atomic access reads where it is
//!   not. Plain memory is always as the last step left it; see [`plain`] for what a runtime can be told of it.
//! - The counts of an `Arc` are those of std: the engine does not explore which task drops the last `Arc`, or what
//!   `Arc::strong_count` returns, for its own sake.
//! - An atomic has room only for its value, so the runtime knows it by its address. An atomic that is moved after its first
//!   use counts as a new one. Its old address is forgotten when the memory is freed: when [`alloc::dealloc`] frees it, or
//!   when the task ends whose stack contains it. Some frees go unnoticed, for example by a `Vec` that moved or forgot the
//!   atomics in it; another atomic at the same address then counts as the same one.
//! - A borrow from a static under control must not be used after the execution.
//! - The value in the lock of a static is fresh if the compiler made it, as is usual for a static. Two kinds of values stay
//!   as they are: a value that may hold a pointer to the heap when it is first used, and a value that is used through
//!   [`as_ptr`](sync::atomic::AtomicU32::as_ptr). In a crate that was not chosen, data of other types beside an atomic
//!   (`static mut`, an `UnsafeCell`) stays as it is too, and executions on several threads share it.
//! - A whole static of a chosen crate is restored, not dropped, since a real program drops no static. With the allocator
//!   [`plain::Quarantine`], on Linux, memory that an execution has allocated for it is freed later, when no word of the
//!   process leads to it any more; elsewhere it stays allocated to the end of the process.
//! - Some whole statics are not restored: a static that was used outside executions before (its atomics then begin with the
//!   value that they have outside); a static that a static of another, unchosen crate points to (such as a node of a list of
//!   that crate; pointers on the heap are not seen); a static that refers to another library when the program is loaded; a
//!   static of more than 1 MiB, and statics beyond 16 MiB together; unnamed memory that a static refers to (`&mut [0; 4]`).
//!   A thread-local is fresh only if it was made with this crate's `thread_local!`, and not with that of std or
//!   `#[thread_local]`. No static is restored in a program without symbols (`strip = true`), or in a dynamic library.
//! - An execution that changes a whole static runs alone: executions on other threads wait for its end. No thread outside
//!   control (such as another test) may use such a static at the same time, since its changes would be undone. Therefore
//!   `cargo interloper test` runs one test at a time. When you tell it to run several tests at once, it restores no whole
//!   static, and says so.
//! - Statics are not fresh on platforms that do not tell where the memory of statics is.
//! - [`collections::HashMap`], `HashSet`, the atomics and the locks are distinct types: traits that other crates implement for the
//!   originals do not apply to them. `cargo interloper` adds those of serde. The tables dereference to the originals.

#![warn(missing_docs)]
#![allow(unexpected_cfgs, reason = "`cargo interloper` sets some")]

pub mod alloc;
pub mod collections;
mod control;
pub mod hash;
pub mod hint;
#[cfg(all(any(interloper, test), not(miri), target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]
mod kernel;
mod mirror;
pub mod panic;
pub mod plain;
pub mod prelude;
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
