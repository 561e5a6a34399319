//! A vector that grows and never moves.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![boxcar()]
}

fn boxcar() -> Object {
    Object::describe("boxcar::Vec", boxcar::Vec::<i64>::new)
        .core("push", |all, (value,): (i64,)| all.push(value) as i64)
        .core("get", |all, ()| all.get(0).copied())
        .method("count", |all, ()| all.count() as i64)
        .method("iter", |all, ()| all.iter().map(|(_, value)| *value).collect::<Vec<i64>>())
        .build()
}
