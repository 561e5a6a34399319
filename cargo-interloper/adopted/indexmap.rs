//! A place that moves: an index into a map is used after the lock was given back.
//!
//! ```toml
//! indexmap = "2"
//! ```

use std::sync::RwLock;
use std::thread;

use indexmap::IndexMap;

fn two(read: fn(&RwLock<IndexMap<u32, u32>>) -> u32) {
    let map = RwLock::new(IndexMap::from([(1, 10), (2, 20)]));
    thread::scope(|scope| {
        scope.spawn(|| map.write().unwrap().shift_remove(&1));
        assert_eq!(read(&map), 20);
    });
}

pub fn planted() {
    two(|map| {
        let place = map.read().unwrap().get_index_of(&2).unwrap();
        map.read().unwrap().get_index(place).map_or(0, |(_, value)| *value)
    });
}

pub fn correct() {
    two(|map| {
        let map = map.read().unwrap();
        let place = map.get_index_of(&2).unwrap();
        map.get_index(place).map_or(0, |(_, value)| *value)
    });
}
