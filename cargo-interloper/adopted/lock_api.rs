//! A lock of one's own that forgets to wait: two threads get in.
//!
//! ```toml
//! lock_api = "0.4"
//! [package.metadata.interloper]
//! instrument = ["lock_api"]
//! ```

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;

use lock_api::{GuardSend, Mutex, RawMutex};

struct Spins<const AT_ONCE: bool>(AtomicBool);

// SAFETY: with `AT_ONCE` one thread at a time changes the flag from false to true. Without it the lock is wrong.
unsafe impl<const AT_ONCE: bool> RawMutex for Spins<AT_ONCE> {
    #[allow(clippy::declare_interior_mutable_const, reason = "the trait has it")]
    const INIT: Self = Spins(AtomicBool::new(false));
    type GuardMarker = GuardSend;
    fn lock(&self) {
        while !self.try_lock() {
            thread::yield_now();
        }
    }
    fn try_lock(&self) -> bool {
        if AT_ONCE {
            !self.0.swap(true, SeqCst)
        } else {
            let free = !self.0.load(SeqCst);
            if free {
                self.0.store(true, SeqCst);
            }
            free
        }
    }
    unsafe fn unlock(&self) {
        self.0.store(false, SeqCst);
    }
}

fn two<const AT_ONCE: bool>() {
    let number = Mutex::<Spins<AT_ONCE>, u32>::new(0);
    thread::scope(|scope| {
        scope.spawn(|| *number.lock() += 1);
        *number.lock() += 1;
    });
    assert_eq!(number.into_inner(), 2);
}

pub fn planted() {
    two::<false>();
}

pub fn correct() {
    two::<true>();
}
