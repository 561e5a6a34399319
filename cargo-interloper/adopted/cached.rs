//! Check-then-act: a cache in a lock is asked and filled under two locks.
//!
//! ```toml
//! cached = { version = "2", default-features = false }
//! [package.metadata.interloper]
//! instrument = ["cached"]
//! ```

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

use cached::{Cached, LruCache};

fn computes_once(at_once: bool) {
    let cache = Mutex::new(LruCache::builder().max_size(2).build().unwrap());
    let computed = AtomicU32::new(0);
    let compute = || computed.fetch_add(1, SeqCst);
    let get = || {
        if at_once {
            let mut cache = cache.lock().unwrap();
            if cache.cache_get(&1).is_none() {
                cache.cache_set(1, compute());
            }
        } else {
            let is_missing = cache.lock().unwrap().cache_get(&1).is_none();
            if is_missing {
                cache.lock().unwrap().cache_set(1, compute());
            }
        }
    };
    thread::scope(|scope| {
        scope.spawn(get);
        get();
    });
    assert_eq!(computed.into_inner(), 1);
}

pub fn planted() {
    computes_once(false);
}

pub fn correct() {
    computes_once(true);
}
