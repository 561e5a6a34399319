//! An order that nobody promises: two futures are given to an executor, and the second may run first.
//!
//! ```toml
//! hyper = { version = "1", features = ["client", "http1", "server"] }
//! hyper-util = { version = "0.1", features = ["tokio"] }
//! tokio = { version = "1", features = ["io-util", "macros", "net", "rt-multi-thread", "sync", "time"] }
//! [package.metadata.interloper]
//! instrument = ["hyper-util", "hyper", "tokio"]
//! ```

use std::sync::{Arc, Mutex};

use hyper::rt::Executor;
use hyper_util::rt::TokioExecutor;
use tokio::runtime::Builder;
use tokio::sync::oneshot;

fn two(sorts: bool) {
    Builder::new_current_thread().build().unwrap().block_on(async {
        let (executor, order) = (TokioExecutor::new(), Arc::new(Mutex::new(Vec::new())));
        let mut ends = Vec::new();
        for number in 0..2 {
            let ((send, end), order) = (oneshot::channel(), Arc::clone(&order));
            executor.execute(async move {
                order.lock().unwrap().push(number);
                send.send(()).unwrap();
            });
            ends.push(end);
        }
        for end in ends {
            end.await.unwrap();
        }
        let mut order = order.lock().unwrap().clone();
        if sorts {
            order.sort_unstable();
        }
        assert_eq!(order, [0, 1]);
    });
}

pub fn planted() {
    two(false);
}

pub fn correct() {
    two(true);
}
