//! A cancel-unsafe loop: a time-out drops a future that has taken the first half of a message.
//!
//! ```toml
//! tokio = { version = "1", features = ["io-util", "macros", "net", "rt-multi-thread", "sync", "time"] }
//! [package.metadata.interloper]
//! instrument = ["tokio"]
//! ```

use std::thread;
use std::time::Duration;

use tokio::runtime::Builder;
use tokio::sync::mpsc::{self, Receiver};
use tokio::time::timeout;

/// The halves that were taken are in `taken`, or only in the future.
async fn message(halves: &mut Receiver<u32>, taken: &mut Vec<u32>, kept: bool) -> (u32, u32) {
    let mut own = Vec::new();
    let taken = if kept { taken } else { &mut own };
    while taken.len() < 2 {
        taken.push(halves.recv().await.expect("there are two"));
    }
    (taken[0], taken[1])
}

fn reads(kept: bool) {
    Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
        let (sender, mut halves) = mpsc::channel(2);
        let sends = thread::spawn(move || {
            for half in [1, 2] {
                sender.blocking_send(half).unwrap();
                thread::sleep(Duration::from_millis(10));
            }
        });
        let mut taken = Vec::new();
        let read = loop {
            let wait = timeout(Duration::from_millis(15), message(&mut halves, &mut taken, kept));
            match wait.await {
                Ok(read) => break read,
                Err(_) => {}
            }
        };
        assert_eq!(read, (1, 2));
        sends.join().unwrap();
    });
}

pub fn planted() {
    reads(false);
}

pub fn correct() {
    reads(true);
}
