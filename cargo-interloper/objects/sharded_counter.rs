//! A counter that gives each number once.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![pool()]
}

fn pool() -> Object {
    use ::sharded_counter::CounterPool;
    use std::collections::BTreeSet;
    use std::sync::Mutex;
    // Which number comes next depends on the shard. A call returns whether it was new.
    Object::describe("sharded_counter::CounterPool", || {
        (CounterPool::with_shard_amount(2), Mutex::new(BTreeSet::new()))
    })
    .method("counter", |(pool, seen), ()| {
        let number = pool.counter().next();
        seen.lock().unwrap().insert(number)
    })
    .method("try_counter", |(pool, seen), ()| {
        let number = pool.try_counter().and_then(|mut counter| counter.next());
        seen.lock().unwrap().insert(number)
    })
    .build()
}
