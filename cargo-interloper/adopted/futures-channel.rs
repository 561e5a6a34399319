//! An order of messages that nobody promises: two threads send to one channel.
//!
//! ```toml
//! futures = { version = "0.3", features = ["thread-pool"] }
//! futures-channel = "0.3"
//! [package.metadata.interloper]
//! instrument = ["futures-channel", "futures"]
//! ```

use std::thread;

use futures::StreamExt;
use futures::executor::block_on;
use futures_channel::mpsc;

fn two(check: fn(Vec<u32>)) {
    let (sender, receiver) = mpsc::unbounded();
    let both = [1, 2].map(|number| {
        let sender = sender.clone();
        thread::spawn(move || sender.unbounded_send(number).unwrap())
    });
    drop(sender);
    check(block_on(receiver.collect()));
    both.into_iter().for_each(|thread| thread.join().unwrap());
}

pub fn planted() {
    two(|got| assert_eq!(got, [1, 2]));
}

pub fn correct() {
    two(|mut got| {
        got.sort_unstable();
        assert_eq!(got, [1, 2]);
    });
}
