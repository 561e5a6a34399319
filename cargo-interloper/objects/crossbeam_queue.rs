//! Queues with and without a bound.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![seg_queue(), array_queue()]
}

fn seg_queue() -> Object {
    use crossbeam_queue::SegQueue;
    Object::describe("crossbeam_queue::SegQueue", SegQueue::<i64>::new)
        .core("push", |queue, (value,): (i64,)| queue.push(value))
        .core("pop", |queue, ()| queue.pop())
        .method("len", |queue, ()| queue.len() as i64)
        .reads()
        .method("is_empty", |queue, ()| queue.is_empty())
        .reads()
        .data_independent()
        .build()
}

fn array_queue() -> Object {
    use crossbeam_queue::ArrayQueue;
    Object::describe("crossbeam_queue::ArrayQueue", || ArrayQueue::<i64>::new(2))
        .core("push", |queue, (value,): (i64,)| queue.push(value).is_ok())
        .core("pop", |queue, ()| queue.pop())
        .method("force_push", |queue, (value,): (i64,)| queue.force_push(value))
        .method("len", |queue, ()| queue.len() as i64)
        .reads()
        .method("is_empty", |queue, ()| queue.is_empty())
        .reads()
        .method("is_full", |queue, ()| queue.is_full())
        .reads()
        .data_independent()
        .build()
}
