//! An order of parts that nobody promises: two threads send the parts of one text.
//!
//! ```toml
//! tendril = "0.5"
//! [package.metadata.interloper]
//! instrument = ["tendril"]
//! ```

use std::sync::mpsc::channel;
use std::thread;

use tendril::fmt::UTF8;
use tendril::{Atomic, Tendril};

type Text = Tendril<UTF8, Atomic>;

const TEXT: &str = "the first part of a text, and the second part of the text";

fn two(sorts: bool) {
    let text = Text::from_slice(TEXT);
    let (first, second) = (text.subtendril(0, 24), text.subtendril(24, TEXT.len() as u32 - 24));
    drop(text);
    let (send, receive) = channel();
    let sends = send.clone();
    let other = thread::spawn(move || sends.send((0, first)).unwrap());
    send.send((1, second)).unwrap();
    let mut parts = [receive.recv().unwrap(), receive.recv().unwrap()];
    if sorts {
        parts.sort_by_key(|(place, _)| *place);
    }
    let mut whole = Text::new();
    parts.iter().for_each(|(_, part)| whole.push_tendril(part));
    other.join().unwrap();
    assert_eq!(&*whole, TEXT);
}

pub fn planted() {
    two(false);
}

pub fn correct() {
    two(true);
}
