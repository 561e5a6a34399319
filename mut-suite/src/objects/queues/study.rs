//! Queues of crates that the study alone needs.

use concurrent_queue::ConcurrentQueue;
use interloper::objects::Object;

use super::{ROOM, queue};

pub fn concurrent_queue() -> Object {
    let push = |queue: &ConcurrentQueue<i64>, item| queue.push(item).expect("there is room");
    let pop = |queue: &ConcurrentQueue<i64>| queue.pop().ok();
    let (len, is_empty) = (ConcurrentQueue::len, ConcurrentQueue::is_empty);
    queue("concurrent-queue", ConcurrentQueue::unbounded, push, pop, len, is_empty).build()
}

pub fn concurrent_queue_bounded() -> Object {
    let push = |queue: &ConcurrentQueue<i64>, item| queue.push(item).expect("there is room");
    let pop = |queue: &ConcurrentQueue<i64>| queue.pop().ok();
    let (len, is_empty) = (ConcurrentQueue::len, ConcurrentQueue::is_empty);
    queue("concurrent-queue-bounded", || ConcurrentQueue::bounded(ROOM), push, pop, len, is_empty).build()
}

pub fn scc_queue() -> Object {
    type Queue = scc::Queue<i64>;
    let push = |queue: &Queue, item| drop(queue.push(item));
    let pop = |queue: &Queue| queue.pop().map(|entry| **entry);
    queue("scc-queue", Queue::default, push, pop, Queue::len, Queue::is_empty)
        .method("peek", |queue, ()| queue.peek_with(|entry| entry.map(|entry| **entry)))
        .reads()
        .method("toArray", |queue, ()| queue.iter(&scc::Guard::new()).copied().collect::<Vec<i64>>())
        .reads()
        .build()
}

pub fn scc_stack() -> Object {
    type Stack = scc::Stack<i64>;
    let push = |stack: &Stack, item| drop(stack.push(item));
    let pop = |stack: &Stack| stack.pop().map(|entry| **entry);
    queue("scc-stack", Stack::default, push, pop, Stack::len, Stack::is_empty)
        .method("peek", |stack, ()| stack.peek_with(|entry| entry.map(|entry| **entry)))
        .reads()
        .method("toArray", |stack, ()| stack.iter(&scc::Guard::new()).copied().collect::<Vec<i64>>())
        .reads()
        .method("popAll", move |stack, ()| {
            let taken = stack.pop_all();
            std::iter::from_fn(|| pop(&taken)).collect::<Vec<i64>>()
        })
        .build()
}
