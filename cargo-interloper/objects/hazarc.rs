//! A pointer to a shared value, read with hazard pointers.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![hazarc()]
}

fn hazarc() -> Object {
    use std::sync::Arc;
    Object::describe("hazarc::AtomicArc", || ::hazarc::AtomicArc::<i64>::new(Arc::new(0)))
        .core("store", |cell, (value,): (i64,)| cell.store(Arc::new(value)))
        .core("swap", |cell, (value,): (i64,)| *cell.swap(Arc::new(value)))
        .method("load", |cell, ()| **cell.load())
        .method("load_owned", |cell, ()| *cell.load_owned())
        .build()
}
