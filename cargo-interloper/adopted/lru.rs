//! Check-then-act: a cache in a lock is asked and filled under two locks.
//!
//! ```toml
//! lru = "0.18"
//! ```

use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

use lru::LruCache;

fn two(get: fn(&Mutex<LruCache<u32, u32>>, &AtomicU32) -> u32) {
    let (cache, computed) = (Mutex::new(LruCache::new(NonZeroUsize::MIN)), AtomicU32::new(0));
    thread::scope(|scope| {
        scope.spawn(|| assert_eq!(get(&cache, &computed), 70));
        assert_eq!(get(&cache, &computed), 70);
    });
    assert_eq!(computed.into_inner(), 1, "it is computed once");
}

fn compute(computed: &AtomicU32) -> u32 {
    computed.fetch_add(1, SeqCst);
    70
}

pub fn planted() {
    two(|cache, computed| {
        let known = cache.lock().unwrap().get(&7).copied();
        known.unwrap_or_else(|| {
            let value = compute(computed);
            cache.lock().unwrap().put(7, value);
            value
        })
    });
}

pub fn correct() {
    two(|cache, computed| *cache.lock().unwrap().get_or_insert(7, || compute(computed)));
}
