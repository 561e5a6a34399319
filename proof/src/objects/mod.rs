//! The real types, described by their constructors and methods. A description trusts its core methods: those that the
//! documentation of the crate gives no reason to doubt.

pub mod cells;
pub mod maps;
pub mod queues;
pub mod tables;

use interloper_harness::Object;

use crate::search::Effort;

/// All objects, in a fixed order.
pub fn all() -> Vec<Object> {
    [maps::all(), queues::all(), cells::all(), tables::all()].concat()
}

/// How much is tried of each method of an object: less where a call is long.
pub fn effort(object: &str) -> Effort {
    match object {
        "moka::sync::Cache" => Effort::BRIEFEST,
        "crossbeam_skiplist::SkipMap" | "crossbeam_epoch::Atomic" | "arc_swap::ArcSwap" => Effort::LESS,
        "scc::Queue" | "scc::Stack" | "scc::Bag" => Effort::LESS,
        _ if tables::all().iter().any(|table| table.name() == object) => Effort::BRIEF,
        _ => Effort::FULL,
    }
}

/// Whether what is found of a method need not be its fault: docs/PROOF.md has the reason.
pub fn doubtful(object: &str, method: &str) -> bool {
    match object {
        // It looks at memory of keys that was never written.
        "leapfrog::LeapMap" => matches!(method, "get" | "len"),
        // It is said to have no order, and is described with one.
        "scc::Bag" => true,
        _ => false,
    }
}
