//! Queues that can be closed, with and without a bound.

use interloper::objects::{Description, Object};

use concurrent_queue::{ConcurrentQueue, PushError};

/// All of them.
pub fn all() -> Vec<Object> {
    vec![bounded(), single(), unbounded()]
}

fn bounded() -> Object {
    let described = Object::describe("concurrent_queue::ConcurrentQueue", || ConcurrentQueue::<i64>::bounded(2));
    with_methods_of_bounded(described).build()
}

/// Room for one value has an implementation of its own.
fn single() -> Object {
    with_methods_of_bounded(Object::describe("concurrent_queue::single", || ConcurrentQueue::<i64>::bounded(1))).build()
}

fn unbounded() -> Object {
    with_methods(Object::describe("concurrent_queue::unbounded", ConcurrentQueue::<i64>::unbounded)).build()
}

/// The methods that those with a bound have.
fn with_methods_of_bounded(described: Description<ConcurrentQueue<i64>>) -> Description<ConcurrentQueue<i64>> {
    with_methods(described)
        .method("force_push", |queue, (value,): (i64,)| queue.force_push(value).map_err(|_| "closed"))
        .method("is_full", |queue, ()| queue.is_full())
        .reads()
}

/// The methods that all have.
fn with_methods(described: Description<ConcurrentQueue<i64>>) -> Description<ConcurrentQueue<i64>> {
    described
        .core("push", |queue, (value,): (i64,)| match queue.push(value) {
            Ok(()) => "pushed",
            Err(PushError::Full(_)) => "full",
            Err(PushError::Closed(_)) => "closed",
        })
        .core("pop", |queue, ()| queue.pop().ok())
        .method("len", |queue, ()| queue.len() as i64)
        .reads()
        .method("is_empty", |queue, ()| queue.is_empty())
        .reads()
        .method("try_iter", |queue, ()| queue.try_iter().collect::<Vec<i64>>())
        .method("close", |queue, ()| queue.close())
        .data_independent()
}
