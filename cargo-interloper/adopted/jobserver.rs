//! Tokens that two threads hold while each asks for a second one.
//!
//! ```toml
//! jobserver = "0.1"
//! [package.metadata.interloper]
//! instrument = ["jobserver"]
//! ```

use std::thread;

use jobserver::Client;

fn two(limit: usize) {
    let client = Client::new(limit).unwrap();
    let works = || {
        let first = client.acquire().unwrap();
        let second = client.acquire().unwrap();
        drop((first, second));
    };
    thread::scope(|scope| {
        scope.spawn(works);
        works();
    });
}

pub fn planted() {
    two(2);
}

pub fn correct() {
    two(3);
}
