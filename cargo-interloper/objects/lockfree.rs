//! A map, a queue and a stack without locks.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![map(), queue(), stack()]
}

fn map() -> Object {
    Object::describe("lockfree::map::Map", ::lockfree::map::Map::<i64, i64>::new)
        .method("insert", |map, (key, value): (i64, i64)| map.insert(key, value).map(|old| *old.val()))
        .method("get", |map, (key,): (i64,)| map.get(&key).map(|found| *found.val()))
        .method("remove", |map, (key,): (i64,)| map.remove(&key).map(|old| *old.val()))
        .build()
}

fn queue() -> Object {
    Object::describe("lockfree::queue::Queue", ::lockfree::queue::Queue::<i64>::new)
        .method("push", |queue, (value,): (i64,)| queue.push(value))
        .method("pop", |queue, ()| queue.pop())
        .build()
}

fn stack() -> Object {
    Object::describe("lockfree::stack::Stack", ::lockfree::stack::Stack::<i64>::new)
        .method("push", |stack, (value,): (i64,)| stack.push(value))
        .method("pop", |stack, ()| stack.pop())
        .build()
}
