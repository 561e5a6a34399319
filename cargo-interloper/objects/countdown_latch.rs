//! A latch.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![latch()]
}

fn latch() -> Object {
    use countdown_latch::CountDownLatch;
    // More than a program counts down: a latch that has been counted down to 0 can block whoever counts it down again.
    Object::describe("countdown_latch::CountDownLatch", || CountDownLatch::new(8))
        .method("count_down", |latch, ()| latch.count_down())
        .method("get_count", |latch, ()| latch.get_count() as i64)
        .build()
}
