//! A lost update in a subscriber: it counts events in two steps.
//!
//! ```toml
//! tracing = "0.1"
//! [package.metadata.interloper]
//! instrument = ["tracing"]
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::thread;

use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::{Subscriber, with_default};
use tracing::{Event, Metadata, info};

struct Counts {
    events: Arc<AtomicU64>,
    at_once: bool,
}

impl Subscriber for Counts {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {
        if self.at_once {
            self.events.fetch_add(1, SeqCst);
        } else {
            self.events.store(self.events.load(SeqCst) + 1, SeqCst);
        }
    }
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

fn two(at_once: bool) {
    let events = Arc::new(AtomicU64::new(0));
    let dispatch = tracing::Dispatch::new(Counts { events: Arc::clone(&events), at_once });
    let other = dispatch.clone();
    let thread = thread::spawn(move || tracing::dispatcher::with_default(&other, || info!("theirs")));
    tracing::dispatcher::with_default(&dispatch, || info!("ours"));
    thread.join().unwrap();
    assert_eq!(events.load(SeqCst), 2);
    with_default(tracing::subscriber::NoSubscriber::default(), || info!("nobody counts this"));
}

pub fn planted() {
    two(false);
}

pub fn correct() {
    two(true);
}
