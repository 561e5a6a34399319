//! Work that is lost: a task that looks at a cancellation first drops what it has received.
//!
//! ```toml
//! tokio = { version = "1", features = ["io-util", "macros", "net", "rt-multi-thread", "sync", "time"] }
//! tokio-util = { version = "0.7", features = ["rt"] }
//! [package.metadata.interloper]
//! instrument = ["tokio-util", "tokio"]
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use tokio::runtime::Builder;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

fn stops(waits: bool) {
    Builder::new_multi_thread().worker_threads(2).build().unwrap().block_on(async {
        let (token, tracker, done) = (CancellationToken::new(), TaskTracker::new(), Arc::new(AtomicU32::new(0)));
        for _ in 0..2 {
            let (token, done) = (token.clone(), Arc::clone(&done));
            tracker.spawn(async move {
                token.cancelled().await;
                done.fetch_add(1, SeqCst);
            });
        }
        tokio::task::yield_now().await;
        tracker.close();
        token.cancel();
        if waits {
            tracker.wait().await;
        } else {
            // Who is cancelled is believed to have ended after one turn of the others.
            tokio::task::yield_now().await;
        }
        assert_eq!(done.load(SeqCst), 2);
    });
}

pub fn planted() {
    stops(false);
}

pub fn correct() {
    stops(true);
}
