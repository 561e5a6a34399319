//! A lost update: a pointer is replaced by one to a value that was computed from an older one.
//!
//! ```toml
//! crossbeam-epoch = "0.9"
//! [package.metadata.interloper]
//! instrument = ["crossbeam-epoch"]
//! ```

use std::sync::atomic::Ordering::{AcqRel, Acquire};
use std::thread;

use crossbeam_epoch::{self as epoch, Atomic, Owned};

fn two(add: fn(&Atomic<u32>)) {
    let number = Atomic::new(0);
    thread::scope(|scope| {
        let other = scope.spawn(|| add(&number));
        add(&number);
        other.join().unwrap();
    });
    // SAFETY: the other thread has ended, and the pointer is never null.
    assert_eq!(unsafe { *number.into_owned().into_box() }, 2);
}

pub fn planted() {
    two(|number| {
        let guard = epoch::pin();
        // SAFETY: it is never null, and what it points to is freed only when no thread is pinned any more.
        let read = unsafe { *number.load(Acquire, &guard).deref() };
        let old = number.swap(Owned::new(read + 1), AcqRel, &guard);
        // SAFETY: this thread alone has taken it out.
        unsafe { guard.defer_destroy(old) };
    });
}

pub fn correct() {
    two(|number| {
        let guard = epoch::pin();
        loop {
            let old = number.load(Acquire, &guard);
            // SAFETY: it is never null, and what it points to is freed only when no thread is pinned any more.
            let next = Owned::new(unsafe { *old.deref() } + 1);
            if number.compare_exchange(old, next, AcqRel, Acquire, &guard).is_ok() {
                // SAFETY: this thread alone has taken it out.
                unsafe { guard.defer_destroy(old) };
                break;
            }
        }
    });
}
