//! Concurrent objects of the study, and what is known about their methods.

mod chain;
mod java;
mod link;
mod linked_deque;
mod linked_queue;
mod list_set;
mod locked;
mod maps;
mod queues;
mod striped_map;
mod two_lock_queue;

use interloper::objects::Object;

/// An object of the study.
#[derive(Clone, Copy, Debug)]
pub struct Studied {
    /// Its name.
    pub name: &'static str,
    /// What it is, and where it comes from.
    pub about: &'static str,
    /// Whether it is written over the mirror of std, so that both engines run it.
    pub instrumented: bool,
    make: fn() -> Object,
}

impl Studied {
    /// Its description.
    pub fn object(&self) -> Object {
        (self.make)()
    }
}

/// The objects written here over the mirror of std: deliberately weak ones, and collections behind a lock.
const OWN: [Studied; 10] = [
    own("striped-map", "two stripes with a lock each, and a counter that lags behind", striped_map::striped_map),
    own("list-set", "a sorted list with one lock for writers and none for readers", list_set::list_set),
    own("linked-queue", "a linked queue whose bulk methods walk", linked_queue::linked_queue),
    own("linked-deque", "the linked queue with a naive other end", linked_deque::linked_deque),
    own("two-lock-queue", "a lock for each end, and a count beside them", two_lock_queue::two_lock_queue),
    own("mutex-map", "a BTreeMap behind a Mutex", locked::mutex_map),
    own("rwlock-map", "a BTreeMap behind an RwLock", locked::rwlock_map),
    own("mutex-queue", "a VecDeque behind a Mutex", locked::mutex_queue),
    own("rwlock-set", "a BTreeSet behind an RwLock", locked::rwlock_set),
    own("mutex-priority-queue", "a BinaryHeap behind a Mutex", locked::mutex_priority_queue),
];

const fn own(name: &'static str, about: &'static str, make: fn() -> Object) -> Studied {
    Studied { name, about, instrumented: true, make }
}

/// The objects of published crates, as they are: real threads run them.
const PUBLISHED: [Studied; 6] = [
    published("dashmap", "dashmap 6: DashMap with 8 shards", maps::dashmap),
    published("skip-map", "crossbeam-skiplist 0.1: SkipMap", maps::skip_map),
    published("skip-set", "crossbeam-skiplist 0.1: SkipSet", queues::skip_set),
    published("seg-queue", "crossbeam-queue 0.3: SegQueue", queues::seg_queue),
    published("array-queue", "crossbeam-queue 0.3: ArrayQueue with room to spare", queues::array_queue),
    published("array-queue-of-one", "crossbeam-queue 0.3: ArrayQueue with room for one", queues::small_array_queue),
];

/// The objects of crates that only the study needs.
#[cfg(feature = "study")]
const OF_THE_STUDY: [Studied; STUDY_ONLY.len()] = [
    published("scc-hash-map", "scc 3: HashMap", maps::study::scc_hash_map),
    published("scc-hash-index", "scc 3: HashIndex", maps::study::scc_hash_index),
    published("scc-tree-index", "scc 3: TreeIndex", maps::study::scc_tree_index),
    published("scc-queue", "scc 3: Queue", queues::study::scc_queue),
    published("scc-stack", "scc 3: Stack", queues::study::scc_stack),
    published("papaya", "papaya 0.2: HashMap", maps::study::papaya),
    published("moka", "moka 0.12: sync::Cache", maps::study::moka),
    published("concurrent-queue", "concurrent-queue 2: unbounded", queues::study::concurrent_queue),
    published("concurrent-queue-bounded", "concurrent-queue 2: bounded", queues::study::concurrent_queue_bounded),
];
#[cfg(not(feature = "study"))]
const OF_THE_STUDY: [Studied; 0] = [];

/// The names of the objects that exist with the feature `study` only: the main job does not compile their crates.
pub const STUDY_ONLY: [&str; 9] = [
    "scc-hash-map",
    "scc-hash-index",
    "scc-tree-index",
    "scc-queue",
    "scc-stack",
    "papaya",
    "moka",
    "concurrent-queue",
    "concurrent-queue-bounded",
];

const fn published(name: &'static str, about: &'static str, make: fn() -> Object) -> Studied {
    Studied { name, about, instrumented: false, make }
}

/// All objects of the study, in a fixed order; those of [`STUDY_ONLY`] with the feature `study`.
pub fn all() -> Vec<Studied> {
    OWN.into_iter().chain(PUBLISHED).chain(OF_THE_STUDY).collect()
}

/// The object with this name.
pub fn find(name: &str) -> Option<Studied> {
    all().into_iter().find(|studied| studied.name == name)
}
