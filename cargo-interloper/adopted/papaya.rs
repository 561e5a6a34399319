//! A lost update: a value is read, and written back later.
//!
//! It was run without its default features. With them the copy of seize has fences in the place of a barrier in the kernel.
//!
//! ```toml
//! papaya = { version = "0.2", default-features = false }
//! [package.metadata.interloper]
//! instrument = ["papaya"]
//! ```

use std::thread;

use papaya::HashMap;

fn two(add: fn(&HashMap<u32, u32>)) {
    let map = HashMap::new();
    map.pin().insert(7, 0);
    thread::scope(|scope| {
        scope.spawn(|| add(&map));
        add(&map);
    });
    assert_eq!(map.pin().get(&7), Some(&2));
}

pub fn planted() {
    two(|map| {
        let map = map.pin();
        let read = *map.get(&7).unwrap();
        map.insert(7, read + 1);
    });
}

pub fn correct() {
    two(|map| _ = map.pin().update(7, |value| value + 1));
}
