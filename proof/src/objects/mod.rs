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

/// The core method that is at fault in what is found of a method, if the method is not: docs/PROOF.md has the reason.
pub fn because_of(object: &str, method: &str) -> Option<&'static str> {
    match (object, method) {
        // It returns what one load gives. Two insertions of one key both say that they were the first.
        ("leapfrog::LeapMap", "get") => Some("insert"),
        _ => None,
    }
}
