//! A sum that comes too early: the counters of the threads are added while one still counts.
//!
//! ```toml
//! thread_local = "1"
//! [package.metadata.interloper]
//! instrument = ["thread_local"]
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

use thread_local::ThreadLocal;

fn two(joins_first: bool) {
    let counts = Arc::new(ThreadLocal::<AtomicU32>::new());
    let theirs = Arc::clone(&counts);
    let mut other = Some(thread::spawn(move || _ = theirs.get_or_default().fetch_add(1, SeqCst)));
    counts.get_or_default().fetch_add(1, SeqCst);
    if joins_first {
        other.take().unwrap().join().unwrap();
    }
    let sum: u32 = counts.iter().map(|count| count.load(SeqCst)).sum();
    other.map(|other| other.join().unwrap());
    assert_eq!(sum, 2);
}

pub fn planted() {
    two(false);
}

pub fn correct() {
    two(true);
}
