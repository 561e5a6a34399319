//! A lock order: a thread asks for symbols under its own lock, and another one takes that lock while it gets a symbol.
//!
//! ```toml
//! backtrace = "0.3"
//! [package.metadata.interloper]
//! instrument = ["backtrace"]
//! ```

use std::ffi::c_void;
use std::sync::Mutex;
use std::thread;

static NAMES: Mutex<u32> = Mutex::new(0);

fn resolve(then: impl Fn()) {
    backtrace::resolve(two as fn(bool) as *mut c_void, |_| then());
}

fn two(locks_first: bool) {
    let other = thread::spawn(move || {
        let names = locks_first.then(|| NAMES.lock().unwrap());
        resolve(|| ());
        drop(names);
        *NAMES.lock().unwrap() += 1;
    });
    resolve(|| *NAMES.lock().unwrap() += 1);
    other.join().unwrap();
}

pub fn planted() {
    two(true);
}

pub fn correct() {
    two(false);
}
