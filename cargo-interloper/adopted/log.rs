//! A lost update in a logger: it counts records in two steps.
//!
//! ```toml
//! log = "0.4"
//! [package.metadata.interloper]
//! instrument = ["log"]
//! ```

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::thread;

use log::{LevelFilter, Log, Metadata, Record, info};

struct Counts {
    records: AtomicU64,
    at_once: AtomicBool,
}

static COUNTS: Counts = Counts { records: AtomicU64::new(0), at_once: AtomicBool::new(false) };

impl Log for Counts {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }
    fn log(&self, _: &Record<'_>) {
        if self.at_once.load(SeqCst) {
            self.records.fetch_add(1, SeqCst);
        } else {
            self.records.store(self.records.load(SeqCst) + 1, SeqCst);
        }
    }
    fn flush(&self) {}
}

fn two(at_once: bool) {
    COUNTS.at_once.store(at_once, SeqCst);
    log::set_logger(&COUNTS).expect("each execution starts fresh");
    log::set_max_level(LevelFilter::Info);
    let other = thread::spawn(|| info!("theirs"));
    info!("ours");
    other.join().unwrap();
    assert_eq!(COUNTS.records.load(SeqCst), 2);
}

pub fn planted() {
    two(false);
}

pub fn correct() {
    two(true);
}
