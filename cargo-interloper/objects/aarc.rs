//! A pointer to a value that is counted.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![atomic_arc()]
}

fn atomic_arc() -> Object {
    use ::aarc::{Arc, AtomicArc};
    Object::describe("aarc::AtomicArc", || AtomicArc::<i64>::new(0))
        .method("store", |cell, (value,): (i64,)| cell.store(Some(&Arc::new(value))))
        .method("swap", |cell, (value,): (i64,)| cell.swap(Some(&Arc::new(value))).map(|old| *old))
        .method("load", |cell, ()| cell.load().map(|value| *value))
        .build()
}
