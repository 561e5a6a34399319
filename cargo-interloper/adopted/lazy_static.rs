//! Check-then-act: a registry in a static names the same number twice.
//!
//! ```toml
//! lazy_static = "1"
//! [package.metadata.interloper]
//! instrument = ["lazy_static"]
//! ```

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::thread;

use lazy_static::lazy_static;

lazy_static! {
    static ref NAMES: Mutex<BTreeMap<&'static str, usize>> = Mutex::new(BTreeMap::new());
}

fn two(number: fn(&'static str) -> usize) {
    let other = thread::spawn(move || number("one"));
    let own = number("other");
    assert_ne!(own, other.join().unwrap());
}

pub fn planted() {
    two(|name| {
        let next = NAMES.lock().unwrap().len();
        NAMES.lock().unwrap().insert(name, next);
        next
    });
}

pub fn correct() {
    two(|name| {
        let mut names = NAMES.lock().unwrap();
        let next = names.len();
        names.insert(name, next);
        next
    });
}
