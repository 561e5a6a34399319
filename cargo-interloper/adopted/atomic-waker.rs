//! A lost wake-up: a future looks at the flag, and registers its waker afterwards.
//!
//! ```toml
//! atomic-waker = "1"
//! futures = { version = "0.3", features = ["thread-pool"] }
//! [package.metadata.interloper]
//! instrument = ["atomic-waker", "futures"]
//! ```

use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::task::Poll;
use std::thread;

use atomic_waker::AtomicWaker;
use futures::executor::block_on;

fn waits(registers_first: bool) {
    let (flag, waker) = (AtomicBool::new(false), AtomicWaker::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            flag.store(true, SeqCst);
            waker.wake();
        });
        block_on(poll_fn(|context| {
            if registers_first {
                waker.register(context.waker());
            }
            if flag.load(SeqCst) {
                return Poll::Ready(());
            }
            if !registers_first {
                waker.register(context.waker());
            }
            Poll::Pending
        }));
    });
}

pub fn planted() {
    waits(false);
}

pub fn correct() {
    waits(true);
}
