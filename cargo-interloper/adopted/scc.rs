//! A lost update: a value is read, and written back later.
//!
//! ```toml
//! scc = "3"
//! [package.metadata.interloper]
//! instrument = ["scc"]
//! ```

use std::thread;

use scc::HashMap;

fn two(add: fn(&HashMap<u32, u32>)) {
    let map = HashMap::new();
    map.insert_sync(7, 0).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| add(&map));
        add(&map);
    });
    assert_eq!(map.read_sync(&7, |_, value| *value), Some(2));
}

pub fn planted() {
    two(|map| {
        let read = map.read_sync(&7, |_, value| *value).unwrap();
        map.upsert_sync(7, read + 1);
    });
}

pub fn correct() {
    two(|map| _ = map.update_sync(&7, |_, value| *value += 1));
}
