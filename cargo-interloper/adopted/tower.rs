//! A lost update in a service that two requests enter at once, since the limit admits both.
//!
//! ```toml
//! futures = { version = "0.3", features = ["thread-pool"] }
//! tower = { version = "0.5", features = ["limit", "util"] }
//! [package.metadata.interloper]
//! instrument = ["tower", "futures"]
//! ```

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

use futures::executor::block_on;
use tower::limit::ConcurrencyLimit;
use tower::{ServiceExt, service_fn};

fn two_requests(limit: usize) {
    let number = Arc::new(AtomicU32::new(0));
    let own = Arc::clone(&number);
    let service = service_fn(move |(): ()| {
        let number = Arc::clone(&own);
        async move {
            let read = number.load(SeqCst);
            number.store(read + 1, SeqCst);
            Ok::<u32, Infallible>(read)
        }
    });
    let first = ConcurrencyLimit::new(service, limit);
    let second = first.clone();
    let other = thread::spawn(move || block_on(second.oneshot(())).unwrap());
    block_on(first.oneshot(())).unwrap();
    other.join().unwrap();
    assert_eq!(number.load(SeqCst), 2);
}

pub fn planted() {
    two_requests(2);
}

pub fn correct() {
    two_requests(1);
}
