//! A cell with a shared value.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![arc_cell()]
}

fn arc_cell() -> Object {
    use std::sync::Arc;
    Object::describe("arc_cell::ArcCell", || ::arc_cell::ArcCell::new(Arc::new(0_i64)))
        .method("set", |cell, (value,): (i64,)| *cell.set(Arc::new(value)))
        .method("get", |cell, ()| *cell.get())
        .build()
}
