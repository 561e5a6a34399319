//! Queues in rings.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![bounded(), unbounded()]
}

fn bounded() -> Object {
    Object::describe("lfqueue::AllocBoundedQueue", || ::lfqueue::AllocBoundedQueue::<i64>::new(2))
        .method("enqueue", |queue, (value,): (i64,)| queue.enqueue(value).is_ok())
        .method("dequeue", |queue, ()| queue.dequeue())
        .build()
}

fn unbounded() -> Object {
    Object::describe("lfqueue::UnboundedQueue", || ::lfqueue::UnboundedQueue::<i64>::with_segment_size(2))
        .method("enqueue", |queue, (value,): (i64,)| queue.enqueue(value))
        .method("dequeue", |queue, ()| queue.dequeue())
        .build()
}
