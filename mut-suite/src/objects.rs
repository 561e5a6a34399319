//! Concurrent objects of the study, and what is known about their methods.

mod chain;
mod java;
mod link;
mod linked_deque;
mod linked_queue;
mod list_set;
mod locked;
mod published;
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

/// The names of the objects that exist with the feature `study` only: the main job does not compile their crates.
pub fn study_only() -> impl Iterator<Item = &'static str> {
    let compiled = published::all();
    let of_the_study = move |name: &&&str| !compiled.iter().any(|studied| studied.name == **name);
    published::NAMES.iter().filter(of_the_study).copied()
}

/// All objects of the study, in a fixed order; those of [`study_only`] with the feature `study`.
pub fn all() -> Vec<Studied> {
    OWN.into_iter().chain(published::all()).collect()
}

/// The object with this name.
pub fn find(name: &str) -> Option<Studied> {
    all().into_iter().find(|studied| studied.name == name)
}
