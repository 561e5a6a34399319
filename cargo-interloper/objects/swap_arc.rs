//! A pointer to a shared value.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![swap_arc()]
}

fn swap_arc() -> Object {
    use std::sync::Arc;
    Object::describe("swap_arc::SwapArc", || ::swap_arc::SwapArc::<i64>::new(Arc::new(0)))
        .method("store", |cell, (value,): (i64,)| cell.store(Arc::new(value)))
        .method("load", |cell, ()| **cell.load())
        .method("load_full", |cell, ()| *cell.load_full())
        .build()
}
