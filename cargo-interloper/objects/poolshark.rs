//! A pool of vectors.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![pool()]
}

fn pool() -> Object {
    use ::poolshark::global::{GPooled, Pool};
    // A vector that is new has no room yet.
    Object::describe("poolshark::global::Pool", || Pool::<Vec<i64>>::new(1, 8))
        .core("try_take", |pool, ()| pool.try_take().map(GPooled::detach).is_some())
        .core("insert", |pool, (value,): (i64,)| pool.insert(GPooled::orphan(vec![value])))
        .method("take", |pool, ()| pool.take().detach().capacity() > 0)
        .method("prune", |pool, ()| pool.prune())
        .build()
}
