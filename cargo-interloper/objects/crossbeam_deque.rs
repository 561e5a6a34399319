//! The queue from which workers steal.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![injector()]
}

fn injector() -> Object {
    use crossbeam_deque::{Injector, Steal};
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
