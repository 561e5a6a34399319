//! An update that is skipped: who does not get an async lock at once goes on without it.
//!
//! ```toml
//! futures = { version = "0.3", features = ["thread-pool"] }
//! futures-util = "0.3"
//! [package.metadata.interloper]
//! instrument = ["futures-util", "futures"]
//! ```

use std::thread;

use futures::executor::block_on;
use futures_util::lock::Mutex;

async fn add(number: &Mutex<u32>, waits: bool) {
    if waits {
        *number.lock().await += 1;
    } else if let Some(mut number) = number.try_lock() {
        *number += 1;
    }
}

fn two(waits: bool) {
    let number = Mutex::new(0);
    thread::scope(|scope| {
        scope.spawn(|| block_on(add(&number, waits)));
        block_on(add(&number, waits));
    });
    assert_eq!(number.into_inner(), 2);
}

pub fn planted() {
    two(false);
}

pub fn correct() {
    two(true);
}
