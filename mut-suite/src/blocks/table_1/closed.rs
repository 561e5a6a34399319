//! Google's `ConcurrentMultiset`, and the closed programs: cache4j, sor, hedc.

use std::collections::BTreeMap;

use interloper::ToValue;

use super::platform::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering::SeqCst};
use super::platform::sync::{Arc, Condvar, Mutex};
use super::platform::{atomic, beside};
use super::{Bug, Expected, Family, Program, Row, row};

const MARKED: Family = Family::new("AtomFuzzer, Table 1 (Google Collections)", include_str!("closed.rs"));
const FILE: Family = MARKED.critical_sections();
const CACHE4J: Family = FILE.from("AtomFuzzer, Table 1 (cache4j)");
const SOR: Family = FILE.from("AtomFuzzer, Table 1 (sor)");
const HEDC: Family = MARKED.from("AtomFuzzer, Table 1 (hedc)");

pub(super) fn rows() -> Vec<Row> {
    let multiset = FILE.good(
        "concurrent-multiset",
        Expected::Clean,
        "Counts elements by compare-and-exchange: there is no critical section, hence no block.",
        || multiset(|work| work()).to_value(),
    );
    let cache = CACHE4J.good(
        "cache4j",
        Expected::Error,
        "Two caches, each under its own lock, that draw unique identifiers twice in a section. The other cache draws \
         one between the two: the identifiers stay unique, and nothing more is required.",
        || cache4j().to_value(),
    );
    let sor = SOR.good(
        "sor",
        Expected::Clean,
        "Relaxes a row of cells with two threads, red ones and black ones in turn, with a barrier between the phases. \
         The sections of the barrier wait, so they are no blocks.",
        || sor(2, Barrier::wait).to_value(),
    );
    let hedc = HEDC.bad(
        "hedc",
        "hedc-locked",
        Bug::Panic("NullPointerException"),
        "Looks whether a task has a thread, then reads the field again to interrupt it: the task has ended meanwhile. \
         The paper's tool does not look at fields, and misses it.",
        || hedc(MetaSearch::cancel).to_value(),
    );
    vec![
        row("Google ConcurrentMultiset", None, multiset),
        row("cache4j", Some(1.0), cache),
        row("sor", None, sor),
        row("hedc", None, hedc),
    ]
}

pub(super) fn others() -> Vec<Program> {
    vec![
        MARKED.showing("concurrent-multiset").good(
            "concurrent-multiset-marked",
            Expected::Error,
            "The same, with each operation marked as a block: one whose exchange fails was interrupted, and starts \
             again.",
            || multiset(|work| atomic("operation", work)).to_value(),
        ),
        SOR.showing("sor").bad(
            "sor-without-barrier",
            "sor",
            Bug::Panic("the relaxation differs from that of one thread"),
            "The same without the barrier: a thread uses cells of another phase.",
            || sor(2, |_| ()).to_value(),
        ),
        HEDC.good(
            "hedc-locked",
            Expected::Clean,
            "The field is under a lock: read once, and while its thread cannot end.",
            || hedc(MetaSearch::cancel_locked).to_value(),
        ),
    ]
}

// case: concurrent-multiset
/// How often each of two elements is in it.
#[derive(Default)]
struct Multiset([AtomicI64; 2]);

impl Multiset {
    fn add(&self, element: usize, occurrences: i64) -> i64 {
        self.change(element, |count| count + occurrences)
    }

    fn remove(&self, element: usize, occurrences: i64) -> i64 {
        self.change(element, |count| (count - occurrences).max(0))
    }

    /// Gives the count before.
    fn change(&self, element: usize, change: impl Fn(i64) -> i64) -> i64 {
        let mut count = self.0[element].load(SeqCst);
        loop {
            match self.0[element].compare_exchange(count, change(count), SeqCst, SeqCst) {
                Ok(_) => return count,
                Err(other) => count = other,
            }
        }
    }
}

/// Gives the counts before each operation, and at the end.
fn multiset(operation: fn(&dyn Fn() -> i64) -> i64) -> ([i64; 2], [i64; 2], [i64; 2]) {
    let multiset = Arc::new(Multiset::default());
    let (own, other) = beside(
        &multiset,
        move |multiset| [operation(&|| multiset.add(0, 2)), operation(&|| multiset.remove(0, 1))],
        move |multiset| [operation(&|| multiset.add(0, 1)), operation(&|| multiset.add(1, 1))],
    );
    (own, other, [0, 1].map(|element| multiset.0[element].load(SeqCst)))
}
// end

// case: cache4j
/// Room for two objects.
#[derive(Default)]
struct Cache {
    /// By key: the identifier of the object, and of its last use.
    objects: Mutex<BTreeMap<i64, (i64, i64)>>,
}

/// Two caches and the identifiers that they share.
#[derive(Default)]
struct Caches {
    caches: [Cache; 2],
    ids: Mutex<i64>,
}

impl Caches {
    fn get_unique_id(&self) -> i64 {
        let mut ids = self.ids.lock().unwrap();
        *ids += 1;
        *ids
    }

    fn put(&self, cache: usize, key: i64) {
        let mut objects = self.caches[cache].objects.lock().unwrap();
        if objects.len() == 2 {
            let oldest = objects.iter().min_by_key(|(_, (_, used))| *used).map(|(key, _)| *key);
            oldest.map(|key| objects.remove(&key));
        }
        objects.insert(key, (self.get_unique_id(), self.get_unique_id()));
    }
}

/// Each thread puts twelve objects in its cache; gives the keys that are left, and how many identifiers were drawn.
fn cache4j() -> ([Vec<i64>; 2], i64) {
    let caches = Arc::new(Caches::default());
    let fill = |cache| move |caches: &Caches| (0..12).for_each(|key| caches.put(cache, key));
    beside(&caches, fill(0), fill(1));
    let keys = |cache: &Cache| cache.objects.lock().unwrap().keys().copied().collect();
    (caches.caches.each_ref().map(keys), *caches.ids.lock().unwrap())
}
// end

// case: sor
/// A barrier for two threads.
#[derive(Default)]
struct Barrier {
    /// How many threads have come.
    come: Mutex<u64>,
    full: Condvar,
}

impl Barrier {
    fn wait(&self) {
        let mut come = self.come.lock().unwrap();
        *come += 1;
        let needed = come.next_multiple_of(2);
        self.full.notify_all();
        while *come < needed {
            come = self.full.wait(come).unwrap();
        }
    }
}

/// Cells 1 to 4, between two that are fixed.
fn cells() -> [i64; 6] {
    [0, 0, 0, 0, 0, 64]
}

/// Relaxes the cells with two threads; gives them.
fn sor(iterations: usize, wait: fn(&Barrier)) -> [i64; 6] {
    let shared = Arc::new((cells().map(AtomicI64::new), Barrier::default()));
    let relax = move |own: [usize; 2]| {
        move |(cells, barrier): &([AtomicI64; 6], Barrier)| {
            for phase in 0..2 * iterations {
                for cell in own.into_iter().filter(|cell| cell % 2 == phase % 2) {
                    let sum = cells[cell - 1].load(SeqCst) + cells[cell + 1].load(SeqCst);
                    cells[cell].store(sum / 2, SeqCst);
                }
                wait(barrier);
            }
        }
    };
    beside(&shared, relax([1, 2]), relax([3, 4]));
    let relaxed = shared.0.each_ref().map(|cell| cell.load(SeqCst));
    assert!(relaxed == relax_alone(iterations), "the relaxation differs from that of one thread");
    relaxed
}

fn relax_alone(iterations: usize) -> [i64; 6] {
    let mut cells = cells();
    for phase in 0..2 * iterations {
        for cell in (1..5).filter(|cell| cell % 2 == phase % 2) {
            cells[cell] = (cells[cell - 1] + cells[cell + 1]) / 2;
        }
    }
    cells
}
// end

// case: hedc
/// A task and the thread that runs it, which others may interrupt.
struct MetaSearch {
    /// The number of the thread; 0 when it has ended.
    thread: AtomicUsize,
    lock: Mutex<()>,
    interrupted: [AtomicBool; 2],
}

impl MetaSearch {
    fn interrupt(&self, thread: usize) {
        assert!(thread != 0, "NullPointerException");
        self.interrupted[thread].store(true, SeqCst);
    }

    /// `if (thread_ != null) thread_.interrupt()`
    fn cancel(&self) {
        atomic("cancel", || {
            if self.thread.load(SeqCst) != 0 {
                self.interrupt(self.thread.load(SeqCst));
            }
        });
    }

    /// The task ends.
    fn finish(&self) {
        let _guard = self.lock.lock().unwrap();
        self.thread.store(0, SeqCst);
    }
}

/// Gives whether the thread was interrupted.
fn hedc(cancel: fn(&MetaSearch)) -> bool {
    let search = MetaSearch {
        thread: AtomicUsize::new(1),
        lock: Mutex::new(()),
        interrupted: [AtomicBool::new(false), AtomicBool::new(false)],
    };
    let search = Arc::new(search);
    beside(&search, cancel, MetaSearch::finish);
    search.interrupted[1].load(SeqCst)
}
// end

// case: hedc-locked
/// Under the lock, the field is read once.
impl MetaSearch {
    fn cancel_locked(&self) {
        atomic("cancel", || {
            let _guard = self.lock.lock().unwrap();
            let thread = self.thread.load(SeqCst);
            if thread != 0 {
                self.interrupt(thread);
            }
        });
    }
}
// end
