//! A vector that only grows.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![append_only_vec()]
}

fn append_only_vec() -> Object {
    use ::append_only_vec::AppendOnlyVec;
    Object::describe("append_only_vec::AppendOnlyVec", AppendOnlyVec::<i64>::new)
        .core("push", |all, (value,): (i64,)| all.push(value) as i64)
        .method("len", |all, ()| all.len() as i64)
        .method("iter", |all, ()| all.iter().copied().collect::<Vec<i64>>())
        .build()
}
