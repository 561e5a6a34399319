//! A cell whose borrows are counted.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![atomic_cell()]
}

fn atomic_cell() -> Object {
    use atomicell::AtomicCell;
    use std::mem::forget;
    // Borrows are kept: one that is given back makes others fail only for a time, as it should.
    Object::describe("atomicell::AtomicCell", || AtomicCell::new(0_i64))
        .method("try_borrow", |cell, ()| cell.try_borrow().map(forget).is_some())
        .method("try_borrow_mut", |cell, ()| cell.try_borrow_mut().map(forget).is_some())
        .build()
}
