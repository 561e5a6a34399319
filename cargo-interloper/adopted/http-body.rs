//! A lost wake-up: a body looks whether its frame is there, and registers its waker afterwards.
//!
//! ```toml
//! bytes = "1"
//! futures = { version = "0.3", features = ["thread-pool"] }
//! http-body = "1"
//! [package.metadata.interloper]
//! instrument = ["http-body", "futures", "bytes"]
//! ```

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::task::{Context, Poll};
use std::thread;

use bytes::Bytes;
use futures::executor::block_on;
use futures::task::AtomicWaker;
use http_body::{Body, Frame};

#[derive(Default)]
struct Flag {
    set: AtomicBool,
    waker: AtomicWaker,
}

struct Parts<'f> {
    flag: &'f Flag,
    looks_again: bool,
}

impl Parts<'_> {
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

impl Body for Parts<'_> {
    type Data = Bytes;
    type Error = std::io::Error;
    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
        self.poll(context).map(|()| Some(Ok(Frame::data(Bytes::from_static(b"part")))))
    }
}

fn waits(looks_again: bool) {
    let flag = Flag::default();
    thread::scope(|scope| {
        scope.spawn(|| {
            flag.set.store(true, SeqCst);
            flag.waker.wake();
        });
        let mut parts = Parts { flag: &flag, looks_again };
        let frame = block_on(std::future::poll_fn(|context| Pin::new(&mut parts).poll_frame(context)));
        assert_eq!(frame.unwrap().unwrap().into_data().unwrap(), "part");
    });
}

pub fn planted() {
    waits(false);
}

pub fn correct() {
    waits(true);
}
