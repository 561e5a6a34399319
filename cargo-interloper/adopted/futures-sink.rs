//! Check-then-act: a sink with one place says to two senders that it is ready, and both send.
//!
//! ```toml
//! futures = { version = "0.3", features = ["thread-pool"] }
//! futures-sink = "0.3"
//! [package.metadata.interloper]
//! instrument = ["futures-sink", "futures"]
//! ```

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::task::{Context, Poll};
use std::thread;

use futures::executor::block_on;
use futures_sink::Sink;

#[derive(Default)]
struct Place {
    full: AtomicBool,
    value: Mutex<Option<u32>>,
    sent: AtomicU32,
}

struct Sender<'p> {
    place: &'p Place,
    reserves: bool,
}

impl Sink<u32> for Sender<'_> {
    type Error = Infallible;
    /// An error would do for a sender that is late: here, who finds the place full goes away.
    fn poll_ready(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        let full = if self.reserves { self.place.full.swap(true, SeqCst) } else { self.place.full.load(SeqCst) };
        if full { Poll::Pending } else { Poll::Ready(Ok(())) }
    }
    fn start_send(self: Pin<&mut Self>, value: u32) -> Result<(), Infallible> {
        self.place.full.store(true, SeqCst);
        assert_eq!(self.place.value.lock().unwrap().replace(value), None, "a value is overwritten");
        self.place.sent.fetch_add(1, SeqCst);
        Ok(())
    }
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }
    fn poll_close(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.poll_flush(context)
    }
}

fn two(reserves: bool) {
    let place = Place::default();
    let sends = |value| {
        let mut sender = Sender { place: &place, reserves };
        let ready = std::future::poll_fn(|context| Poll::Ready(Pin::new(&mut sender).poll_ready(context).is_ready()));
        if block_on(ready) {
            Pin::new(&mut sender).start_send(value).unwrap();
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| sends(1));
        sends(2);
    });
    assert_eq!(place.sent.into_inner(), 1);
}

pub fn planted() {
    two(false);
}

pub fn correct() {
    two(true);
}
