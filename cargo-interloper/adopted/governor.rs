//! An order that nobody promises: of two threads, the one that was there first is believed to be the one that is admitted.
//!
//! ```toml
//! governor = { version = "0.10", default-features = false, features = ["std"] }
//! [package.metadata.interloper]
//! instrument = ["governor"]
//! ```

use std::num::NonZeroU32;
use std::sync::Arc;
use std::thread;

use governor::clock::FakeRelativeClock;
use governor::{Quota, RateLimiter};

/// Whether the first thread and the second one are admitted.
fn two_requests() -> [bool; 2] {
    let quota = Quota::per_hour(NonZeroU32::MIN);
    let limiter = Arc::new(RateLimiter::direct_with_clock(quota, FakeRelativeClock::default()));
    let threads = [0, 1].map(|_| {
        let limiter = Arc::clone(&limiter);
        thread::spawn(move || limiter.check().is_ok())
    });
    threads.map(|thread| thread.join().unwrap())
}

pub fn planted() {
    assert_eq!(two_requests(), [true, false]);
}

pub fn correct() {
    let admitted = two_requests();
    assert!(admitted[0] != admitted[1]);
}
