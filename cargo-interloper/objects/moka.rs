//! A cache with a bound.

use std::collections::BTreeMap;

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![moka()]
}

fn moka() -> Object {
    use ::moka::sync::Cache;
    Object::describe("moka::sync::Cache", || Cache::<i64, i64>::new(100))
        .core("insert", |cache, (key, value): (i64, i64)| cache.insert(key, value))
        .core("get", |cache, (key,): (i64,)| cache.get(&key))
        .reads()
        .core("remove", |cache, (key,): (i64,)| cache.remove(&key))
        .method("contains_key", |cache, (key,): (i64,)| cache.contains_key(&key))
        .reads()
        .method("get_with", |cache, (key, value): (i64, i64)| cache.get_with(key, || value))
        .method("iter", |cache, ()| cache.iter().map(|(key, value)| (*key, value)).collect::<BTreeMap<_, _>>())
        .reads()
        .build()
}
