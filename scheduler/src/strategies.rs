//! The strategies, one short file each, headed by its paper.
//!
//! | strategy | chooses |
//! |---|---|
//! | [`RandomWalk`] | any enabled task, all equally likely |
//! | [`AtomFuzzer`] | as a random walk, but pauses a task where another one could violate its atomic block |
//! | [`Pct`] | by random priorities that change at few points |
//! | [`Pctwm`] | as PCT, and which reads see what other tasks stored, for weak memory |
//! | [`Pos`] | by random priorities of operations, drawn anew among those that depend on each other |
//! | [`Surw`] | so that all interleavings (URW), or all orders of the steps on one object (SURW), are equally likely |
//! | [`Rff`] | as SURW, URW and POS in turn, so that reads see the writes that an abstract schedule asks for; learns from each execution |
//! | [`PreemptionBound`] | every schedule with few preemptions |
//! | [`Exhaustive`] | one schedule of each Mazurkiewicz trace |
//! | [`Guided`] | what a source of decisions says: replay, plain enumeration |
//! | [`FirstRun`] | no preemption |
//! | [`Follow`] | the tasks of a list, in turn |
//! | [`Portfolio`] | several of these in turn |

mod atom_fuzzer;
mod exhaustive;
mod first_run;
mod follow;
mod guided;
pub(crate) mod lineage;
mod pct;
mod pctwm;
mod portfolio;
mod pos;
mod preemption_bound;
mod priorities;
mod random_walk;
mod rff;
mod surw;

pub use atom_fuzzer::{AtomFuzzer, Finding, Grade, Inferred, Pair, Pattern};
pub use exhaustive::{Cut, Exhaustive, Exploration, Sleeper};
pub use first_run::FirstRun;
pub use follow::Follow;
pub use guided::Guided;
pub use pct::{MAX_DEPTH, Pct};
pub use pctwm::Pctwm;
pub use portfolio::Portfolio;
pub use pos::Pos;
pub use preemption_bound::PreemptionBound;
pub use random_walk::RandomWalk;
pub use rff::Rff;
pub use surw::{PROFILE_EVENTS, PROFILE_EXECUTIONS, Profile, Selection, Surw};
