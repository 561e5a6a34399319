//! A lost update through an async trait: a value is read by one call and written by the next.
//!
//! ```toml
//! async-trait = "0.1"
//! futures = { version = "0.3", features = ["thread-pool"] }
//! [package.metadata.interloper]
//! instrument = ["futures"]
//! ```

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

use async_trait::async_trait;
use futures::executor::block_on;

#[async_trait]
trait Store: Sync {
    async fn get(&self) -> u32;
    async fn set(&self, value: u32);
    async fn add(&self);
}

#[async_trait]
impl Store for AtomicU32 {
    async fn get(&self) -> u32 {
        self.load(SeqCst)
    }
    async fn set(&self, value: u32) {
        self.store(value, SeqCst);
    }
    async fn add(&self) {
        self.fetch_add(1, SeqCst);
    }
}

async fn counts(store: &dyn Store, at_once: bool) {
    if at_once {
        store.add().await;
    } else {
        let read = store.get().await;
        store.set(read + 1).await;
    }
}

fn two(at_once: bool) {
    let number = AtomicU32::new(0);
    thread::scope(|scope| {
        scope.spawn(|| block_on(counts(&number, at_once)));
        block_on(counts(&number, at_once));
    });
    assert_eq!(number.into_inner(), 2);
}

pub fn planted() {
    two(false);
}

pub fn correct() {
    two(true);
}
