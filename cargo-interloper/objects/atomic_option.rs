//! A box that may be empty.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![atomic_option()]
}

fn atomic_option() -> Object {
    use std::sync::atomic::Ordering::AcqRel;
    Object::describe("atomic_option::AtomicOption", || ::atomic_option::AtomicOption::new(Box::new(0_i64)))
        .method("swap", |cell, (value,): (i64,)| cell.swap(Box::new(value), AcqRel).map(|old| *old))
        .method("take", |cell, ()| cell.take(AcqRel).map(|old| *old))
        .method("try_store", |cell, (value,): (i64,)| cell.try_store(Box::new(value), AcqRel).is_none())
        .build()
}
