//! A lost update on a pool: two futures lock an async mutex once for reading and once for writing.
//!
//! ```toml
//! futures = { version = "0.3", features = ["thread-pool"] }
//! [package.metadata.interloper]
//! instrument = ["futures"]
//! ```

use std::sync::Arc;

use futures::executor::{ThreadPool, block_on};
use futures::future::join_all;
use futures::lock::Mutex;
use futures::task::SpawnExt;

fn two(at_once: bool) {
    let pool = ThreadPool::builder().pool_size(2).create().unwrap();
    let number = Arc::new(Mutex::new(0));
    let tasks = [(); 2].map(|()| {
        let number = Arc::clone(&number);
        let task = async move {
            if at_once {
                *number.lock().await += 1;
            } else {
                let read = *number.lock().await;
                *number.lock().await = read + 1;
            }
        };
        pool.spawn_with_handle(task).unwrap()
    });
    block_on(join_all(tasks));
    assert_eq!(*block_on(number.lock()), 2);
}

pub fn planted() {
    two(false);
}

pub fn correct() {
    two(true);
}
