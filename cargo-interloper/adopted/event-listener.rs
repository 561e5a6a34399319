//! A lost wake-up: a thread looks at the flag before it listens.
//!
//! ```toml
//! event-listener = "5"
//! [package.metadata.interloper]
//! instrument = ["event-listener"]
//! ```

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;

use event_listener::{Event, Listener};

fn waits(wait: fn(&AtomicBool, &Event)) {
    let (flag, event) = (AtomicBool::new(false), Event::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            flag.store(true, SeqCst);
            event.notify(1);
        });
        wait(&flag, &event);
    });
}

pub fn planted() {
    waits(|flag, event| {
        if !flag.load(SeqCst) {
            event.listen().wait();
        }
    });
}

pub fn correct() {
    waits(|flag, event| {
        let listener = event.listen();
        if !flag.load(SeqCst) {
            listener.wait();
        }
    });
}
