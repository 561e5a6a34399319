//! A map in shards with a lock each.

use std::collections::BTreeMap;

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![dashmap()]
}

/// The map, with four shards: with two, a walk that locks the next shard before it unlocks the last one is atomic.
pub fn dashmap() -> Object {
    use dashmap::DashMap;
    Object::describe("dashmap::DashMap", || DashMap::<i64, i64>::with_shard_amount(4))
        .core("insert", |map, (key, value): (i64, i64)| map.insert(key, value))
        .core("get", |map, (key,): (i64,)| map.get(&key).map(|found| *found))
        .reads()
        .core("remove", |map, (key,): (i64,)| map.remove(&key).map(|(_, value)| value))
        .method("contains_key", |map, (key,): (i64,)| map.contains_key(&key))
        .reads()
        .method("entry_or_insert", |map, (key, value): (i64, i64)| *map.entry(key).or_insert(value))
        .method("len", |map, ()| map.len() as i64)
        .reads()
        .method("is_empty", |map, ()| map.is_empty())
        .reads()
        .method("clear", |map, ()| map.clear())
        .method("retain", |map, (value,): (i64,)| map.retain(|_, other| *other == value))
        .method("iter", |map, ()| map.iter().map(|entry| (*entry.key(), *entry.value())).collect::<BTreeMap<_, _>>())
        .reads()
        .build()
}
