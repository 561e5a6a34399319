//! A lost wake-up: a reader looks whether there is something to read, and registers its waker afterwards.
//!
//! ```toml
//! futures = { version = "0.3", features = ["thread-pool"] }
//! futures-io = "0.3"
//! [package.metadata.interloper]
//! instrument = ["futures-io", "futures"]
//! ```

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::task::{Context, Poll};
use std::thread;

use futures::executor::block_on;
use futures::task::AtomicWaker;
use futures_io::AsyncRead;

#[derive(Default)]
struct Flag {
    set: AtomicBool,
    waker: AtomicWaker,
}

struct Reader<'f> {
    flag: &'f Flag,
    looks_again: bool,
}

impl Reader<'_> {
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

impl AsyncRead for Reader<'_> {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &mut [u8]) -> Poll<std::io::Result<usize>> {
        self.poll(context).map(|()| {
            bytes[0] = 7;
            Ok(1)
        })
    }
}

fn waits(looks_again: bool) {
    let flag = Flag::default();
    thread::scope(|scope| {
        scope.spawn(|| {
            flag.set.store(true, SeqCst);
            flag.waker.wake();
        });
        let (mut reader, mut bytes) = (Reader { flag: &flag, looks_again }, [0]);
        let read = std::future::poll_fn(|context| Pin::new(&mut reader).poll_read(context, &mut bytes));
        assert_eq!(block_on(read).unwrap(), 1);
        assert_eq!(bytes, [7]);
    });
}

pub fn planted() {
    waits(false);
}

pub fn correct() {
    waits(true);
}
