//! Check-then-act: both threads see that a key is free, and both believe to have put it there.
//!
//! ```toml
//! crossbeam-skiplist = "0.1"
//! [package.metadata.interloper]
//! instrument = ["crossbeam-skiplist"]
//! ```

use std::thread;

use crossbeam_skiplist::SkipMap;

fn two(put: fn(&SkipMap<u32, u32>, u32) -> bool) {
    let map = SkipMap::new();
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
    two(|map, value| *map.get_or_insert(7, value).value() == value);
}
