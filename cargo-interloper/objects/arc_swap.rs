//! A pointer to a value that is shared.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![arc_swap()]
}

fn arc_swap() -> Object {
    use ::arc_swap::ArcSwap;
    use std::sync::Arc;
    Object::describe("arc_swap::ArcSwap", || ArcSwap::from_pointee(0_i64))
        .core("store", |cell, (value,): (i64,)| cell.store(Arc::new(value)))
        .core("load", |cell, ()| **cell.load())
        .core("swap", |cell, (value,): (i64,)| *cell.swap(Arc::new(value)))
        .method("rcu_add", |cell, (value,): (i64,)| *cell.rcu(|old| Arc::new(**old + value)))
        .build()
}
