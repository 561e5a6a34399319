//! What hunts say of the published types of the study, with the sources of the crates under control: the data of docs/FINDINGS.md.

use serde_json::Value;

/// The names of a method: in the study, and in its crate.
type Names = (&'static str, &'static str);

/// The types that `cargo interloper hunt` hunts, and their methods that do the same as those of the study.
const UNDER_CONTROL: [(&str, &str, &[Names]); 11] = [
    (
        "dashmap",
        "dashmap::DashMap",
        &[("putIfAbsent", "entry_or_insert"), ("clear", "clear"), ("size", "len"), WALKS[0], WALKS[1], WALKS[2]],
    ),
    (
        "skip-map",
        "crossbeam_skiplist::SkipMap",
        &[
            ("put", "insert"),
            ("remove", "remove"),
            ("pollFirstEntry", "pop_front"),
            ("size", "len"),
            WALKS[0],
            WALKS[1],
            WALKS[2],
        ],
    ),
    ("seg-queue", "crossbeam_queue::SegQueue", &[("size", "len"), ("isEmpty", "is_empty")]),
    ("array-queue", "crossbeam_queue::ArrayQueue", &[("size", "len")]),
    (
        "array-queue-of-one",
        "crossbeam_queue::ArrayQueue",
        &[("size", "len"), ("forcePush", "force_push"), ("isFull", "is_full")],
    ),
    ("scc-hash-map", "scc::HashMap", &[("size", "len"), ("clear", "clear")]),
    ("scc-hash-index", "scc::HashIndex", &[("size", "len")]),
    ("scc-queue", "scc::Queue", &[("size", "len"), ("isEmpty", "is_empty")]),
    ("scc-stack", "scc::Stack", &[("size", "len"), ("isEmpty", "is_empty")]),
    (
        "papaya",
        "papaya::HashMap",
        &[("putIfAbsent", "get_or_insert"), ("clear", "clear"), ("size", "len"), WALKS[0], WALKS[1], WALKS[2]],
    ),
    ("concurrent-queue-bounded", "concurrent_queue::ConcurrentQueue", &[("size", "len")]),
];

/// What an iteration gives.
const WALKS: [Names; 3] = [("keySet", "iter"), ("values", "iter"), ("entrySet", "iter")];

/// The results of the hunts that docs/FINDINGS.md is printed from.
const FINDINGS: &str = include_str!("../../../cargo-interloper/findings/results.json");

/// What a hunt under control says of the method of a published crate.
pub fn under_control(object: &str, method: &str) -> String {
    let Some((_, hunted, methods)) = UNDER_CONTROL.iter().find(|(studied, ..)| *studied == object) else {
        return "–".to_owned();
    };
    let Some((_, name)) = methods.iter().find(|(studied, _)| *studied == method) else { return "–".to_owned() };
    let data: Value = serde_json::from_str(FINDINGS).expect("the data has its form");
    let crates = data["crates"].as_object().expect("crates by name");
    let objects = crates.values().filter_map(|one| one["objects"].as_array()).flatten();
    let of_object = objects.filter(|one| one["name"] == *hunted).filter_map(|one| one["methods"].as_array()).flatten();
    let verdict = of_object.filter(|one| one["name"] == *name).find_map(|one| one["verdict"].as_str());
    verdict.unwrap_or_else(|| panic!("no result of {hunted}::{name}")).to_owned()
}
