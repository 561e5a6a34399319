//! A refresh that comes too early: it does not wait for a thread that has not recorded yet.
//!
//! ```toml
//! hdrhistogram = { version = "7", default-features = false, features = ["sync"] }
//! [package.metadata.interloper]
//! instrument = ["hdrhistogram"]
//! ```

use std::thread;
use std::time::Duration;

use hdrhistogram::Histogram;
use hdrhistogram::sync::SyncHistogram;

fn two(joins_first: bool) {
    let mut all: SyncHistogram<u64> = Histogram::new_with_bounds(1, 10, 1).unwrap().into();
    let mut others = Vec::new();
    for value in [3, 7] {
        let mut recorder = all.recorder();
        others.push(thread::spawn(move || recorder.record(value).unwrap()));
    }
    if joins_first {
        others.drain(..).for_each(|other| other.join().unwrap());
    }
    all.refresh_timeout(Duration::from_millis(10));
    assert_eq!(all.len(), 2);
    others.into_iter().for_each(|other| other.join().unwrap());
}

pub fn planted() {
    two(false);
}

pub fn correct() {
    two(true);
}
