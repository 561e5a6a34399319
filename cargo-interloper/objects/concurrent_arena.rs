//! An arena whose places are numbered.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![arena()]
}

fn arena() -> Object {
    use ::concurrent_arena::{Arena, ArenaArc};
    Object::describe("concurrent_arena::Arena", || Arena::<i64, 1, 64>::with_capacity(1))
        .core("insert", |arena, (value,): (i64,)| i64::from(ArenaArc::slot(&arena.insert(value))))
        .core("get", |arena, ()| arena.get(0).map(|found| *found))
        .core("remove", |arena, ()| arena.remove(0).map(|found| *found))
        .build()
}
