//! A queue without locks.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![lf_queue()]
}

fn lf_queue() -> Object {
    Object::describe("lf_queue::Queue", ::lf_queue::Queue::<i64>::new)
        .method("push", |queue, (value,): (i64,)| queue.push(value))
        .method("pop", |queue, ()| queue.pop())
        .build()
}
