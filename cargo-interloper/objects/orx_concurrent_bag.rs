//! A bag that grows.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![bag()]
}

fn bag() -> Object {
    use ::orx_concurrent_bag::ConcurrentBag;
    // What reads the elements is unsafe, and asks its caller that nobody writes meanwhile.
    Object::describe("orx_concurrent_bag::ConcurrentBag", ConcurrentBag::<i64>::new)
        .method("push", |bag, (value,): (i64,)| bag.push(value) as i64)
        .method("extend", |bag, (value,): (i64,)| bag.extend([value; 2]) as i64)
        .method("len", |bag, ()| bag.len() as i64)
        .build()
}
