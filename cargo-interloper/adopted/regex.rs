//! Check-then-act: two threads miss a pattern in a cache, and both compile it.
//!
//! ```toml
//! regex = "1"
//! [package.metadata.interloper]
//! instrument = ["regex"]
//! ```

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

use regex::Regex;

static COMPILED: AtomicU32 = AtomicU32::new(0);

fn compile() -> Regex {
    COMPILED.fetch_add(1, SeqCst);
    Regex::new("^a+[bc]$").unwrap()
}

fn two(get: fn(&Mutex<Option<Regex>>) -> Regex) {
    let cache = Mutex::new(None);
    let matches = || assert!(get(&cache).is_match("aab"));
    thread::scope(|scope| {
        scope.spawn(matches);
        matches();
    });
    assert_eq!(COMPILED.load(SeqCst), 1, "it is compiled once");
}

pub fn planted() {
    two(|cache| {
        let known = cache.lock().unwrap().clone();
        known.unwrap_or_else(|| cache.lock().unwrap().insert(compile()).clone())
    });
}

pub fn correct() {
    two(|cache| cache.lock().unwrap().get_or_insert_with(compile).clone());
}
