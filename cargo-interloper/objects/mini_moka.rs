//! A cache with a bound.

use std::collections::BTreeMap;

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![cache()]
}

fn cache() -> Object {
    use ::mini_moka::sync::Cache;
    Object::describe("mini_moka::sync::Cache", || Cache::<i64, i64>::new(100))
        .core("insert", |cache, (key, value): (i64, i64)| cache.insert(key, value))
        .core("get", |cache, (key,): (i64,)| cache.get(&key))
        .core("invalidate", |cache, (key,): (i64,)| cache.invalidate(&key))
        .method("contains_key", |cache, (key,): (i64,)| cache.contains_key(&key))
        .method("iter", |cache, ()| cache.iter().map(|one| (*one.key(), *one.value())).collect::<BTreeMap<_, _>>())
        .build()
}
