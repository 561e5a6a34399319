//! A lost update: a new value is computed from one that may be old by then.
//!
//! ```toml
//! arc-swap = "1"
//! [package.metadata.interloper]
//! instrument = ["arc-swap"]
//! ```

use std::sync::Arc;
use std::thread;

use arc_swap::ArcSwap;

fn two(add: fn(&ArcSwap<u32>)) {
    let number = ArcSwap::from_pointee(0);
    thread::scope(|scope| {
        scope.spawn(|| add(&number));
        add(&number);
    });
    assert_eq!(**number.load(), 2);
}

pub fn planted() {
    two(|number| {
        let read = number.load_full();
        number.store(Arc::new(*read + 1));
    });
}

pub fn correct() {
    two(|number| _ = number.rcu(|read| **read + 1));
}
