//! Types of published crates, as they are: real threads run them. Their descriptions are those that `cargo interloper hunt --crate`
//! hunts under control.

use interloper::objects::Object;

use super::Studied;

macro_rules! described {
    ($($(#[$condition:meta])? $module:ident: $file:literal [$($name:literal = $object:literal, $about:literal);+])+) => {
        $($(#[$condition])? #[path = $file] mod $module;)+

        /// All of them that are compiled, in a fixed order.
        pub fn all() -> Vec<Studied> {
            let mut all = Vec::new();
            $($(#[$condition])? all.extend([$(Studied {
                name: $name,
                about: $about,
                instrumented: false,
                make: || one($module::all(), $object),
            }),+]);)+
            all
        }

        /// The names of all of them, compiled or not.
        pub const NAMES: &[&str] = &[$($($name),+),+];
    };
}

described! {
    dashmap: "../../../cargo-interloper/objects/dashmap.rs" [
        "dashmap" = "dashmap::DashMap", "dashmap 6: DashMap with 4 shards"
    ]
    crossbeam_skiplist: "../../../cargo-interloper/objects/crossbeam_skiplist.rs" [
        "skip-map" = "crossbeam_skiplist::SkipMap", "crossbeam-skiplist 0.1: SkipMap";
        "skip-set" = "crossbeam_skiplist::SkipSet", "crossbeam-skiplist 0.1: SkipSet"
    ]
    crossbeam_queue: "../../../cargo-interloper/objects/crossbeam_queue.rs" [
        "seg-queue" = "crossbeam_queue::SegQueue", "crossbeam-queue 0.3: SegQueue";
        "array-queue" = "crossbeam_queue::ArrayQueue", "crossbeam-queue 0.3: ArrayQueue with room for two"
    ]
    #[cfg(feature = "study")]
    scc: "../../../cargo-interloper/objects/scc.rs" [
        "scc-hash-map" = "scc::HashMap", "scc 3: HashMap";
        "scc-hash-index" = "scc::HashIndex", "scc 3: HashIndex";
        "scc-tree-index" = "scc::TreeIndex", "scc 3: TreeIndex";
        "scc-queue" = "scc::Queue", "scc 3: Queue";
        "scc-stack" = "scc::Stack", "scc 3: Stack";
        "scc-bag" = "scc::Bag", "scc 3: Bag"
    ]
    #[cfg(feature = "study")]
    papaya: "../../../cargo-interloper/objects/papaya.rs" [
        "papaya" = "papaya::HashMap", "papaya 0.2: HashMap"
    ]
    #[cfg(feature = "study")]
    moka: "../../../cargo-interloper/objects/moka.rs" [
        "moka" = "moka::sync::Cache", "moka 0.12: sync::Cache"
    ]
    #[cfg(feature = "study")]
    concurrent_queue: "../../../cargo-interloper/objects/concurrent_queue.rs" [
        "concurrent-queue" = "concurrent_queue::unbounded", "concurrent-queue 2: unbounded";
        "concurrent-queue-bounded" = "concurrent_queue::ConcurrentQueue", "concurrent-queue 2: bounded, with room for two"
    ]
}

fn one(described: Vec<Object>, name: &str) -> Object {
    described.into_iter().find(|object| object.name() == name).expect("its crate's description has the object")
}
