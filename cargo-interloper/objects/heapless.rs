//! A queue in a ring.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![queue()]
}

fn queue() -> Object {
    use ::heapless::mpmc::Queue;
    Object::describe("heapless::mpmc::Queue", Queue::<i64, 2>::default)
        .method("enqueue", |queue, (value,): (i64,)| queue.enqueue(value).is_ok())
        .method("dequeue", |queue, ()| queue.dequeue())
        .build()
}
