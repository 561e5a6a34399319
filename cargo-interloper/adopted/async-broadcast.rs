//! A message that is missed: a receiver joins after the first broadcast.
//!
//! ```toml
//! async-broadcast = "0.7"
//! futures = { version = "0.3", features = ["thread-pool"] }
//! [package.metadata.interloper]
//! instrument = ["async-broadcast", "futures"]
//! ```

use std::thread;

use futures::StreamExt;
use futures::executor::block_on;

fn joins(before: bool) {
    let (sender, receiver) = async_broadcast::broadcast(2);
    let keeper = receiver.deactivate();
    let early = before.then(|| keeper.activate_cloned());
    let own = sender.clone();
    let sends = thread::spawn(move || (1..=2).for_each(|number| _ = own.try_broadcast(number)));
    let late = early.unwrap_or_else(|| keeper.activate_cloned());
    drop(sender);
    assert_eq!(block_on(late.collect::<Vec<u32>>()), [1, 2]);
    sends.join().unwrap();
}

pub fn planted() {
    joins(false);
}

pub fn correct() {
    joins(true);
}
