//! A lost wake-up: a thread looks at the flag before it listens, and then waits without looking again.
//!
//! ```toml
//! event-listener = "5"
//! event-listener-strategy = "0.5"
//! [package.metadata.interloper]
//! instrument = ["event-listener-strategy", "event-listener"]
//! ```

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;

use event_listener::Event;
use event_listener_strategy::{Blocking, Strategy};

fn waits(looks_again: bool) {
    let (flag, event) = (AtomicBool::new(false), Event::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            flag.store(true, SeqCst);
            event.notify(1);
        });
        if !flag.load(SeqCst) {
            let mut listener = Some(event.listen());
            if !looks_again || !flag.load(SeqCst) {
                let _ = Blocking::default().poll::<(), _>(&mut listener, &mut ());
            }
        }
    });
}

pub fn planted() {
    waits(false);
}

pub fn correct() {
    waits(true);
}
