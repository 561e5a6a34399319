//! A message that comes later than a look into the channel.
//!
//! ```toml
//! oneshot = "0.1"
//! [package.metadata.interloper]
//! instrument = ["oneshot"]
//! ```

use std::thread;

use oneshot::Receiver;

fn waits(receive: fn(Receiver<u32>) -> Option<u32>) {
    let (sender, receiver) = oneshot::channel();
    let other = thread::spawn(move || sender.send(7).is_ok());
    let got = receive(receiver);
    other.join().unwrap();
    assert_eq!(got, Some(7));
}

pub fn planted() {
    waits(|receiver| receiver.try_recv().ok());
}

pub fn correct() {
    waits(|receiver| receiver.recv().ok());
}
