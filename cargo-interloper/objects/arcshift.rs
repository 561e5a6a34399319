//! A shared value that is replaced.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![arc_shift()]
}

fn arc_shift() -> Object {
    use arcshift::ArcShift;
    // What changes the value needs a handle of its own.
    Object::describe("arcshift::ArcShift", || ArcShift::new(0_i64))
        .method("update", |cell, (value,): (i64,)| cell.clone().update(value))
        .method("rcu_add", |cell, (value,): (i64,)| *cell.clone().rcu(|old| old + value))
        .method("shared_get", |cell, ()| *cell.shared_get())
        .method("get", |cell, ()| *cell.clone().get())
        .build()
}
