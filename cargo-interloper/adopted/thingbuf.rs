//! A pop that gives up: who has pushed expects to find something.
//!
//! ```toml
//! thingbuf = "0.1"
//! [package.metadata.interloper]
//! instrument = ["thingbuf"]
//! ```

use std::sync::Arc;
use std::thread;

use thingbuf::ThingBuf;

fn two(gives_up: bool) {
    let queue = Arc::new(ThingBuf::<u32>::new(2));
    let theirs = Arc::clone(&queue);
    let other = thread::spawn(move || theirs.push(0).unwrap());
    queue.push(1).unwrap();
    while queue.pop().is_none() {
        assert!(!gives_up, "it has pushed");
        thread::yield_now();
    }
    other.join().unwrap();
}

pub fn planted() {
    two(true);
}

pub fn correct() {
    two(false);
}
