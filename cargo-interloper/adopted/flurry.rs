//! Check-then-act: both threads see that a key is free, and both believe to have put it there.
//!
//! ```toml
//! flurry = "0.5"
//! [package.metadata.interloper]
//! instrument = ["flurry"]
//! ```

use std::thread;

use flurry::HashMap;

fn two(put: fn(&HashMap<u32, u32>, u32) -> bool) {
    let map = HashMap::new();
    let first = thread::scope(|scope| {
        let other = scope.spawn(|| put(&map, 1));
        [put(&map, 2), other.join().unwrap()]
    });
    assert_eq!(first.iter().filter(|put| **put).count(), 1, "one of the two was first");
}

pub fn planted() {
    two(|map, value| {
        let map = map.pin();
        let free = !map.contains_key(&7);
        if free {
            map.insert(7, value);
        }
        free
    });
}

pub fn correct() {
    two(|map, value| map.pin().try_insert(7, value).is_ok());
}
