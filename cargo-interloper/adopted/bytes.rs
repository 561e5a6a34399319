//! Check-then-act on a count of owners: who has asked whether a buffer is its own believes that somebody will reuse it.
//!
//! ```toml
//! bytes = "1"
//! [package.metadata.interloper]
//! instrument = ["bytes"]
//! ```

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

use bytes::Bytes;

/// Whoever has the buffer last takes it back.
fn last_one_reuses(alone: bool) {
    let (lock, reused) = (Mutex::new(()), AtomicU32::new(0));
    let first = Bytes::from(vec![1, 2, 3, 4]);
    let second = first.clone();
    let gives_back = |bytes: Bytes| {
        let _held = alone.then(|| lock.lock().unwrap());
        reused.fetch_add(u32::from(bytes.is_unique()), SeqCst);
        drop(bytes);
    };
    thread::scope(|scope| {
        scope.spawn(|| gives_back(first));
        gives_back(second);
    });
    assert_eq!(reused.into_inner(), 1);
}

pub fn planted() {
    last_one_reuses(false);
}

pub fn correct() {
    last_one_reuses(true);
}
