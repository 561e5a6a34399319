//! A value that is read before it is published.
//!
//! ```toml
//! evmap = "11"
//! [package.metadata.interloper]
//! instrument = ["evmap"]
//! ```

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;

fn reads(publishes_first: bool) {
    let (mut writer, reader) = evmap::new();
    let is_there = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            writer.insert(1, 2);
            if publishes_first {
                writer.publish();
            }
            is_there.store(true, SeqCst);
            writer.publish();
        });
        if is_there.load(SeqCst) {
            assert_eq!(reader.get_one(&1).map(|value| *value), Some(2));
        }
    });
}

pub fn planted() {
    reads(false);
}

pub fn correct() {
    reads(true);
}
