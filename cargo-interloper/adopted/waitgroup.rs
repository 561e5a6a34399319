//! A worker that is not waited for: it joins the group after the wait has begun.
//!
//! ```toml
//! futures = { version = "0.3", features = ["thread-pool"] }
//! waitgroup = "0.1"
//! [package.metadata.interloper]
//! instrument = ["waitgroup", "futures"]
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

use futures::executor::block_on;
use waitgroup::WaitGroup;

fn waits(held: bool) {
    let (group, done) = (WaitGroup::new(), Arc::new(AtomicU32::new(0)));
    let (worker, own) = (group.worker(), Arc::clone(&done));
    let other = thread::spawn(move || {
        let kept = held.then_some(worker);
        own.fetch_add(1, SeqCst);
        drop(kept);
    });
    block_on(group.wait());
    assert_eq!(done.load(SeqCst), 1);
    other.join().unwrap();
}

pub fn planted() {
    waits(false);
}

pub fn correct() {
    waits(true);
}
