//! An update that is skipped: who does not get a lock at once goes on without it.
//!
//! ```toml
//! try-lock = "0.2"
//! [package.metadata.interloper]
//! instrument = ["try-lock"]
//! ```

use std::thread;

use try_lock::TryLock;

fn adds(insists: bool) {
    let number = TryLock::new(0);
    let add = || {
        loop {
            if let Some(mut number) = number.try_lock() {
                *number += 1;
                return;
            }
            if !insists {
                return;
            }
            thread::yield_now();
        }
    };
    thread::scope(|scope| {
        scope.spawn(add);
        add();
    });
    assert_eq!(number.into_inner(), 2);
}

pub fn planted() {
    adds(false);
}

pub fn correct() {
    adds(true);
}
