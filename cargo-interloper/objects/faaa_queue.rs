//! A queue in arrays whose places are counted.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![queue()]
}

fn queue() -> Object {
    use ::faaa_queue::FAAAQueue;
    Object::describe("faaa_queue::FAAAQueue", FAAAQueue::<i64>::new)
        .method("enqueue", |queue, (value,): (i64,)| queue.enqueue(value))
        .method("dequeue", |queue, ()| queue.dequeue())
        .build()
}
