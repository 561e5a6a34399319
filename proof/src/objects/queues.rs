//! Queues and channels.

use interloper_harness::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![seg_queue(), array_queue(), injector(), channel(), concurrent_queue(), flume(), thingbuf()]
}

fn seg_queue() -> Object {
    use crossbeam::queue::SegQueue;
    Object::describe("crossbeam_queue::SegQueue", SegQueue::<i64>::new)
        .core("push", |queue, (value,): (i64,)| queue.push(value))
        .core("pop", |queue, ()| queue.pop())
        .method("len", |queue, ()| queue.len() as i64)
        .method("is_empty", |queue, ()| queue.is_empty())
        .build()
}

fn array_queue() -> Object {
    use crossbeam::queue::ArrayQueue;
    Object::describe("crossbeam_queue::ArrayQueue", || ArrayQueue::<i64>::new(2))
        .core("push", |queue, (value,): (i64,)| queue.push(value).is_ok())
        .core("pop", |queue, ()| queue.pop())
        .method("force_push", |queue, (value,): (i64,)| queue.force_push(value))
        .method("len", |queue, ()| queue.len() as i64)
        .method("is_full", |queue, ()| queue.is_full())
        .build()
}

fn injector() -> Object {
    use crossbeam::deque::{Injector, Steal};
    // A steal that is to be tried again is, since nothing else is said of it.
    Object::describe("crossbeam_deque::Injector", Injector::<i64>::new)
        .core("push", |queue, (value,): (i64,)| queue.push(value))
        .core("steal", |queue, ()| {
            loop {
                match queue.steal() {
                    Steal::Success(value) => return Some(value),
                    Steal::Empty => return None,
                    Steal::Retry => std::thread::yield_now(),
                }
            }
        })
        .method("len", |queue, ()| queue.len() as i64)
        .method("is_empty", |queue, ()| queue.is_empty())
        .build()
}

fn channel() -> Object {
    use crossbeam::channel::bounded;
    Object::describe("crossbeam_channel::bounded", || bounded::<i64>(2))
        .core("try_send", |(sender, _), (value,): (i64,)| sender.try_send(value).is_ok())
        .core("try_recv", |(_, receiver), ()| receiver.try_recv().ok())
        .method("len", |(_, receiver), ()| receiver.len() as i64)
        .method("is_full", |(sender, _), ()| sender.is_full())
        .build()
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

fn flume() -> Object {
    Object::describe("flume::bounded", || flume::bounded::<i64>(2))
        .core("try_send", |(sender, _), (value,): (i64,)| sender.try_send(value).is_ok())
        .core("try_recv", |(_, receiver), ()| receiver.try_recv().ok())
        .method("len", |(_, receiver), ()| receiver.len() as i64)
        .method("drain", |(_, receiver), ()| receiver.drain().collect::<Vec<i64>>())
        .build()
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
