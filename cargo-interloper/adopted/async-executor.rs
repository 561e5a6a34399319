//! A test that relies on the order in which tasks were spawned, on an executor that two threads drive.
//!
//! ```toml
//! async-executor = "1"
//! futures = { version = "0.3", features = ["thread-pool"] }
//! [package.metadata.interloper]
//! instrument = ["async-executor", "futures"]
//! ```

use std::sync::{Arc, Mutex};
use std::thread;

use async_executor::Executor;
use futures::executor::block_on;

fn two(waits: bool) {
    let executor = Executor::new();
    let lines = Arc::new(Mutex::new(Vec::new()));
    let writes = |line: &'static str| {
        let lines = Arc::clone(&lines);
        executor.spawn(async move { lines.lock().unwrap().push(line) })
    };
    let (stop, stopped) = futures::channel::oneshot::channel::<()>();
    thread::scope(|scope| {
        scope.spawn(|| _ = block_on(executor.run(stopped)));
        let open = writes("open");
        if waits {
            block_on(executor.run(open));
            block_on(executor.run(writes("close")));
        } else {
            let close = writes("close");
            block_on(executor.run(open));
            block_on(executor.run(close));
        }
        drop(stop);
    });
    assert_eq!(*lines.lock().unwrap(), ["open", "close"]);
}

pub fn planted() {
    two(false);
}

pub fn correct() {
    two(true);
}
