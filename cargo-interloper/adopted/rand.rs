//! A draw that happens to be different: two threads draw names that have to be unique.
//!
//! ```toml
//! rand = "0.10"
//! [package.metadata.interloper]
//! instrument = ["rand"]
//! ```

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::thread;

fn two(name: fn(&Mutex<BTreeSet<u8>>) -> bool) {
    let names = Mutex::new(BTreeSet::new());
    let fresh = thread::scope(|scope| {
        let other = scope.spawn(|| name(&names));
        [name(&names), other.join().unwrap()]
    });
    assert_eq!(fresh, [true, true]);
}

fn drawn() -> u8 {
    rand::random::<u8>() % 4
}

pub fn planted() {
    two(|names| {
        let mut name = drawn();
        while names.lock().unwrap().contains(&name) {
            name = drawn();
        }
        thread::yield_now();
        // The set is asked again too late, and only says that another one was faster.
        let next = names.lock().unwrap().len() as u8;
        names.lock().unwrap().insert(next)
    });
}

pub fn correct() {
    two(|names| {
        while !names.lock().unwrap().insert(drawn()) {}
        true
    });
}
