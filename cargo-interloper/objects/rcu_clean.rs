//! A pointer to a value that is copied and replaced.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![rcu()]
}

fn rcu() -> Object {
    use ::rcu_clean::graceful::{Grace, Rcu};
    Object::describe("rcu_clean::graceful::Rcu", || Rcu::new(0_i64))
        .method("set", |cell, (value,): (i64,)| cell.update(|old| *old = value))
        .method("add", |cell, (value,): (i64,)| cell.update(|old| *old += value))
        .method("read", |cell, ()| *cell.read(&Grace::new()))
        .build()
}
