//! A queue in a ring.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![queue()]
}

fn queue() -> Object {
    use ::mpmc::Queue;
    Object::describe("mpmc::Queue", || Queue::<i64>::with_capacity(2))
        .method("push", |queue, (value,): (i64,)| queue.push(value).is_ok())
        .method("pop", |queue, ()| queue.pop())
        .build()
}
