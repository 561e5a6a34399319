//! Bugs that only weak memory shows: an ordering is too weak, or a fence is missing.
//!
//! Each program is written once. Its twin passes the ordering that the program lacks, or has the fence, and differs in
//! nothing else. Where a published source gives the algorithm, the program names it as its origin.
//!
//! Plain memory is seen only under `cargo interloper` (`examples/memory` has such programs), and these programs run without
//! it. So what a race would touch is an atomic here, accessed with [`Relaxed`]: a reader that nothing orders after the writer
//! reads a stale value. Freed memory is a slot of an arena with a flag that says so. That way each bug is a panic or a
//! deadlock. A bug that only the race itself shows, and no value that is read, has no program here: for example the head of
//! a ring buffer that is stored with [`Relaxed`] by its consumer.
//!
//! [`ALSO_WITHOUT`] names the few programs whose bug shows without weak memory, too: lock-free code is feared for them as
//! much.
//!
//! [`Relaxed`]: std::sync::atomic::Ordering::Relaxed

mod counts;
mod fences;
mod lists;
mod locks;
mod once;
mod publication;
mod queues;
mod reclamation;
mod seqlock;
mod waiting;

use super::{Bug, CLASSIC, Expected, Family, Program, platform};

/// The programs that also have their bug where memory is sequentially consistent.
pub const ALSO_WITHOUT: [&str; 5] = [
    "atomic-arc-increment",
    "marked-list-unmarked",
    "michael-scott-aba",
    "michael-scott-early-free",
    "treiber-early-free",
];

/// The programs, by what they are about.
pub(super) fn programs() -> Vec<Program> {
    let families = [
        publication::programs(),
        once::programs(),
        counts::programs(),
        locks::programs(),
        fences::programs(),
        seqlock::programs(),
        queues::programs(),
        lists::programs(),
        reclamation::programs(),
        waiting::programs(),
    ];
    families.into_iter().flatten().collect()
}
