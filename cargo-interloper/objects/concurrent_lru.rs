//! A cache in shards with a lock each.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![cache()]
}

fn cache() -> Object {
    use ::concurrent_lru::sharded::LruCache;
    Object::describe("concurrent_lru::sharded::LruCache", || LruCache::<i64, i64>::new(100))
        .core("get_or_init", |cache, (key, value): (i64, i64)| *cache.get_or_init(key, 1, |_| value).value())
        .core("get", |cache, (key,): (i64,)| cache.get(key).map(|found| *found.value()))
        .method("advice_evict", |cache, (key,): (i64,)| cache.advice_evict(key))
        .method("prune", |cache, ()| cache.prune())
        .method("total_charge", |cache, ()| cache.total_charge() as i64)
        .build()
}
