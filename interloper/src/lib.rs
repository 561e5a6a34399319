//! Is this concurrent code atomic?
//!
//! Interloper runs a *method under test* (MUT) on instrumented collections. Between the steps of the method it injects
//! operations of an adversarial environment that do not commute with these steps. It compares each execution with the
//! sequential orders of what happened. When no order explains an execution, the report shows the smallest such execution
//! with the orders that fail, and you can replay it. The project's docs/WORDS.md fixes the terms.
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
//! [`check`](fn@check) and `#[interloper::test]` check programs with threads whose blocks are marked as
//! [`atomic`](fn@atomic): see [`blocks`].
//!
//! [`object`](macro@object) on an `impl` block, or a builder, describes an object that is itself concurrent: see
//! [`objects`].
//!
//! [`block_on`] and [`spawn`], or `#[interloper::test] async fn`, run futures on an executor whose ready tasks are choices of
//! the scheduler: see [`tasks`].
//!
//! # What is checked of a composed operation
//!
//! - **The program**: a closure over one or more collections, and its arguments: instrumented ones ([`collections`]), or, under
//!   `cargo interloper`, a `dashmap::DashMap` as it was published. The closure run alone is its own specification.
//! - **The environment**: before each step of the method and before it returns, the environment may act, with up to
//!   [`Settings::bound`] atomic operations in all. Their keys and values are those that the method uses, and a fresh one
//!   ([`Adversary`] says how the environment chooses, [`Environment`] says which operations it has).
//! - **The judgement**: with k environment operations there are k + 1 sequential orders. An order explains the execution
//!   when the result of the method, the result of each environment operation and the final state all agree. A panic is a
//!   result.
//!
//! # Limits
//!
//! - A pass holds only for the arguments, initial states, keys, values and number of environment operations that the
//!   report names.
//! - Of a collection as it was published (`dashmap::DashMap`), only the calls and the states between them are seen, so the
//!   environment tries all of its operations before each call. Methods that a macro of the crate generates are not seen as
//!   calls. While a closure that the method passes to a call runs, the environment does not act.
//! - Interloper sees only instrumented collections. State elsewhere must not matter: a method is refused when two of its
//!   executions alone differ ([`Misuse::Nondeterministic`]).
//! - The collections themselves are assumed to be correct: each of their operations is one atomic step, unless the
//!   documentation of a wrapper says that it takes several.
//! - Where memory is weak, atomics follow C++20 but for load buffering: no load reads what a later step stores. The order that the
//!   count of an `Arc` makes is seen under `cargo interloper` alone. Plain memory is always as the last step left it.
//! - Data races and uses of freed memory are seen in a program that `cargo interloper` built, on Linux with 64 bits, in your
//!   own crates and those under control. Accesses by std as it was compiled before, and by foreign functions, are not seen.
//!   A program whose global allocator has memory of its own keeps what it frees to itself: uses of freed memory are then not seen, and
//!   data races are not looked for, unless `--races on` says so.

#![cfg_attr(
    not(feature = "full"),
    allow(rustdoc::broken_intra_doc_links, reason = "the text links to what features bring")
)]

pub mod blocks;
mod built;
#[cfg(feature = "composed")]
mod composed;
mod locate;
#[cfg(feature = "objects")]
pub mod objects;
mod pages;
#[cfg(feature = "objects")]
#[doc(hidden)]
pub mod recorded;
pub mod tasks;

pub use blocks::mark::{atomic, atomic_returning};
pub use blocks::{Checker, check};
#[cfg(feature = "composed")]
pub use composed::asked::{self as operations, ready};
#[cfg(feature = "composed")]
pub use composed::{
    Adversary, Check, Coverage, Described, Environment, MethodUnderTest, Misuse, Pair, PairVerdict, Pairs, PairsReport,
    Parts, Report, Search, Settings, Verdict, Violation, linearization_point,
};
#[cfg(feature = "composed")]
pub use interloper_collections::{Subject, subject};
pub use interloper_commutativity::{Datum, ToValue, Value, datum};
#[cfg(feature = "composed")]
pub use interloper_linearize::composed::Mode;
pub use interloper_macros::{atomic, invariant, object, test};
pub use interloper_scheduler::decisions::Decisions;
pub use interloper_scheduler::{Notices, OfShard, Shard, ShardError, Shards, Unseen, idle};
pub use tasks::{block_on, spawn};

/// The programs of the README and of the book compile and do what they say.
#[cfg(doctest)]
mod book {
    #[doc = include_str!("../../README.md")]
    struct Readme;
    #[doc = include_str!("../../docs/how-to/async.md")]
    struct Async;
    #[doc = include_str!("../../docs/how-to/blocks.md")]
    struct Blocks;
    #[doc = include_str!("../../docs/how-to/composed.md")]
    struct Composed;
    #[doc = include_str!("../../docs/how-to/objects.md")]
    struct Objects;
}

/// Instrumented collections: the originals' API, each operation a visible step under control.
#[cfg(feature = "composed")]
pub use interloper_collections as collections;
/// Abstract data types as sequential models, and when their operations do not commute.
pub use interloper_commutativity as commutativity;
/// The mirror of `parking_lot`, under control in a checked program and parking_lot's own elsewhere.
#[cfg(feature = "parking_lot")]
pub use interloper_parking_lot as parking_lot;
/// A counterexample as text, JSON and HTML.
pub use interloper_report as report;
/// The mirror of std, under control in a checked program and std's own elsewhere: `use interloper::sync::Mutex`.
///
/// The same modules stand in for all of std in a crate that has
/// `#[macro_use] extern crate interloper_std as std;` at its root.
pub use interloper_std::{hash, hint, panic, plain, process, sync, thread, thread_local, time};
