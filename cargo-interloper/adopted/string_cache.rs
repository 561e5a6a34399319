//! Check-then-act: two threads miss an interned name in a table, and both give it a number.
//!
//! ```toml
//! string_cache = "0.9"
//! [package.metadata.interloper]
//! instrument = ["string_cache"]
//! ```

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

use string_cache::DefaultAtom;

#[derive(Default)]
struct Numbers {
    known: Mutex<HashMap<DefaultAtom, u32>>,
    next: AtomicU32,
}

const NAME: &str = "a name that is too long to be in the atom";

fn two(number: fn(&Numbers, DefaultAtom) -> u32) {
    let numbers = Numbers::default();
    let (ours, theirs) = thread::scope(|scope| {
        let other = scope.spawn(|| number(&numbers, DefaultAtom::from(NAME)));
        (number(&numbers, DefaultAtom::from(NAME)), other.join().unwrap())
    });
    assert_eq!(ours, theirs);
}

pub fn planted() {
    two(|numbers, name| {
        let known = numbers.known.lock().unwrap().get(&name).copied();
        known.unwrap_or_else(|| {
            let number = numbers.next.fetch_add(1, SeqCst);
            numbers.known.lock().unwrap().insert(name, number);
            number
        })
    });
}

pub fn correct() {
    two(|numbers, name| {
        let mut known = numbers.known.lock().unwrap();
        *known.entry(name).or_insert_with(|| numbers.next.fetch_add(1, SeqCst))
    });
}
