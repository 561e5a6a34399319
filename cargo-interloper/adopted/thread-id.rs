//! Check-then-act on an owner: two threads see that nobody owns a lock, and both write their identity.
//!
//! ```toml
//! thread-id = "5"
//! [package.metadata.interloper]
//! instrument = ["thread-id"]
//! ```

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::SeqCst};
use std::thread;

fn two(take: fn(&AtomicUsize, usize) -> bool) {
    let (owner, owners) = (AtomicUsize::new(0), AtomicU32::new(0));
    let takes = || {
        if take(&owner, thread_id::get()) {
            owners.fetch_add(1, SeqCst);
        }
    };
    thread::scope(|scope| {
        scope.spawn(takes);
        takes();
    });
    assert_eq!(owners.into_inner(), 1);
}

pub fn planted() {
    two(|owner, own| {
        let free = owner.load(SeqCst) == 0;
        if free {
            owner.store(own, SeqCst);
        }
        free
    });
}

pub fn correct() {
    two(|owner, own| owner.compare_exchange(0, own, SeqCst, SeqCst).is_ok());
}
