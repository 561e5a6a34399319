//! Check-then-act: two threads see that a cell is empty and both count an initialisation.
//!
//! ```toml
//! async-once-cell = "0.5"
//! futures = { version = "0.3", features = ["thread-pool"] }
//! [package.metadata.interloper]
//! instrument = ["async-once-cell", "futures"]
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

use async_once_cell::OnceCell;
use futures::executor::block_on;

fn computes_once(looks_first: bool) {
    let (cell, computed) = (Arc::new(OnceCell::new()), Arc::new(AtomicU32::new(0)));
    let threads = [0, 1].map(|_| {
        let (cell, computed) = (Arc::clone(&cell), Arc::clone(&computed));
        thread::spawn(move || {
            let value = if looks_first {
                if cell.get().is_none() {
                    computed.fetch_add(1, SeqCst);
                }
                block_on(cell.get_or_init(async { 7 }))
            } else {
                block_on(cell.get_or_init(async {
                    computed.fetch_add(1, SeqCst);
                    7
                }))
            };
            assert_eq!(*value, 7);
        })
    });
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(computed.load(SeqCst), 1);
}

pub fn planted() {
    computes_once(true);
}

pub fn correct() {
    computes_once(false);
}
