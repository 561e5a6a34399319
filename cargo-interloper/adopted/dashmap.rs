//! Check-then-act: both threads see that a key is free, and the second insertion replaces the first.
//!
//! ```toml
//! [dependencies]
//! dashmap = "6"
//! [package.metadata.interloper]
//! instrument = ["dashmap"]
//! ```

use std::thread;

use dashmap::DashMap;

fn two(put: fn(&DashMap<u32, u32>, u32) -> bool) {
    let map = DashMap::with_shard_amount(2);
    let first = thread::scope(|scope| {
        let other = scope.spawn(|| put(&map, 1));
        [put(&map, 2), other.join().unwrap()]
    });
    assert_eq!(first.iter().filter(|put| **put).count(), 1, "one of the two was first");
}

pub fn planted() {
    two(|map, value| {
        let free = !map.contains_key(&7);
        if free {
            map.insert(7, value);
        }
        free
    });
}

pub fn correct() {
    two(|map, value| {
        let mut own = false;
        map.entry(7).or_insert_with(|| {
            own = true;
            value
        });
        own
    });
}
