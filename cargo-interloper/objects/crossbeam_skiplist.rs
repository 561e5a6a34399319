//! A map and a set in lists with shortcuts.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound::{Excluded, Included};

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![map(), set()]
}

/// `insert` and `remove` are under test: the first replaces an entry in two steps, as its documentation says, and the second
/// returns an entry to every call that found it. `Entry::remove` says which call has removed the entry.
fn map() -> Object {
    use crossbeam_skiplist::SkipMap;
    Object::describe("crossbeam_skiplist::SkipMap", SkipMap::<i64, i64>::new)
        .core("get_or_insert", |map, (key, value): (i64, i64)| *map.get_or_insert(key, value).value())
        .core("remove_entry", |map, (key,): (i64,)| {
            map.get(&key).filter(|entry| entry.remove()).map(|entry| *entry.value())
        })
        .core("get", |map, (key,): (i64,)| map.get(&key).map(|entry| *entry.value()))
        .reads()
        .method("insert", |map, (key, value): (i64, i64)| *map.insert(key, value).value())
        .method("remove", |map, (key,): (i64,)| map.remove(&key).map(|entry| *entry.value()))
        .method("contains_key", |map, (key,): (i64,)| map.contains_key(&key))
        .reads()
        .method("len", |map, ()| map.len() as i64)
        .reads()
        .method("is_empty", |map, ()| map.is_empty())
        .reads()
        .method("clear", |map, ()| map.clear())
        .method("iter", |map, ()| map.iter().map(|entry| (*entry.key(), *entry.value())).collect::<BTreeMap<_, _>>())
        .reads()
        .method("range", |map, (from,): (i64,)| {
            map.range(from..).map(|entry| (*entry.key(), *entry.value())).collect::<BTreeMap<_, _>>()
        })
        .reads()
        .method("front", |map, ()| map.front().map(|entry| *entry.key()))
        .reads()
        .method("back", |map, ()| map.back().map(|entry| *entry.key()))
        .reads()
        .method("lower_bound", |map, (from,): (i64,)| map.lower_bound(Excluded(&from)).map(|entry| *entry.key()))
        .reads()
        .method("upper_bound", |map, (to,): (i64,)| map.upper_bound(Included(&to)).map(|entry| *entry.key()))
        .reads()
        .method("pop_front", |map, ()| map.pop_front().map(|entry| *entry.key()))
        .method("pop_back", |map, ()| map.pop_back().map(|entry| *entry.key()))
        .build()
}

/// As the map.
fn set() -> Object {
    use crossbeam_skiplist::SkipSet;
    Object::describe("crossbeam_skiplist::SkipSet", SkipSet::<i64>::new)
        .core("get_or_insert", |set, (item,): (i64,)| *set.get_or_insert(item).value())
        .core("remove_entry", |set, (item,): (i64,)| set.get(&item).is_some_and(|entry| entry.remove()))
        .core("contains", |set, (item,): (i64,)| set.contains(&item))
        .reads()
        .method("insert", |set, (item,): (i64,)| *set.insert(item).value())
        .method("remove", |set, (item,): (i64,)| set.remove(&item).is_some())
        .method("len", |set, ()| set.len() as i64)
        .reads()
        .method("is_empty", |set, ()| set.is_empty())
        .reads()
        .method("iter", |set, ()| set.iter().map(|entry| *entry).collect::<BTreeSet<_>>())
        .reads()
        .method("front", |set, ()| set.front().map(|entry| *entry))
        .reads()
        .method("back", |set, ()| set.back().map(|entry| *entry))
        .reads()
        .method("pop_front", |set, ()| set.pop_front().map(|entry| *entry))
        .method("pop_back", |set, ()| set.pop_back().map(|entry| *entry))
        .build()
}
