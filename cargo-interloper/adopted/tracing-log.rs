//! Check-then-act: two threads see that no logger is set, and both expect to set it.
//!
//! ```toml
//! log = "0.4"
//! tracing-log = "0.2"
//! [package.metadata.interloper]
//! instrument = ["tracing-log", "log"]
//! ```

use std::thread;

use log::LevelFilter;
use tracing_log::LogTracer;

fn two(start: fn()) {
    let other = thread::spawn(start);
    start();
    other.join().unwrap();
    log::info!("nobody listens");
    assert_eq!(log::max_level(), LevelFilter::Trace);
}

pub fn planted() {
    two(|| {
        if log::max_level() == LevelFilter::Off {
            LogTracer::init().expect("nobody has set one");
        }
    });
}

pub fn correct() {
    // An error says that somebody else was first.
    two(|| _ = LogTracer::init());
}
