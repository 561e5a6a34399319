//! A counter in shards.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![counter()]
}

fn counter() -> Object {
    use ::fast_counter::ConcurrentCounter;
    Object::describe("fast_counter::ConcurrentCounter", || ConcurrentCounter::new(2))
        .core("add", |counter, (value,): (i64,)| counter.add(value as isize))
        .method("sum", |counter, ()| counter.sum() as i64)
        .build()
}
