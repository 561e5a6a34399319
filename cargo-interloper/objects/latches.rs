//! A latch.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![latch()]
}

fn latch() -> Object {
    use ::latches::sync::Latch;
    Object::describe("latches::sync::Latch", || Latch::new(2))
        .core("count_down", |latch, ()| latch.count_down())
        .core("count", |latch, ()| latch.count() as i64)
        .method("arrive", |latch, (number,): (i64,)| latch.arrive(number as usize))
        .method("try_wait", |latch, ()| latch.try_wait().is_ok())
        .build()
}
