//! A lost update in an atomic fraction: it is read and written in two steps.
//!
//! ```toml
//! atomic = "0.6"
//! [package.metadata.interloper]
//! instrument = ["atomic"]
//! ```

use std::sync::atomic::Ordering::SeqCst;
use std::thread;

use atomic::Atomic;

fn two(add: fn(&Atomic<f32>)) {
    let sum = Atomic::new(0.0);
    thread::scope(|scope| {
        scope.spawn(|| add(&sum));
        add(&sum);
    });
    assert_eq!(sum.load(SeqCst), 1.0);
}

pub fn planted() {
    two(|sum| sum.store(sum.load(SeqCst) + 0.5, SeqCst));
}

pub fn correct() {
    two(|sum| _ = sum.fetch_update(SeqCst, SeqCst, |old| Some(old + 0.5)).unwrap());
}
