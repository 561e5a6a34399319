//! A lock order: two transfers lock the two accounts in opposite orders.
//!
//! ```toml
//! parking_lot = "0.12"
//! [package.metadata.interloper]
//! instrument = ["parking_lot"]
//! ```

use std::thread;

use parking_lot::Mutex;

fn two(second: fn(&Mutex<i64>, &Mutex<i64>)) {
    let (one, other) = (Mutex::new(10), Mutex::new(10));
    thread::scope(|scope| {
        scope.spawn(|| second(&one, &other));
        let mut from = one.lock();
        let mut to = other.lock();
        *from -= 1;
        *to += 1;
    });
    assert_eq!((one.into_inner(), other.into_inner()), (14, 6));
}

pub fn planted() {
    two(|one, other| {
        let mut from = other.lock();
        let mut to = one.lock();
        *from -= 5;
        *to += 5;
    });
}

pub fn correct() {
    two(|one, other| {
        let mut to = one.lock();
        let mut from = other.lock();
        *from -= 5;
        *to += 5;
    });
}
