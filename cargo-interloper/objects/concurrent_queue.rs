//! A queue that can be closed.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![concurrent_queue()]
}

fn concurrent_queue() -> Object {
    use concurrent_queue::ConcurrentQueue;
    Object::describe("concurrent_queue::ConcurrentQueue", || ConcurrentQueue::<i64>::bounded(2))
        .core("push", |queue, (value,): (i64,)| queue.push(value).is_ok())
        .core("pop", |queue, ()| queue.pop().ok())
        .method("len", |queue, ()| queue.len() as i64)
        .method("is_full", |queue, ()| queue.is_full())
        .method("close", |queue, ()| queue.close())
        .build()
}
