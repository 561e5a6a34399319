//! Maps of crates that the study alone needs.

use interloper::objects::{Description, Object};
use scc::Guard;

use super::{Map, with_core};

/// The methods of every map.
fn map<M: Map>(name: &str) -> Description<M> {
    with_core(Object::describe(name, M::default))
}

#[derive(Default)]
struct Papaya(papaya::HashMap<i64, i64>);

map! {
    Papaya, before: Option<i64>;
    put: |map, key, value| map.0.pin().insert(key, value).copied();
    take: |map, key| map.0.pin().remove(&key).copied();
    look: |map, key| map.0.pin().get(&key).copied();
    has: |map, key| map.0.pin().contains_key(&key);
    count: |map| map.0.len();
    none: |map| map.0.is_empty();
    wipe: |map| map.0.pin().clear();
    walk: |map, meet| map.0.pin().iter().for_each(|(key, value)| meet(*key, *value));
}

pub fn papaya() -> Object {
    map::<Papaya>("papaya")
        .method("putIfAbsent", |map, (key, value): (i64, i64)| *map.0.pin().get_or_insert(key, value))
        .build()
}

map! {
    scc::HashMap<i64, i64>, before: Option<i64>;
    put: |map, key, value| map.upsert_sync(key, value);
    take: |map, key| map.remove_sync(&key).map(|entry| entry.1);
    look: |map, key| map.read_sync(&key, |_, value| *value);
    has: |map, key| map.contains_sync(&key);
    count: |map| map.len();
    none: |map| map.is_empty();
    wipe: |map| map.clear_sync();
    walk: |map, meet| map.iter_sync(|key, value| {
        meet(*key, *value);
        true
    });
}

pub fn scc_hash_map() -> Object {
    map::<scc::HashMap<i64, i64>>("scc-hash-map")
        .method("putIfAbsent", |map, (key, value): (i64, i64)| map.insert_sync(key, value).is_ok())
        .build()
}

map! {
    // An index keeps what is there: the result says whether the call put or removed something.
    scc::HashIndex<i64, i64>, before: bool;
    put: |map, key, value| map.insert_sync(key, value).is_ok();
    take: |map, key| map.remove_sync(&key);
    look: |map, key| map.peek_with(&key, |_, value| *value);
    has: |map, key| map.contains(&key);
    count: |map| map.len();
    none: |map| map.is_empty();
    wipe: |map| map.clear_sync();
    walk: |map, meet| map.iter(&Guard::new()).for_each(|(key, value)| meet(*key, *value));
}

pub fn scc_hash_index() -> Object {
    map::<scc::HashIndex<i64, i64>>("scc-hash-index").build()
}

map! {
    scc::TreeIndex<i64, i64>, before: bool;
    put: |map, key, value| map.insert_sync(key, value).is_ok();
    take: |map, key| map.remove_sync(&key);
    look: |map, key| map.peek_with(&key, |_, value| *value);
    has: |map, key| map.contains(&key);
    count: |map| map.len();
    none: |map| map.is_empty();
    wipe: |map| map.clear();
    walk: |map, meet| map.iter(&Guard::new()).for_each(|(key, value)| meet(*key, *value));
}

pub fn scc_tree_index() -> Object {
    map::<scc::TreeIndex<i64, i64>>("scc-tree-index")
        .method("removeRange", |map, (start, end): (i64, i64)| map.remove_range_sync(start..=end))
        .build()
}

struct Moka(moka::sync::Cache<i64, i64>);

impl Default for Moka {
    /// Room for more than any harness puts in, so that nothing is evicted.
    fn default() -> Moka {
        Moka(moka::sync::Cache::new(1_000))
    }
}

map! {
    Moka, before: Option<i64>;
    // `insert` does not return the entry before.
    put: |map, key, value| {
        map.0.insert(key, value);
        None
    };
    take: |map, key| map.0.remove(&key);
    look: |map, key| map.0.get(&key);
    has: |map, key| map.0.contains_key(&key);
    count: |map| map.0.iter().count();
    none: |map| map.0.iter().next().is_none();
    // `invalidate_all` depends on the clock; this goes from entry to entry.
    wipe: |map| map.0.iter().for_each(|(key, _)| map.0.invalidate(&*key));
    walk: |map, meet| map.0.iter().for_each(|(key, value)| meet(*key, value));
}

pub fn moka() -> Object {
    map::<Moka>("moka").method("putIfAbsent", |map, (key, value): (i64, i64)| map.0.get_with(key, || value)).build()
}
