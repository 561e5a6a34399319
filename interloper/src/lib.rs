//! Is this concurrent code atomic?
//!
//! Interloper runs a *method under test* (MUT) on instrumented collections and injects, between its steps, operations
//! of an adversarial environment that do not commute with them. Each run is compared with the sequential orders of
//! what happened; when none explains it, the smallest such run is shown, with the orders that fail, and can be
//! replayed.
//!
//! ```
//! use interloper::collections::DashMap;
//! use interloper::{MethodUnderTest, Verdict};
//!
//! fn put_if_absent(map: &DashMap<u32, u32>, (key, value): (u32, u32)) -> Option<u32> {
//!     if map.contains_key(&key) {
//!         return map.get(&key).map(|found| *found);
//!     }
//!     map.insert(key, value)
//! }
//!
//! let report = MethodUnderTest::new("put_if_absent", DashMap::new, put_if_absent).arguments([(7, 14)]).check()?;
//! assert_eq!(report.verdict, Verdict::NotLinearizable);
//! println!("{report}");
//! # Ok::<(), interloper::Misuse>(())
//! ```
//!
//! Programs with threads, whose blocks are marked as [`atomic`](fn@atomic), are checked by [`check`](fn@check) and
//! `#[interloper::test]`: see [`blocks`].
//!
//! Objects that are concurrent themselves are described by [`object`](macro@object) on their `impl` block, or by a builder:
//! see [`objects`].
//!
//! # What is checked of a composed operation
//!
//! - **The program**: a closure over one or more instrumented collections ([`collections`]), and its arguments. The
//!   closure run alone is its own specification.
//! - **The environment**: before each step of the method and before it returns, up to [`Settings::bound`] operations
//!   in all, each atomic, drawn from the keys and values that the method uses and a fresh one
//!   ([`Adversary`] says how, [`Environment`] which).
//! - **The judgement**: with k environment operations there are k + 1 sequential orders. One explains the run when the
//!   result of the method, the result of each environment operation and the final state all agree. A panic is a
//!   result.
//!
//! # Limits
//!
//! - A pass holds for the arguments, initial states, keys, values and number of environment operations that the report
//!   names, no further.
//! - Only instrumented collections are seen. State elsewhere must not matter: a method whose runs alone differ is
//!   refused ([`Misuse::Nondeterministic`]).
//! - The collections themselves are taken to be correct: each of their operations is one atomic step, except where a
//!   wrapper's documentation says that it is several.
//! - Memory is sequentially consistent under control.

pub mod blocks;
mod composed;
pub mod objects;

pub use blocks::mark::{atomic, atomic_returning};
pub use blocks::{Checker, check};
pub use composed::{
    Adversary, Check, Coverage, Environment, MethodUnderTest, Misuse, Report, Search, Settings, Verdict, Violation,
    linearization_point,
};
pub use interloper_collections::{Subject, subject};
pub use interloper_commutativity::{Datum, ToValue, Value};
pub use interloper_linearize::composed::Mode;
pub use interloper_macros::{atomic, object, test};
pub use interloper_scheduler::Unseen;
pub use interloper_scheduler::decisions::Decisions;

/// The README's program compiles and does what it says.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

/// The mirror of `crossbeam::channel`, under control in a checked program and crossbeam's own elsewhere.
pub use interloper_channel as channel;
/// Instrumented collections: the originals' API, each operation a visible step under control.
pub use interloper_collections as collections;
/// Abstract data types as sequential models, and when their operations do not commute.
pub use interloper_commutativity as commutativity;
/// The mirror of `parking_lot`, under control in a checked program and parking_lot's own elsewhere.
pub use interloper_parking_lot as parking_lot;
/// A counterexample as text, JSON and HTML.
pub use interloper_report as report;
/// The mirror of std, under control in a checked program and std's own elsewhere: `use interloper::sync::Mutex`.
///
/// The same modules stand in for all of std in a crate that has
/// `#[macro_use] extern crate interloper_std as std;` at its root.
pub use interloper_std::{hash, hint, panic, process, sync, thread, thread_local, time};
