//! A pool of values.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![pool()]
}

fn pool() -> Object {
    use ::object_pool::Pool;
    Object::describe("object_pool::Pool", || Pool::from_vec(vec![1_i64]))
        .core("try_pull", |pool, ()| pool.try_pull().map(|one| one.detach().1))
        .core("attach", |pool, (value,): (i64,)| pool.attach(value))
        .method("len", |pool, ()| pool.len() as i64)
        .build()
}
