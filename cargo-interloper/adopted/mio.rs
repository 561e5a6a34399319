//! Wake-ups that are counted: two calls of a waker may be one event.
//!
//! ```toml
//! mio = { version = "1", features = ["os-poll"] }
//! [package.metadata.interloper]
//! instrument = ["mio"]
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

use mio::{Events, Poll, Token, Waker};

fn two_wake_ups(counts_events: bool) {
    let mut poll = Poll::new().unwrap();
    let waker = Arc::new(Waker::new(poll.registry(), Token(0)).unwrap());
    let calls = Arc::new(AtomicU32::new(0));
    let threads = [0, 1].map(|_| {
        let (waker, calls) = (Arc::clone(&waker), Arc::clone(&calls));
        thread::spawn(move || {
            calls.fetch_add(1, SeqCst);
            waker.wake().unwrap();
        })
    });
    let (mut events, mut seen) = (Events::with_capacity(4), 0);
    while (if counts_events { seen } else { calls.load(SeqCst) }) < 2 {
        poll.poll(&mut events, None).unwrap();
        seen += 1;
    }
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

pub fn planted() {
    two_wake_ups(true);
}

pub fn correct() {
    two_wake_ups(false);
}
