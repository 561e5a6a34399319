//! A lost update in an atomic cell.
//!
//! ```toml
//! crossbeam-utils = "0.8"
//! [package.metadata.interloper]
//! instrument = ["crossbeam-utils"]
//! ```

use std::thread;

use crossbeam_utils::atomic::AtomicCell;
use crossbeam_utils::sync::WaitGroup;

/// The cell is larger than any atomic, so it has a lock.
type Three = (u64, u64, u64);

fn two(add: fn(&AtomicCell<Three>)) {
    let cell = AtomicCell::new((0, 0, 0));
    thread::scope(|scope| {
        let group = WaitGroup::new();
        let other = group.clone();
        scope.spawn(|| {
            add(&cell);
            drop(other);
        });
        add(&cell);
        group.wait();
        assert_eq!(cell.load(), (2, 2, 2));
    });
}

pub fn planted() {
    two(|cell| {
        let (a, b, c) = cell.load();
        cell.store((a + 1, b + 1, c + 1));
    });
}

pub fn correct() {
    two(|cell| _ = cell.fetch_update(|(a, b, c)| Some((a + 1, b + 1, c + 1))));
}
