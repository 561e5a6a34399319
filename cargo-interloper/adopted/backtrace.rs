//! A lock order: a thread walks through its stack under its own lock, and another one takes that lock for each frame.
//!
//! ```toml
//! backtrace = "0.3"
//! [package.metadata.interloper]
//! instrument = ["backtrace"]
//! ```

use std::sync::Mutex;
use std::thread;

static FRAMES: Mutex<u32> = Mutex::new(0);

fn walk(each: impl Fn()) {
    backtrace::trace(|_| {
        each();
        false
    });
}

fn two(locks_first: bool) {
    let other = thread::spawn(move || {
        let frames = locks_first.then(|| FRAMES.lock().unwrap());
        walk(|| ());
        drop(frames);
        *FRAMES.lock().unwrap() += 1;
    });
    walk(|| *FRAMES.lock().unwrap() += 1);
    other.join().unwrap();
}

pub fn planted() {
    two(true);
}

pub fn correct() {
    two(false);
}
