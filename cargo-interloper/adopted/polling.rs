//! Notifications that are counted: two of them may end one wait.
//!
//! ```toml
//! polling = "3"
//! [package.metadata.interloper]
//! instrument = ["polling"]
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

use polling::{Events, Poller};

fn two_notifications(counts_waits: bool) {
    let poller = Arc::new(Poller::new().unwrap());
    let calls = Arc::new(AtomicU32::new(0));
    let threads = [0, 1].map(|_| {
        let (poller, calls) = (Arc::clone(&poller), Arc::clone(&calls));
        thread::spawn(move || {
            calls.fetch_add(1, SeqCst);
            poller.notify().unwrap();
        })
    });
    let (mut events, mut waits) = (Events::new(), 0);
    while (if counts_waits { waits } else { calls.load(SeqCst) }) < 2 {
        poller.wait(&mut events, None).unwrap();
        waits += 1;
    }
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

pub fn planted() {
    two_notifications(true);
}

pub fn correct() {
    two_notifications(false);
}
