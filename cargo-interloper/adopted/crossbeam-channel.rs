//! Check-then-act: a worker that sees a message in the channel expects to receive it, and another one takes it.
//!
//! ```toml
//! crossbeam-channel = "0.5"
//! [package.metadata.interloper]
//! instrument = ["crossbeam-channel"]
//! ```

use std::thread;

use crossbeam_channel::Receiver;

fn two(take: fn(&Receiver<u32>) -> Option<u32>) {
    let (sender, receiver) = crossbeam_channel::bounded(2);
    sender.send(7).unwrap();
    drop(sender);
    let other = receiver.clone();
    let other = thread::spawn(move || take(&other));
    let own = take(&receiver);
    assert_eq!(own.or(other.join().unwrap()), Some(7));
}

pub fn planted() {
    two(|receiver| (!receiver.is_empty()).then(|| receiver.recv().unwrap()));
}

pub fn correct() {
    two(|receiver| receiver.recv().ok());
}
