//! Parts that mix: two encoders write into one output, each in several parts.
//!
//! ```toml
//! futures = "0.3"
//! weezl = { version = "0.1", features = ["async"] }
//! [package.metadata.interloper]
//! instrument = ["weezl", "futures"]
//! ```

use std::io::Result;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::thread;

use futures::executor::block_on;
use futures::io::AsyncWrite;
use weezl::BitOrder;
use weezl::decode::Decoder;
use weezl::encode::Encoder;

#[derive(Clone, Default)]
struct Output(Arc<Mutex<Vec<u8>>>);

impl AsyncWrite for Output {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, part: &[u8]) -> Poll<Result<usize>> {
        self.0.lock().unwrap().extend_from_slice(part);
        Poll::Ready(Ok(part.len()))
    }
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<()>> {
        Poll::Ready(Ok(()))
    }
    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<()>> {
        Poll::Ready(Ok(()))
    }
}

const TEXT: &[u8] = b"the text that is encoded by both";

fn encode(into: Output) {
    let mut encoder = Encoder::new(BitOrder::Msb, 8);
    let mut writes = encoder.into_async(into);
    writes.set_buffer_size(16);
    block_on(writes.encode_all(TEXT)).status.unwrap();
}

fn two(alone: bool) {
    let output = Output::default();
    let work = move |output: Output| match alone {
        true => {
            let own = Output::default();
            encode(own.clone());
            output.0.lock().unwrap().append(&mut own.0.lock().unwrap());
        }
        false => encode(output),
    };
    let theirs = output.clone();
    let other = thread::spawn(move || work(theirs));
    work(output.clone());
    other.join().unwrap();
    let encoded = output.0.lock().unwrap();
    for half in encoded.chunks(encoded.len() / 2) {
        assert_eq!(Decoder::new(BitOrder::Msb, 8).decode(half).as_deref().ok(), Some(TEXT));
    }
}

pub fn planted() {
    two(false);
}

pub fn correct() {
    two(true);
}
