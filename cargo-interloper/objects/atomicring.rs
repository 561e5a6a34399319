//! Queues in a ring.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![buffer(), queue()]
}

fn buffer() -> Object {
    use ::atomicring::AtomicRingBuffer;
    // Room for one.
    Object::describe("atomicring::AtomicRingBuffer", || AtomicRingBuffer::<i64>::with_capacity(2))
        .core("try_push", |queue, (value,): (i64,)| queue.try_push(value).is_ok())
        .core("try_pop", |queue, ()| queue.try_pop())
        .method("push_overwrite", |queue, (value,): (i64,)| queue.push_overwrite(value))
        .method("len", |queue, ()| queue.len() as i64)
        .method("clear", |queue, ()| queue.clear())
        .build()
}

fn queue() -> Object {
    use ::atomicring::AtomicRingQueue;
    // Room for one.
    Object::describe("atomicring::AtomicRingQueue", || AtomicRingQueue::<i64>::with_capacity(2))
        .core("try_push", |queue, (value,): (i64,)| queue.try_push(value).is_ok())
        .core("try_pop", |queue, ()| queue.try_pop())
        .method("push_overwrite", |queue, (value,): (i64,)| queue.push_overwrite(value))
        .method("len", |queue, ()| queue.len() as i64)
        .build()
}
