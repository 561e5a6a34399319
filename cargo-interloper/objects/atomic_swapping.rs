//! Cells whose value is swapped.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![swap(), option()]
}

fn swap() -> Object {
    use ::atomic_swapping::AtomicSwap;
    Object::describe("atomic_swapping::AtomicSwap", || AtomicSwap::new(0_i64))
        .core("swap", |cell, (value,): (i64,)| cell.swap(value))
        .core("clone_inner", |cell, ()| cell.clone_inner())
        .build()
}

fn option() -> Object {
    use ::atomic_swapping::option::AtomicSwapOption;
    Object::describe("atomic_swapping::option::AtomicSwapOption", AtomicSwapOption::<i64>::from_none)
        .core("set", |cell, (value,): (i64,)| cell.set(Some(value)))
        .core("take", |cell, ()| cell.take())
        .method("swap", |cell, (value,): (i64,)| cell.swap(Some(value)))
        .method("clone_inner", |cell, ()| cell.clone_inner())
        .method("contains_value", |cell, ()| cell.contains_value())
        .build()
}
