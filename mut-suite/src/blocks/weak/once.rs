//! Values that are made once.

use interloper::ToValue;

use super::platform::beside;
use super::platform::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use super::platform::sync::{Arc, Mutex};
use super::{Bug, CLASSIC, Expected, Family, Program};

use Ordering::{AcqRel, Acquire, Relaxed, Release};

const FILE: Family = Family::new(CLASSIC, include_str!("once.rs")).weak_memory();
const BROKEN: Family = FILE.from("D. Bacon and others, The \"Double-Checked Locking is Broken\" Declaration");
const RACE: Family = FILE.from("the crate once_cell, race::OnceBox");

pub(super) fn programs() -> Vec<Program> {
    vec![
        BROKEN.showing("lazy").bad(
            "double-checked-relaxed",
            "double-checked-acquire",
            Bug::Panic("the value is not there yet"),
            "The look without the lock is Relaxed instead of Acquire: it finds the flag, and not the value.",
            || lazy(Relaxed).to_value(),
        ),
        BROKEN.showing("lazy").good(
            "double-checked-acquire",
            Expected::Clean,
            "The look without the lock is Acquire. That under the lock can be Relaxed.",
            || lazy(Acquire).to_value(),
        ),
        FILE.showing("cell").bad(
            "once-cell-relaxed",
            "once-cell-release",
            Bug::Panic("a full cell without a value"),
            "Fills the cell, and says so with Relaxed instead of Release.",
            || cell(Relaxed).to_value(),
        ),
        FILE.showing("cell").good("once-cell-release", Expected::Clean, "Says with Release that the cell is full.", || {
            cell(Release).to_value()
        }),
        RACE.showing("once-box").bad(
            "once-box-relaxed-failure",
            "once-box-acquire-failure",
            Bug::Panic("a box without its content"),
            "Who loses the race takes the box of the winner, which the failed exchange found: its ordering of failure is \
             Relaxed instead of Acquire.",
            || once_box(Relaxed).to_value(),
        ),
        RACE.showing("once-box").good(
            "once-box-acquire-failure",
            Expected::Clean,
            "The exchange acquires what it finds where it fails, too.",
            || once_box(Acquire).to_value(),
        ),
    ]
}

// case: lazy
/// A value that is made under a lock when it is first needed.
#[derive(Default)]
struct Lazy {
    ready: AtomicBool,
    lock: Mutex<()>,
    value: AtomicI64,
}

impl Lazy {
    fn get(&self, looks: Ordering) -> i64 {
        if !self.ready.load(looks) {
            let _guard = self.lock.lock().unwrap();
            if !self.ready.load(Relaxed) {
                self.value.store(7, Relaxed);
                self.ready.store(true, Release);
            }
        }
        self.value.load(Relaxed)
    }
}

/// Two threads get the value.
fn lazy(looks: Ordering) {
    let get = move |lazy: &Lazy| assert!(lazy.get(looks) == 7, "the value is not there yet");
    beside(&Arc::default(), get, get);
}
// end

// case: cell
/// A cell that is set once.
#[derive(Default)]
struct Cell {
    state: AtomicUsize,
    value: AtomicI64,
}

const EMPTY: usize = 0;
const BUSY: usize = 1;
const FULL: usize = 2;

impl Cell {
    fn set(&self, value: i64, fills: Ordering) -> bool {
        let first = self.state.compare_exchange(EMPTY, BUSY, Relaxed, Relaxed).is_ok();
        if first {
            self.value.store(value, Relaxed);
            self.state.store(FULL, fills);
        }
        first
    }

    fn get(&self) -> Option<i64> {
        (self.state.load(Acquire) == FULL).then(|| self.value.load(Relaxed))
    }
}

/// Two threads set the cell and read it.
fn cell(fills: Ordering) {
    let set_and_get = move |cell: &Cell| {
        cell.set(7, fills);
        assert!(cell.get() != Some(0), "a full cell without a value");
    };
    beside(&Arc::default(), set_and_get, set_and_get);
}
// end

// case: once-box
/// Each thread has a box; 0 is no box.
#[derive(Default)]
struct OnceBox {
    winner: AtomicUsize,
    boxes: [AtomicI64; 3],
}

impl OnceBox {
    fn get_or_init(&self, own: usize, failure: Ordering) -> i64 {
        let mut winner = self.winner.load(Acquire);
        if winner == 0 {
            self.boxes[own].store(7, Relaxed);
            winner = self.winner.compare_exchange(0, own, AcqRel, failure).map_or_else(|theirs| theirs, |_| own);
        }
        self.boxes[winner].load(Relaxed)
    }
}

/// Two threads get the content, each with a box of its own.
fn once_box(failure: Ordering) {
    let get = move |shared: &OnceBox, own| assert!(shared.get_or_init(own, failure) == 7, "a box without its content");
    beside(&Arc::default(), move |shared| get(shared, 1), move |shared| get(shared, 2));
}
// end
