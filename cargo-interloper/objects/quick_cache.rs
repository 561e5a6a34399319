//! A cache with a bound.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![quick_cache()]
}

fn quick_cache() -> Object {
    use quick_cache::sync::Cache;
    Object::describe("quick_cache::sync::Cache", || Cache::<i64, i64>::new(100))
        .core("insert", |cache, (key, value): (i64, i64)| cache.insert(key, value))
        .core("get", |cache, (key,): (i64,)| cache.get(&key))
        .core("remove", |cache, (key,): (i64,)| cache.remove(&key).map(|(_, value)| value))
        .method("contains_key", |cache, (key,): (i64,)| cache.contains_key(&key))
        .reads()
        .method("get_or_insert_with", |cache, (key, value): (i64, i64)| {
            cache.get_or_insert_with(&key, || Ok::<i64, ()>(value)).ok()
        })
        .method("replace", |cache, (key, value): (i64, i64)| cache.replace(key, value, false).is_ok())
        .method("remove_if", |cache, (key, value): (i64, i64)| {
            cache.remove_if(&key, |old| *old == value).map(|(_, value)| value)
        })
        .method("len", |cache, ()| cache.len() as i64)
        .reads()
        .method("clear", |cache, ()| cache.clear())
        .build()
}
