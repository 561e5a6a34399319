//! A permit that is given back twice: a semaphore admits two at once.
//!
//! ```toml
//! async-lock = "3"
//! futures = { version = "0.3", features = ["thread-pool"] }
//! [package.metadata.interloper]
//! instrument = ["async-lock", "futures"]
//! ```

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

use async_lock::Semaphore;
use futures::executor::block_on;

fn three(gives_back: bool) {
    let (semaphore, inside) = (Semaphore::new(1), AtomicU32::new(0));
    let enter = || {
        let permit = block_on(semaphore.acquire());
        assert_eq!(inside.fetch_add(1, SeqCst), 0, "one at a time");
        if gives_back {
            semaphore.add_permits(1);
        }
        inside.fetch_sub(1, SeqCst);
        drop(permit);
    };
    thread::scope(|scope| {
        scope.spawn(enter);
        scope.spawn(enter);
        enter();
    });
}

pub fn planted() {
    three(true);
}

pub fn correct() {
    three(false);
}
