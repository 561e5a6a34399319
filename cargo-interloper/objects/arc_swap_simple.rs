//! A shared pointer that can be replaced.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![atomic_swap()]
}

fn atomic_swap() -> Object {
    use ::arc_swap_simple::AtomicSwap;
    Object::describe("arc_swap_simple::AtomicSwap", || AtomicSwap::from_value(0_i64))
        .method("load", |cell, ()| *cell.load())
        .method("swap", |cell, (value,): (i64,)| *cell.swap(value))
        .build()
}
