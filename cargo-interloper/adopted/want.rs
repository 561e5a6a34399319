//! A look that comes too early: who gives something looks whether it is wanted, and does not wait until it is.
//!
//! ```toml
//! futures = { version = "0.3", features = ["thread-pool"] }
//! want = "0.3"
//! [package.metadata.interloper]
//! instrument = ["want", "futures"]
//! ```

use std::thread;

use futures::executor::block_on;

fn gives(waits: bool) {
    let (mut giver, mut taker) = want::new();
    let other = thread::spawn(move || {
        taker.want();
        taker
    });
    if waits {
        block_on(giver.want()).unwrap();
    }
    assert!(giver.is_wanting());
    other.join().unwrap();
}

pub fn planted() {
    gives(false);
}

pub fn correct() {
    gives(true);
}
