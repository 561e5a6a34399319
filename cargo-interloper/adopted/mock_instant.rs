//! A lost update of a clock: two threads read the time and set it forward.
//!
//! ```toml
//! mock_instant = "0.6"
//! [package.metadata.interloper]
//! instrument = ["mock_instant"]
//! ```

use std::thread;
use std::time::Duration;

use mock_instant::global::{Instant, MockClock};

const STEP: Duration = Duration::from_secs(1);

fn two(forward: fn()) {
    let start = Instant::now();
    let other = thread::spawn(forward);
    forward();
    other.join().unwrap();
    assert_eq!(start.elapsed(), 2 * STEP);
}

pub fn planted() {
    two(|| MockClock::set_time(MockClock::time() + STEP));
}

pub fn correct() {
    two(|| MockClock::advance(STEP));
}
