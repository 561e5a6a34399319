//! A cache in shards with a lock each.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![cache()]
}

fn cache() -> Object {
    use ::matecito::Matecito;
    Object::describe("matecito::Matecito", || Matecito::<i64, i64>::new(1024))
        .method("put", |cache, (key, value): (i64, i64)| cache.put(key, value))
        .method("get", |cache, (key,): (i64,)| cache.get(key))
        .build()
}
