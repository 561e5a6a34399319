//! A position that is shared: one half of a stream is believed to read where it was, and the other half has written.
//!
//! ```toml
//! futures01 = { package = "futures", version = "0.1" }
//! tokio-io = "0.1"
//! [package.metadata.interloper]
//! instrument = ["tokio-io"]
//! ```

use std::io::Cursor;
use std::thread;

use futures01::Future;
use tokio_io::AsyncRead;
use tokio_io::io::{read_exact, write_all};

fn two(expects_first: bool) {
    let (reads, writes) = Cursor::new(b"abcd".to_vec()).split();
    let other = thread::spawn(move || drop(write_all(writes, b"xy").wait().unwrap()));
    let (_reads, read) = read_exact(reads, [0; 2]).wait().unwrap();
    other.join().unwrap();
    assert!(&read == b"ab" || !expects_first && &read == b"cd", "{read:?}");
}

pub fn planted() {
    two(true);
}

pub fn correct() {
    two(false);
}
