//! A cell that is written once.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![once_cell()]
}

fn once_cell() -> Object {
    use ::once_cell::sync::OnceCell;
    Object::describe("once_cell::sync::OnceCell", OnceCell::<i64>::new)
        .core("set", |cell, (value,): (i64,)| cell.set(value).is_ok())
        .core("get", |cell, ()| cell.get().copied())
        .method("get_or_init", |cell, (value,): (i64,)| *cell.get_or_init(|| value))
        .build()
}
