//! Locks that do not protect what they should, and locks that wait for each other.

use interloper::ToValue;

use super::platform::sync::atomic::{AtomicI64, Ordering::SeqCst};
use super::platform::sync::{Arc, Mutex, RwLock};
use super::platform::{atomic, beside, thread};
use super::{Bug, CLASSIC, Expected, Family, Program};

const FILE: Family = Family::new(CLASSIC, include_str!("locking.rs"));

pub(super) fn programs() -> Vec<Program> {
    vec![
        FILE.bad(
            "wrong-lock",
            "wrong-lock-mended",
            Bug::NotSerialisable,
            "Two increments, each under a lock, but not the same one: one is lost.",
            || wrong_lock(0, 1).to_value(),
        ),
        FILE.showing("wrong-lock").good(
            "wrong-lock-mended",
            Expected::Warning,
            "Both under the same lock. A block reads and writes the variable, and no other thread does so meanwhile.",
            || wrong_lock(0, 0).to_value(),
        ),
        FILE.bad(
            "two-stage",
            "two-stage-nested",
            Bug::Panic("the second stage is missing"),
            "Sets two variables, each under its own lock; the other thread reads them between the two stages. No \
             lock is taken twice in a block.",
            || two_stage(set_in_two_stages, read_in_two_stages).to_value(),
        ),
        FILE.good(
            "two-stage-nested",
            Expected::Clean,
            "Holds the first lock until the second stage is over, in both threads.",
            || two_stage(set_nested, read_nested).to_value(),
        ),
        FILE.bad(
            "dining-philosophers",
            "dining-philosophers-one-left-handed",
            Bug::Deadlock,
            "Three philosophers take the fork on their left, then the one on their right: each holds one and waits.",
            || dine(|philosopher| (philosopher, (philosopher + 1) % 3)).to_value(),
        ),
        FILE.showing("dining-philosophers").good(
            "dining-philosophers-one-left-handed",
            Expected::Clean,
            "One takes the fork on the right first: forks are taken in the order of their numbers.",
            || {
                dine(|philosopher| (philosopher.min((philosopher + 1) % 3), philosopher.max((philosopher + 1) % 3)))
                    .to_value()
            },
        ),
        FILE.bad(
            "upgrade-by-dropping",
            "upgrade-and-look-again",
            Bug::NotSerialisable,
            "Looks under the read lock, drops it, and fills the cell under the write lock: both threads found it \
             empty, and the value is made twice.",
            || upgrade(fill_without_looking).to_value(),
        ),
        FILE.bad(
            "upgrade-while-reading",
            "upgrade-and-look-again",
            Bug::Deadlock,
            "Takes the write lock while it holds the read lock: the thread waits for itself, and no other thread is \
             needed.",
            || upgrade(fill_while_reading).to_value(),
        ),
        FILE.good(
            "upgrade-and-look-again",
            Expected::Error,
            "Looks again under the write lock, in case another thread has filled the cell meanwhile.",
            || upgrade(fill_after_looking_again).to_value(),
        ),
    ]
}

// case: wrong-lock
/// Each thread counts once, under the lock of this number; gives the count.
fn wrong_lock(own: usize, other: usize) -> i64 {
    let shared = Arc::new(([Mutex::new(()), Mutex::new(())], AtomicI64::new(0)));
    let count = |(locks, counter): &([Mutex<()>; 2], AtomicI64), lock: usize| {
        atomic("count", || {
            let _guard = locks[lock].lock().unwrap();
            let seen = counter.load(SeqCst);
            counter.store(seen + 1, SeqCst);
        });
    };
    beside(&shared, |shared| count(shared, own), move |shared| count(shared, other));
    shared.1.load(SeqCst)
}
// end

type Stages = (Mutex<i64>, Mutex<i64>);

/// Gives the second stage, if the reader saw the first.
fn two_stage(set: fn(&Stages), read: fn(&Stages) -> (i64, i64)) -> Option<i64> {
    let stages = Arc::new((Mutex::new(0), Mutex::new(0)));
    let ((first, second), ()) = beside(&stages, read, set);
    assert!(first == 0 || second == first + 1, "the second stage is missing");
    (first != 0).then_some(second)
}

// case: two-stage
/// The second stage follows from the first.
fn set_in_two_stages((first, second): &Stages) {
    atomic("set", || {
        let mut guard = first.lock().unwrap();
        *guard = 1;
        let value = *guard;
        drop(guard);
        *second.lock().unwrap() = value + 1;
    });
}

fn read_in_two_stages((first, second): &Stages) -> (i64, i64) {
    atomic("read", || {
        let first = *first.lock().unwrap();
        (first, *second.lock().unwrap())
    })
}
// end

// case: two-stage-nested
/// The second stage follows from the first.
fn set_nested((first, second): &Stages) {
    atomic("set", || {
        let mut first = first.lock().unwrap();
        *first = 1;
        *second.lock().unwrap() = *first + 1;
    });
}

fn read_nested((first, second): &Stages) -> (i64, i64) {
    atomic("read", || {
        let first = first.lock().unwrap();
        (*first, *second.lock().unwrap())
    })
}
// end

// case: dining-philosophers
/// Each eats once with the forks of these numbers, taken in this order; gives how often each fork was used.
fn dine(forks_of: fn(usize) -> (usize, usize)) -> Vec<i64> {
    let forks = Arc::new([Mutex::new(0), Mutex::new(0), Mutex::new(0)]);
    let sit_down = |philosopher| {
        let forks = Arc::clone(&forks);
        thread::spawn(move || {
            let (first, second) = forks_of(philosopher);
            atomic("eat", || {
                let mut first = forks[first].lock().unwrap();
                let mut second = forks[second].lock().unwrap();
                *first += 1;
                *second += 1;
            });
        })
    };
    let threads = [0, 1, 2].map(sit_down);
    for thread in threads {
        thread.join().unwrap();
    }
    forks.iter().map(|fork| *fork.lock().unwrap()).collect()
}
// end

/// A value that is made when it is needed, and how many were made.
struct Cell {
    value: RwLock<Option<i64>>,
    made: AtomicI64,
}

impl Cell {
    fn make(&self) -> i64 {
        self.made.fetch_add(1, SeqCst) + 1
    }
}

/// Two threads want the value; gives what they got.
fn upgrade(get: fn(&Cell) -> i64) -> (i64, i64) {
    let cell = Arc::new(Cell { value: RwLock::new(None), made: AtomicI64::new(0) });
    beside(&cell, get, get)
}

// case: upgrade-by-dropping
/// Gives back the read lock before it takes the write lock.
fn fill_without_looking(cell: &Cell) -> i64 {
    atomic("get", || {
        if let Some(value) = *cell.value.read().unwrap() {
            return value;
        }
        let value = cell.make();
        *cell.value.write().unwrap() = Some(value);
        value
    })
}
// end

// case: upgrade-while-reading
/// Keeps the read lock while it takes the write lock.
fn fill_while_reading(cell: &Cell) -> i64 {
    atomic("get", || {
        let found = cell.value.read().unwrap();
        if let Some(value) = *found {
            return value;
        }
        let value = cell.make();
        *cell.value.write().unwrap() = Some(value);
        value
    })
}
// end

// case: upgrade-and-look-again
/// Gives back the read lock, and looks again under the write lock.
fn fill_after_looking_again(cell: &Cell) -> i64 {
    atomic("get", || {
        if let Some(value) = *cell.value.read().unwrap() {
            return value;
        }
        *cell.value.write().unwrap().get_or_insert_with(|| cell.make())
    })
}
// end
