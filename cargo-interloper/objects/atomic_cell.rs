//! A cell over an atomic.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![atomic_cell()]
}

fn atomic_cell() -> Object {
    use ::atomic_cell::AtomicCell;
    use std::sync::atomic::AtomicI64;
    Object::describe("atomic_cell::AtomicCell", || AtomicCell::<i64, AtomicI64>::new(0))
        .core("store", |cell, (value,): (i64,)| cell.store(value))
        .core("load", |cell, ()| cell.load())
        .method("swap", |cell, (value,): (i64,)| cell.swap(value))
        .method("compare_exchange", |cell, (value,): (i64,)| cell.compare_exchange::<false>(0, value).is_ok())
        .method("fetch_update", |cell, (value,): (i64,)| {
            cell.fetch_update::<_, false>(|old| (old != value).then_some(old + 1)).ok()
        })
        .build()
}
