//! A queue that grows.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![queue()]
}

struct Queue(::orx_concurrent_queue::ConcurrentQueue<i64>);

// SAFETY: it holds numbers alone, and no thread keeps anything of it for itself.
unsafe impl Send for Queue {}

fn queue() -> Object {
    Object::describe("orx_concurrent_queue::ConcurrentQueue", || Queue(::orx_concurrent_queue::ConcurrentQueue::new()))
        .method("push", |queue, (value,): (i64,)| queue.0.push(value))
        .method("pop", |queue, ()| queue.0.pop())
        .method("len", |queue, ()| queue.0.len() as i64)
        .method("is_empty", |queue, ()| queue.0.is_empty())
        .build()
}
