//! A queue with a bound.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![queue()]
}

fn queue() -> Object {
    Object::describe("atomic_queue::Queue", || ::atomic_queue::bounded::<i64>(2))
        .core("push", |queue, (value,): (i64,)| queue.push(value))
        .core("pop", |queue, ()| queue.pop())
        .method("len", |queue, ()| queue.len() as i64)
        .method("is_empty", |queue, ()| queue.is_empty())
        .build()
}
