//! A setting that comes late: a stream chooses its colours while another thread sets what all streams do.
//!
//! ```toml
//! anstream = "1"
//! [package.metadata.interloper]
//! instrument = ["anstream"]
//! ```

use std::io::Write;
use std::thread;

use anstream::{AutoStream, ColorChoice};

fn prints() {
    let mut stream = AutoStream::auto(Vec::new());
    write!(stream, "\x1b[1mbold\x1b[0m").unwrap();
    assert_eq!(stream.into_inner(), b"\x1b[1mbold\x1b[0m");
}

fn two(sets_first: bool) {
    let set = || ColorChoice::Always.write_global();
    if sets_first {
        set();
    }
    let other = thread::spawn(move || {
        set();
        prints();
    });
    prints();
    other.join().unwrap();
}

pub fn planted() {
    two(false);
}

pub fn correct() {
    two(true);
}
