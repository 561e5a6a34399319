//! A lost wake-up: a thread looks at the flag before it enters the queue, and not again while it enters.
//!
//! ```toml
//! parking_lot_core = "0.9"
//! [package.metadata.interloper]
//! instrument = ["parking_lot_core"]
//! ```

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;

use parking_lot_core::{DEFAULT_PARK_TOKEN, DEFAULT_UNPARK_TOKEN, park, unpark_one};

fn waits(looks_again: bool) {
    let flag = AtomicBool::new(false);
    let key = &raw const flag as usize;
    thread::scope(|scope| {
        scope.spawn(|| {
            flag.store(true, SeqCst);
            // SAFETY: the key is the address of a value of our own, and the callback does not panic and calls nothing of the crate.
            unsafe { unpark_one(key, |_| DEFAULT_UNPARK_TOKEN) };
        });
        while !flag.load(SeqCst) {
            let validate = || !looks_again || !flag.load(SeqCst);
            // SAFETY: as above, for all callbacks.
            unsafe { park(key, validate, || {}, |_, _| {}, DEFAULT_PARK_TOKEN, None) };
        }
    });
}

pub fn planted() {
    waits(false);
}

pub fn correct() {
    waits(true);
}
