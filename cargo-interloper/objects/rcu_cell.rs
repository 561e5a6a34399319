//! A pointer to a shared value.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![rcu_cell()]
}

fn rcu_cell() -> Object {
    use ::rcu_cell::RcuCell;
    Object::describe("rcu_cell::RcuCell", || RcuCell::some(0_i64))
        .method("write", |cell, (value,): (i64,)| cell.write(value).map(|old| *old))
        .method("read", |cell, ()| cell.read().map(|value| *value))
        .method("take", |cell, ()| cell.take().map(|old| *old))
        .method("update", |cell, (value,): (i64,)| {
            cell.update(|old| Some(old.map_or(value, |old| *old + value))).map(|old| *old)
        })
        .method("is_none", |cell, ()| cell.is_none())
        .build()
}
