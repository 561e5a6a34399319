//! The code of section 5.4 of the paper.

use interloper::ToValue;

use super::platform::sync::{Arc, Condvar, Mutex};
use super::platform::{atomic, beside, thread};
use super::{Bug, Expected, Family, Program};

const FILE: Family = Family::new("AtomFuzzer, section 5.4", include_str!("incompleteness.rs"));

pub(super) fn programs() -> Vec<Program> {
    vec![
        FILE.trivial().good(
            "initialize",
            Expected::Warning,
            "Takes a lock twice in a block, before another thread exists that could come between the two.",
            || initialize().to_value(),
        ),
        FILE.good(
            "foo",
            Expected::Warning,
            "Takes a lock twice in a block, always inside another lock, so no thread can come between the two.",
            || foo().to_value(),
        ),
        FILE.good(
            "get-unique-id",
            Expected::Error,
            "Takes two identifiers in a block; another thread takes one between them. The program only looks at the \
             number of identifiers, which is three: benign.",
            || get_unique_id().to_value(),
        ),
        FILE.bad(
            "get-unique-id-in-a-row",
            "get-unique-id-at-once",
            Bug::NotSerialisable,
            "The same, but the program looks at the two identifiers: 1 and 3, where an uninterrupted block gets two \
             in a row.",
            || get_unique_id_in_a_row().to_value(),
        ),
        FILE.good("get-unique-id-at-once", Expected::Clean, "Takes both identifiers in one critical section.", || {
            get_unique_id_at_once().to_value()
        }),
        FILE.critical_sections().good(
            "synchronized-run",
            Expected::Clean,
            "A thread that is one critical section from its first step to its last. When critical sections are \
             blocks, this section does not count as one, so it may take the other lock twice.",
            || synchronized_run().to_value(),
        ),
        FILE.critical_sections().good(
            "section-that-waits",
            Expected::Clean,
            "A critical section that waits for a condition, and takes another lock before and after. When critical \
             sections are blocks, this section does not count as one: it releases its lock on purpose.",
            || section_that_waits().to_value(),
        ),
    ]
}

// case: initialize
/// The block is over when the thread is started.
fn initialize() -> i64 {
    let lock = Arc::new(Mutex::new(0));
    atomic("initialize", || {
        *lock.lock().unwrap() += 1;
        *lock.lock().unwrap() += 1;
    });
    let theirs = Arc::clone(&lock);
    thread::spawn(move || *theirs.lock().unwrap() += 1).join().unwrap();
    *lock.lock().unwrap()
}
// end

// case: foo
/// All blocks that use the inner lock hold the outer one.
fn foo() -> i64 {
    fn foo((outer, inner): &(Mutex<()>, Mutex<i64>)) {
        atomic("foo", || {
            let _outer = outer.lock().unwrap();
            *inner.lock().unwrap() += 1;
            *inner.lock().unwrap() += 1;
        });
    }
    let locks = Arc::new((Mutex::new(()), Mutex::new(0)));
    beside(&locks, foo, foo);
    *locks.1.lock().unwrap()
}
// end

// case: get-unique-id
/// Counts.
struct Ids(Mutex<i64>);

impl Ids {
    fn get_unique_id(&self) -> i64 {
        let mut count = self.0.lock().unwrap();
        *count += 1;
        *count
    }
}

/// How many identifiers were taken.
fn get_unique_id() -> i64 {
    let ids = Arc::new(Ids(Mutex::new(0)));
    let block = |ids: &Ids| {
        atomic("two ids", || {
            ids.get_unique_id();
            ids.get_unique_id();
        });
    };
    beside(&ids, block, Ids::get_unique_id_unseen);
    *ids.0.lock().unwrap()
}

impl Ids {
    fn get_unique_id_unseen(&self) {
        self.get_unique_id();
    }
}
// end

// case: get-unique-id-in-a-row
/// The two identifiers of the block.
fn get_unique_id_in_a_row() -> (i64, i64) {
    let ids = Arc::new(Ids(Mutex::new(0)));
    let block = |ids: &Ids| atomic("two ids", || (ids.get_unique_id(), ids.get_unique_id()));
    beside(&ids, block, Ids::get_unique_id_unseen).0
}
// end

// case: get-unique-id-at-once
/// The two identifiers of the block.
fn get_unique_id_at_once() -> (i64, i64) {
    let ids = Arc::new(Ids(Mutex::new(0)));
    let block = |ids: &Ids| {
        atomic("two ids", || {
            let mut count = ids.0.lock().unwrap();
            *count += 2;
            (*count - 1, *count)
        })
    };
    beside(&ids, block, Ids::get_unique_id_unseen).0
}
// end

// case: synchronized-run
/// `public synchronized void run()`.
fn synchronized_run() -> i64 {
    let shared = Arc::new((Mutex::new(()), Mutex::new(0)));
    let count = |(_, counter): &(Mutex<()>, Mutex<i64>)| *counter.lock().unwrap() += 1;
    beside(&shared, count, move |shared| {
        let _this = shared.0.lock().unwrap();
        count(shared);
        count(shared);
    });
    *shared.1.lock().unwrap()
}
// end

// case: section-that-waits
/// Waits until it is told, counting before and after.
fn section_that_waits() -> i64 {
    struct Shared {
        told: Mutex<bool>,
        condition: Condvar,
        counter: Mutex<i64>,
    }
    let shared = Arc::new(Shared { told: Mutex::new(false), condition: Condvar::new(), counter: Mutex::new(0) });
    let tell = |shared: &Shared| {
        *shared.counter.lock().unwrap() += 1;
        *shared.told.lock().unwrap() = true;
        shared.condition.notify_all();
    };
    beside(&shared, tell, |shared| {
        let mut told = shared.told.lock().unwrap();
        *shared.counter.lock().unwrap() += 1;
        while !*told {
            told = shared.condition.wait(told).unwrap();
        }
        *shared.counter.lock().unwrap() += 1;
    });
    *shared.counter.lock().unwrap()
}
// end
