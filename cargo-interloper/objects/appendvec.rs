//! A vector that grows and never moves.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![append_vec()]
}

fn append_vec() -> Object {
    use appendvec::AppendVec;
    Object::describe("appendvec::AppendVec", || AppendVec::<i64>::new())
        .core("push", |all, (value,): (i64,)| all.push(value) as i64)
        .core("try_index", |all, ()| all.try_index(0).copied())
        .method("len", |all, ()| all.len() as i64)
        .method("iter", |all, ()| all.iter().copied().collect::<Vec<i64>>())
        .build()
}
