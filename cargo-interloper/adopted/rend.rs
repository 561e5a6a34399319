//! A lost update in an atomic of the network's byte order.
//!
//! ```toml
//! rend = "0.5"
//! [package.metadata.interloper]
//! instrument = ["rend"]
//! ```

use std::sync::atomic::Ordering::SeqCst;
use std::thread;

use rend::AtomicU32_be;

fn two(add: fn(&AtomicU32_be)) {
    let number = AtomicU32_be::new(0);
    thread::scope(|scope| {
        scope.spawn(|| add(&number));
        add(&number);
    });
    assert_eq!(number.load(SeqCst), 2);
}

pub fn planted() {
    two(|number| number.store(number.load(SeqCst) + 1, SeqCst));
}

pub fn correct() {
    two(|number| {
        let _ = number.fetch_update(SeqCst, SeqCst, |old| Some(old + 1)).unwrap();
    });
}
