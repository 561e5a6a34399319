//! A lost update: a counter is read and written in two steps.

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

fn two(add: fn(&AtomicU32)) {
    let number = AtomicU32::new(0);
    thread::scope(|scope| {
        scope.spawn(|| add(&number));
        add(&number);
    });
    assert_eq!(number.into_inner(), 2);
}

pub fn planted() {
    two(|number| number.store(number.load(SeqCst) + 1, SeqCst));
}

pub fn correct() {
    two(|number| _ = number.fetch_add(1, SeqCst));
}
