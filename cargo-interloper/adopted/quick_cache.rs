//! Check-then-act: two threads miss a key in a cache, and both compute it.
//!
//! ```toml
//! quick_cache = "0.6"
//! [package.metadata.interloper]
//! instrument = ["quick_cache"]
//! ```

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

use quick_cache::sync::Cache;

fn two(get: fn(&Cache<u32, u32>, &AtomicU32) -> u32) {
    let (cache, computed) = (Cache::new(10), AtomicU32::new(0));
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
        cache.get(&7).unwrap_or_else(|| {
            let value = compute(computed);
            cache.insert(7, value);
            value
        })
    });
}

pub fn correct() {
    two(|cache, computed| cache.get_or_insert_with(&7, || Ok::<u32, ()>(compute(computed))).unwrap());
}
