//! Check-then-act: a task that sees a message in the channel waits for it, and another one has taken it.
//!
//! ```toml
//! async-channel = "2"
//! futures = { version = "0.3", features = ["thread-pool"] }
//! [package.metadata.interloper]
//! instrument = ["async-channel", "futures"]
//! ```

use std::thread;

use async_channel::Receiver;
use futures::executor::block_on;

fn two(take: fn(&Receiver<u32>) -> Option<u32>) {
    let (sender, receiver) = async_channel::unbounded();
    sender.try_send(7).unwrap();
    let other = receiver.clone();
    let other = thread::spawn(move || take(&other));
    let own = take(&receiver);
    assert_eq!(own.or(other.join().unwrap()), Some(7));
    drop(sender);
}

pub fn planted() {
    two(|receiver| (!receiver.is_empty()).then(|| block_on(receiver.recv()).unwrap()));
}

pub fn correct() {
    two(|receiver| receiver.try_recv().ok());
}
