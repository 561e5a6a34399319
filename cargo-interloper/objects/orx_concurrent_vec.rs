//! A vector that grows while it is read.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![vec()]
}

fn vec() -> Object {
    use ::orx_concurrent_vec::ConcurrentVec;
    Object::describe("orx_concurrent_vec::ConcurrentVec", ConcurrentVec::<i64>::new)
        .method("push", |all, (value,): (i64,)| all.push(value) as i64)
        .method("len", |all, ()| all.len() as i64)
        .method("get", |all, ()| all.get_cloned(0))
        .method("set", |all, (value,): (i64,)| all.get(0).map(|element| element.set(value)).is_some())
        .build()
}
