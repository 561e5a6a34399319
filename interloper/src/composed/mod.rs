//! The driver of composed operations: one method under test on instrumented collections, against an adversary.
//!
//! `method` describes the method, `bench` hides its types, `domain` says what the environment may do. `explore` runs
//! one execution after the other: `runner` prepares each, `run` is the session that the collections report to, in the
//! numbered states of `world`. `histories` tells runs apart. `check` leads the searches, `one_call` leads them for
//! one call, in the `cone` of what it uses, `concurrent` for several calls and, described by `pairs`, for two methods of a type, `explain` describes the violation, `explored` adds
//! what its page shows. `alone` compares what two methods do alone. `parts` splits a check among machines, `kept` continues one. `asked` runs what
//! `cargo interloper composed --run` has written.

mod adversary;
mod alone;
pub mod asked;
mod bench;
mod check;
mod clock;
mod concurrent;
mod cone;
mod described;
mod domain;
mod explain;
mod explore;
mod explored;
mod histories;
mod kept;
mod method;
mod misuse;
mod one_call;
mod outcome;
mod pairs;
mod parts;
mod run;
mod runner;
mod world;

pub use adversary::{Adversary, Environment};
pub use check::Check;
pub use described::Described;
pub use method::{MethodUnderTest, Search, Settings, linearization_point};
pub use misuse::Misuse;
pub use outcome::{Coverage, Report, Verdict, Violation};
pub use pairs::{Pair, PairVerdict, Pairs, PairsReport};
pub use parts::Parts;
