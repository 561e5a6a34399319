//! A lock that is held too long: a thread that has locked the output waits for one that prints.
//!
//! ```toml
//! anstream = "1"
//! [package.metadata.interloper]
//! instrument = ["anstream"]
//! ```

use std::io::Write;
use std::thread;

fn two(gives_back: bool) {
    let other = thread::spawn(|| write!(anstream::stdout().lock(), "").unwrap());
    let mut out = anstream::stdout().lock();
    write!(out, "").unwrap();
    if gives_back {
        drop(out);
        other.join().unwrap();
    } else {
        other.join().unwrap();
        drop(out);
    }
}

pub fn planted() {
    two(false);
}

pub fn correct() {
    two(true);
}
