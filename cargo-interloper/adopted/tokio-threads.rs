//! A lost update over an async mutex: the lock is given back between reading and writing.
//!
//! ```toml
//! tokio = { version = "1", features = ["io-util", "macros", "net", "rt-multi-thread", "sync", "time"] }
//! [package.metadata.interloper]
//! instrument = ["tokio"]
//! ```

use std::sync::Arc;

use tokio::runtime::Builder;
use tokio::sync::Mutex;
use tokio::task::JoinSet;

fn three(at_once: bool) {
    let runtime = Builder::new_multi_thread().worker_threads(2).build().unwrap();
    runtime.block_on(async {
        let number = Arc::new(Mutex::new(0));
        let mut tasks = JoinSet::new();
        for _ in 0..3 {
            let number = Arc::clone(&number);
            tasks.spawn(async move {
                if at_once {
                    *number.lock().await += 1;
                } else {
                    let read = *number.lock().await;
                    *number.lock().await = read + 1;
                }
            });
        }
        while let Some(ended) = tasks.join_next().await {
            ended.unwrap();
        }
        assert_eq!(*number.lock().await, 3);
    });
}

pub fn planted() {
    three(false);
}

pub fn correct() {
    three(true);
}
