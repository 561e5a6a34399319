//! An early time-out: a receiver takes a second to be enough, and does not look whether it was.
//!
//! ```toml
//! flume = "0.11"
//! [package.metadata.interloper]
//! instrument = ["flume"]
//! ```

use std::thread;
use std::time::Duration;

use flume::Receiver;

fn receives(receive: fn(&Receiver<u32>) -> Option<u32>) {
    let (sender, receiver) = flume::bounded(1);
    let other = thread::spawn(move || sender.send(7).is_ok());
    let received = receive(&receiver);
    drop(receiver);
    other.join().unwrap();
    assert_eq!(received, Some(7));
}

pub fn planted() {
    receives(|receiver| receiver.recv_timeout(Duration::from_secs(1)).ok());
}

pub fn correct() {
    receives(|receiver| receiver.recv_timeout(Duration::from_secs(1)).or_else(|_| receiver.recv()).ok());
}
