//! A cell whose borrows are counted.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![atomic_ref_cell()]
}

fn atomic_ref_cell() -> Object {
    use ::atomic_refcell::AtomicRefCell;
    use std::mem::forget;
    // Borrows are kept: one that is given back makes others fail only for a time, as it should.
    Object::describe("atomic_refcell::AtomicRefCell", || AtomicRefCell::new(0_i64))
        .method("try_borrow", |cell, ()| cell.try_borrow().map(forget).is_ok())
        .method("try_borrow_mut", |cell, ()| cell.try_borrow_mut().map(forget).is_ok())
        .build()
}
