//! A lost wake-up: `notify_waiters` reaches those that wait already, and a task looks at the flag first.
//!
//! ```toml
//! tokio = { version = "1", features = ["io-util", "macros", "net", "rt-multi-thread", "sync", "time"] }
//! [package.metadata.interloper]
//! instrument = ["tokio"]
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use tokio::runtime::Builder;
use tokio::sync::Notify;

fn waits(registers_first: bool) {
    let runtime = Builder::new_multi_thread().worker_threads(2).build().unwrap();
    runtime.block_on(async {
        let shared = Arc::new((AtomicBool::new(false), Notify::new()));
        let own = Arc::clone(&shared);
        let sets = tokio::spawn(async move {
            own.0.store(true, SeqCst);
            own.1.notify_waiters();
        });
        let (flag, set) = &*shared;
        if registers_first {
            let notified = set.notified();
            if !flag.load(SeqCst) {
                notified.await;
            }
        } else if !flag.load(SeqCst) {
            set.notified().await;
        }
        sets.await.unwrap();
    });
}

pub fn planted() {
    waits(false);
}

pub fn correct() {
    waits(true);
}
