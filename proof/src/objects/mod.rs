//! The real types, as `cargo interloper hunt --crate` describes them.

// The descriptions speak of `interloper::objects`, and `interloper` is this crate.
pub use driver::objects::Object;

use crate::search::Effort;

#[path = "../../../cargo-interloper/objects/dashmap.rs"]
pub mod dashmap;
#[path = "../../../cargo-interloper/objects/crossbeam_skiplist.rs"]
pub mod crossbeam_skiplist;
#[path = "../../../cargo-interloper/objects/leapfrog.rs"]
pub mod leapfrog;
#[path = "../../../cargo-interloper/objects/quick_cache.rs"]
pub mod quick_cache;
#[path = "../../../cargo-interloper/objects/crossbeam_queue.rs"]
pub mod crossbeam_queue;
#[path = "../../../cargo-interloper/objects/crossbeam_deque.rs"]
pub mod crossbeam_deque;
#[path = "../../../cargo-interloper/objects/crossbeam_channel.rs"]
pub mod crossbeam_channel;
#[path = "../../../cargo-interloper/objects/concurrent_queue.rs"]
pub mod concurrent_queue;
#[path = "../../../cargo-interloper/objects/flume.rs"]
pub mod flume;
#[path = "../../../cargo-interloper/objects/thingbuf.rs"]
pub mod thingbuf;
#[path = "../../../cargo-interloper/objects/sharded_slab.rs"]
pub mod sharded_slab;
#[path = "../../../cargo-interloper/objects/boxcar.rs"]
pub mod boxcar;
#[path = "../../../cargo-interloper/objects/crossbeam_epoch.rs"]
pub mod crossbeam_epoch;
#[path = "../../../cargo-interloper/objects/arc_swap.rs"]
pub mod arc_swap;
#[path = "../../../cargo-interloper/objects/once_cell.rs"]
pub mod once_cell;
#[path = "../../../cargo-interloper/objects/parking_lot.rs"]
pub mod parking_lot;
#[path = "../../../cargo-interloper/objects/scc.rs"]
pub mod scc;
#[path = "../../../cargo-interloper/objects/papaya.rs"]
pub mod papaya;
#[path = "../../../cargo-interloper/objects/flurry.rs"]
pub mod flurry;
#[path = "../../../cargo-interloper/objects/moka.rs"]
pub mod moka;

/// All objects, in a fixed order.
pub fn all() -> Vec<Object> {
    [
        dashmap::all(),
        crossbeam_skiplist::all(),
        leapfrog::all(),
        quick_cache::all(),
        crossbeam_queue::all(),
        crossbeam_deque::all(),
        crossbeam_channel::all(),
        concurrent_queue::all(),
        flume::all(),
        thingbuf::all(),
        sharded_slab::all(),
        boxcar::all(),
        crossbeam_epoch::all(),
        arc_swap::all(),
        once_cell::all(),
        parking_lot::all(),
        scc::all(),
        papaya::all(),
        flurry::all(),
        moka::all(),
    ]
    .concat()
}

/// How much is tried of each method of an object: less where a call is long.
pub fn effort(object: &str) -> Effort {
    match object {
        "moka::sync::Cache" => Effort::BRIEFEST,
        "crossbeam_skiplist::SkipMap" | "crossbeam_epoch::Atomic" | "arc_swap::ArcSwap" => Effort::LESS,
        "scc::Queue" | "scc::Stack" | "scc::Bag" => Effort::LESS,
        _ if [scc::all(), papaya::all(), flurry::all()].concat().iter().any(|table| table.name() == object) => Effort::BRIEF,
        _ => Effort::FULL,
    }
}

/// The core method that is at fault in what is found of a method, if the method is not: docs/PROOF.md has the reason.
pub fn because_of(object: &str, method: &str) -> Option<&'static str> {
    match (object, method) {
        // It returns what one load gives. Two insertions of one key both say that they were the first.
        ("leapfrog::LeapMap", "get") => Some("insert"),
        _ => None,
    }
}
