//! A map in a list with shortcuts.

use std::collections::BTreeMap;

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![skiplist()]
}

fn skiplist() -> Object {
    use crossbeam_skiplist::SkipMap;
    Object::describe("crossbeam_skiplist::SkipMap", SkipMap::<i64, i64>::new)
        .core("insert", |map, (key, value): (i64, i64)| *map.insert(key, value).value())
        .core("get", |map, (key,): (i64,)| map.get(&key).map(|entry| *entry.value()))
        .core("remove", |map, (key,): (i64,)| map.remove(&key).map(|entry| *entry.value()))
        .method("get_or_insert", |map, (key, value): (i64, i64)| *map.get_or_insert(key, value).value())
        .method("len", |map, ()| map.len() as i64)
        .method("pop_front", |map, ()| map.pop_front().map(|entry| *entry.key()))
        .method("iter", |map, ()| map.iter().map(|entry| (*entry.key(), *entry.value())).collect::<BTreeMap<_, _>>())
        .build()
}
