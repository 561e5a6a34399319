//! Check-then-act: two threads see that a cell is empty and both count an initialisation.
//!
//! ```toml
//! once_cell = "1"
//! [package.metadata.interloper]
//! instrument = ["once_cell"]
//! ```

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

use once_cell::sync::{Lazy, OnceCell};

static STARTED: Lazy<AtomicU32> = Lazy::new(|| AtomicU32::new(0));

fn two(get: fn(&OnceCell<u32>) -> u32) {
    let cell = OnceCell::new();
    let got = thread::scope(|scope| {
        let other = scope.spawn(|| get(&cell));
        [get(&cell), other.join().unwrap()]
    });
    assert_eq!(got, [1, 1]);
}

fn start() -> u32 {
    STARTED.fetch_add(1, SeqCst) + 1
}

pub fn planted() {
    two(|cell| {
        if cell.get().is_none() {
            let _ = cell.set(start());
        }
        *cell.get().unwrap()
    });
    assert_eq!(STARTED.load(SeqCst), 1, "it starts once");
}

pub fn correct() {
    two(|cell| *cell.get_or_init(start));
    assert_eq!(STARTED.load(SeqCst), 1, "it starts once");
}
