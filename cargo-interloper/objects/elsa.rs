//! A map and vectors from which nothing is removed.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![map(), vec(), lock_free_vec()]
}

fn map() -> Object {
    use ::elsa::sync::FrozenMap;
    Object::describe("elsa::sync::FrozenMap", FrozenMap::<i64, Box<i64>>::new)
        .core("insert", |map, (key, value): (i64, i64)| *map.insert(key, Box::new(value)))
        .core("get", |map, (key,): (i64,)| map.get(&key).copied())
        .method("len", |map, ()| map.len() as i64)
        .method("keys_cloned", |map, ()| {
            let mut keys = map.keys_cloned();
            keys.sort_unstable();
            keys
        })
        .build()
}

fn vec() -> Object {
    use ::elsa::sync::FrozenVec;
    Object::describe("elsa::sync::FrozenVec", FrozenVec::<Box<i64>>::new)
        .core("push_get_index", |all, (value,): (i64,)| all.push_get_index(Box::new(value)) as i64)
        .core("get", |all, ()| all.get(0).copied())
        .method("len", |all, ()| all.len() as i64)
        .method("iter", |all, ()| all.iter().copied().collect::<Vec<i64>>())
        .build()
}

fn lock_free_vec() -> Object {
    use ::elsa::sync::LockFreeFrozenVec;
    Object::describe("elsa::sync::LockFreeFrozenVec", LockFreeFrozenVec::<i64>::new)
        .core("push", |all, (value,): (i64,)| all.push(value) as i64)
        .core("get", |all, ()| all.get(0))
        .method("len", |all, ()| all.len() as i64)
        .build()
}
