//! A lost update across an await: a task reads a counter, lets others go on, and writes what it has computed.
//!
//! ```toml
//! trpl = "0.3"
//! [package.metadata.interloper]
//! instrument = ["trpl", "tokio"]
//! ```

use std::sync::{Arc, Mutex};

fn two(adds: bool) {
    trpl::block_on(async {
        let count = Arc::new(Mutex::new(0));
        let task = |count: Arc<Mutex<u32>>| async move {
            if adds {
                trpl::yield_now().await;
                *count.lock().unwrap() += 1;
            } else {
                let read = *count.lock().unwrap();
                trpl::yield_now().await;
                *count.lock().unwrap() = read + 1;
            }
        };
        let tasks = [0, 1].map(|_| trpl::spawn_task(task(Arc::clone(&count))));
        for ended in trpl::join_all(tasks).await {
            ended.unwrap();
        }
        assert_eq!(*count.lock().unwrap(), 2);
    });
}

pub fn planted() {
    two(false);
}

pub fn correct() {
    two(true);
}
