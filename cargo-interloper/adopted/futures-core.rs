//! A lost wake-up: a stream looks at the flag, and registers its waker afterwards.
//!
//! ```toml
//! futures = { version = "0.3", features = ["thread-pool"] }
//! futures-core = "0.3"
//! [package.metadata.interloper]
//! instrument = ["futures-core", "futures"]
//! ```

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::task::{Context, Poll};
use std::thread;

use futures::executor::block_on;
use futures::task::AtomicWaker;
use futures_core::Stream;

#[derive(Default)]
struct Flag {
    set: AtomicBool,
    waker: AtomicWaker,
}

struct Items<'f> {
    flag: &'f Flag,
    looks_again: bool,
}

impl Items<'_> {
    fn poll(&self, context: &Context<'_>) -> Poll<()> {
        if self.flag.set.load(SeqCst) {
            return Poll::Ready(());
        }
        self.flag.waker.register(context.waker());
        match self.looks_again && self.flag.set.load(SeqCst) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }
}

impl Stream for Items<'_> {
    type Item = ();
    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<()>> {
        self.poll(context).map(Some)
    }
}

fn waits(looks_again: bool) {
    let flag = Flag::default();
    thread::scope(|scope| {
        scope.spawn(|| {
            flag.set.store(true, SeqCst);
            flag.waker.wake();
        });
        let mut items = Items { flag: &flag, looks_again };
        assert_eq!(block_on(std::future::poll_fn(|context| Pin::new(&mut items).poll_next(context))), Some(()));
    });
}

pub fn planted() {
    waits(false);
}

pub fn correct() {
    waits(true);
}
