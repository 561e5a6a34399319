//! A ticket that is used twice: two connections read a session from the cache before either takes it out.
//!
//! ```toml
//! rustls = { version = "0.23", default-features = false, features = ["std"] }
//! [package.metadata.interloper]
//! instrument = ["rustls"]
//! ```

use std::thread;

use rustls::server::{ServerSessionMemoryCache, StoresServerSessions};

fn two(resume: fn(&dyn StoresServerSessions) -> bool) {
    let cache = ServerSessionMemoryCache::new(4);
    cache.put(b"ticket".to_vec(), b"session".to_vec());
    let resumed = thread::scope(|scope| {
        let other = scope.spawn(|| resume(&*cache));
        [resume(&*cache), other.join().unwrap()]
    });
    assert!(resumed[0] ^ resumed[1], "a ticket is good for one connection");
}

pub fn planted() {
    two(|cache| {
        let known = cache.get(b"ticket").is_some();
        if known {
            cache.take(b"ticket");
        }
        known
    });
}

pub fn correct() {
    two(|cache| cache.take(b"ticket").is_some());
}
