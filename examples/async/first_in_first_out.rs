//! A test relies on the order in which tasks were spawned. No executor promises that order.

use std::sync::{Arc, Mutex};

use interloper::spawn;
use interloper::tasks::JoinHandle;

/// What happened, in its order. One poll runs at a time, so the mutex need not be under control.
type Log = Arc<Mutex<Vec<&'static str>>>;

fn writes(log: &Log, line: &'static str) -> JoinHandle<()> {
    let log = Arc::clone(log);
    spawn(async move { log.lock().unwrap().push(line) })
}

#[interloper::test(executions = 200, expect = "bug")]
async fn tasks_run_in_any_order() {
    let log = Log::default();
    let (open, close) = (writes(&log, "open"), writes(&log, "close"));
    open.await.unwrap();
    close.await.unwrap();
    assert_eq!(*log.lock().unwrap(), ["open", "close"]);
}

#[interloper::test(executions = 200)]
async fn a_task_that_is_awaited_comes_first() {
    let log = Log::default();
    let other = writes(&Log::default(), "something else");
    writes(&log, "open").await.unwrap();
    writes(&log, "close").await.unwrap();
    other.await.unwrap();
    assert_eq!(*log.lock().unwrap(), ["open", "close"]);
}
