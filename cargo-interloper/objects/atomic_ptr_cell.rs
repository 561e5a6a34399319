//! A cell over a pointer.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![cell()]
}

fn cell() -> Object {
    use ::atomic_ptr_cell::AtomicPointerCell;
    Object::describe("atomic_ptr_cell::AtomicPointerCell", AtomicPointerCell::<i64>::new)
        .core("swap", |cell, (value,): (i64,)| cell.swap(value))
        .core("take", |cell, ()| cell.take())
        .method("set", |cell, (value,): (i64,)| cell.set(value))
        .method("set_if_absent", |cell, (value,): (i64,)| cell.set_if_absent(value).is_none())
        .method("set_if_present", |cell, (value,): (i64,)| cell.set_if_present(value).is_value())
        .method("is_empty", |cell, ()| cell.is_empty())
        .build()
}
