//! Check-then-act: two threads see that there is a future to run, and both take it.
//!
//! ```toml
//! futures = { version = "0.3", features = ["thread-pool"] }
//! sync_wrapper = { version = "1", features = ["futures"] }
//! [package.metadata.interloper]
//! instrument = ["sync_wrapper", "futures"]
//! ```

use std::cell::Cell;
use std::future::Ready;
use std::sync::Mutex;
use std::thread;

use futures::executor::block_on;
use sync_wrapper::SyncFuture;

/// The value of the future is not `Sync`, and the wrapper is.
type Job = SyncFuture<Ready<Cell<u32>>>;

fn two(take: fn(&Mutex<Option<Job>>) -> Option<Job>) {
    let job = Mutex::new(Some(SyncFuture::new(std::future::ready(Cell::new(7)))));
    let runs = || take(&job).map_or(0, |job| block_on(job).get());
    let sum = thread::scope(|scope| {
        let other = scope.spawn(runs);
        runs() + other.join().unwrap()
    });
    assert_eq!(sum, 7);
}

pub fn planted() {
    two(|job| {
        let there = job.lock().unwrap().is_some();
        there.then(|| job.lock().unwrap().take().expect("it is there"))
    });
}

pub fn correct() {
    two(|job| job.lock().unwrap().take());
}
