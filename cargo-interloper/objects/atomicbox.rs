//! A box that may be empty.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![atomicbox()]
}

fn atomicbox() -> Object {
    use std::sync::atomic::Ordering::AcqRel;
    Object::describe("atomicbox::AtomicOptionBox", || ::atomicbox::AtomicOptionBox::new(Some(Box::new(0_i64))))
        .method("swap", |cell, (value,): (i64,)| cell.swap(Some(Box::new(value)), AcqRel).map(|old| *old))
        .method("take", |cell, ()| cell.take(AcqRel).map(|old| *old))
        .build()
}
