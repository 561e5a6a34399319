//! A lost update: a spinning lock is given back between reading and writing.
//!
//! ```toml
//! spin = "0.10"
//! [package.metadata.interloper]
//! instrument = ["spin"]
//! ```

use std::thread;

use spin::Mutex;

fn two(add: fn(&Mutex<u32>)) {
    let number = Mutex::new(0);
    thread::scope(|scope| {
        scope.spawn(|| add(&number));
        add(&number);
    });
    assert_eq!(number.into_inner(), 2);
}

pub fn planted() {
    two(|number| {
        let read = *number.lock();
        *number.lock() = read + 1;
    });
}

pub fn correct() {
    two(|number| *number.lock() += 1);
}
