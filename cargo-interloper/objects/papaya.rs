//! A map without locks.

use std::collections::BTreeMap;

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![papaya()]
}

fn papaya() -> Object {
    use ::papaya::HashMap;
    Object::describe("papaya::HashMap", HashMap::<i64, i64>::new)
        .core("insert", |map, (key, value): (i64, i64)| map.pin().insert(key, value).copied())
        .core("get", |map, (key,): (i64,)| map.pin().get(&key).copied())
        .reads()
        .core("remove", |map, (key,): (i64,)| map.pin().remove(&key).copied())
        .method("contains_key", |map, (key,): (i64,)| map.pin().contains_key(&key))
        .reads()
        .method("get_or_insert", |map, (key, value): (i64, i64)| *map.pin().get_or_insert(key, value))
        .method("len", |map, ()| map.len() as i64)
        .reads()
        .method("is_empty", |map, ()| map.is_empty())
        .reads()
        .method("clear", |map, ()| map.pin().clear())
        .method("iter", |map, ()| map.pin().iter().map(|(key, value)| (*key, *value)).collect::<BTreeMap<_, _>>())
        .reads()
        .build()
}
