//! A queue in a ring.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![thingbuf()]
}

fn thingbuf() -> Object {
    use thingbuf::ThingBuf;
    Object::describe("thingbuf::ThingBuf", || ThingBuf::<i64>::new(2))
        .core("push", |queue, (value,): (i64,)| queue.push(value).is_ok())
        .core("pop", |queue, ()| queue.pop())
        .method("len", |queue, ()| queue.len() as i64)
        .method("is_empty", |queue, ()| queue.is_empty())
        .build()
}
