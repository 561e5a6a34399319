//! An order of frames that nobody promises: two threads send the parts of one body.
//!
//! ```toml
//! bytes = "1"
//! futures = { version = "0.3", features = ["thread-pool"] }
//! http-body = "1"
//! http-body-util = "0.1"
//! [package.metadata.interloper]
//! instrument = ["http-body-util", "futures", "bytes"]
//! ```

use std::convert::Infallible;
use std::thread;

use bytes::Bytes;
use futures::StreamExt;
use futures::channel::mpsc::unbounded;
use futures::executor::block_on;
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};

fn two(joins_first: bool) {
    let (send, receive) = unbounded();
    let sends = send.clone();
    let body = StreamBody::new(receive.map(|part| Ok::<_, Infallible>(Frame::data(Bytes::from_static(part)))));
    let reads = thread::spawn(move || block_on(BodyExt::collect(body)).unwrap().to_bytes());
    let mut other = Some(thread::spawn(move || sends.unbounded_send(b"first, ".as_slice()).unwrap()));
    if joins_first {
        other.take().unwrap().join().unwrap();
    }
    send.unbounded_send(b"second").unwrap();
    drop(send);
    other.map(|other| other.join().unwrap());
    assert_eq!(reads.join().unwrap(), "first, second");
}

pub fn planted() {
    two(false);
}

pub fn correct() {
    two(true);
}
