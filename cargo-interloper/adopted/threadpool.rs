//! A lost update by the workers of a pool.
//!
//! ```toml
//! threadpool = "1"
//! [package.metadata.interloper]
//! instrument = ["threadpool"]
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use threadpool::ThreadPool;

fn two(add: fn(&AtomicU32)) {
    let (pool, number) = (ThreadPool::new(2), Arc::new(AtomicU32::new(0)));
    for _ in 0..2 {
        let number = Arc::clone(&number);
        pool.execute(move || add(&number));
    }
    pool.join();
    assert_eq!(number.load(SeqCst), 2);
}

pub fn planted() {
    two(|number| number.store(number.load(SeqCst) + 1, SeqCst));
}

pub fn correct() {
    two(|number| _ = number.fetch_add(1, SeqCst));
}
