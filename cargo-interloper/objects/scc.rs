//! Maps, indexes, a queue, a stack and a bag.

use std::collections::BTreeMap;

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![hash_map(), hash_index(), tree_index(), queue(), stack(), bag()]
}

fn hash_map() -> Object {
    use scc::HashMap;
    Object::describe("scc::HashMap", HashMap::<i64, i64>::new)
        .core("insert", |map, (key, value): (i64, i64)| map.insert_sync(key, value).is_ok())
        .core("read", |map, (key,): (i64,)| map.read_sync(&key, |_, value| *value))
        .core("remove", |map, (key,): (i64,)| map.remove_sync(&key).map(|(_, value)| value))
        .method("contains", |map, (key,): (i64,)| map.contains_sync(&key))
        .method("upsert", |map, (key, value): (i64, i64)| map.upsert_sync(key, value))
        .method("len", |map, ()| map.len() as i64)
        .method("clear", |map, ()| map.clear_sync())
        .build()
}

fn hash_index() -> Object {
    use scc::HashIndex;
    Object::describe("scc::HashIndex", HashIndex::<i64, i64>::new)
        .core("insert", |map, (key, value): (i64, i64)| map.insert_sync(key, value).is_ok())
        .core("peek_with", |map, (key,): (i64,)| map.peek_with(&key, |_, value| *value))
        .core("remove", |map, (key,): (i64,)| map.remove_sync(&key))
        .method("contains", |map, (key,): (i64,)| map.contains(&key))
        .method("len", |map, ()| map.len() as i64)
        .build()
}

fn tree_index() -> Object {
    use scc::{Guard, TreeIndex};
    Object::describe("scc::TreeIndex", TreeIndex::<i64, i64>::new)
        .core("insert", |map, (key, value): (i64, i64)| map.insert_sync(key, value).is_ok())
        .core("peek_with", |map, (key,): (i64,)| map.peek_with(&key, |_, value| *value))
        .core("remove", |map, (key,): (i64,)| map.remove_sync(&key))
        .method("len", |map, ()| map.len() as i64)
        .method("clear", |map, ()| map.clear())
        .method("iter", |map, ()| {
            map.iter(&Guard::new()).map(|(key, value)| (*key, *value)).collect::<BTreeMap<_, _>>()
        })
        .build()
}

fn queue() -> Object {
    use scc::Queue;
    Object::describe("scc::Queue", Queue::<i64>::default)
        .core("push", |queue, (value,): (i64,)| drop(queue.push(value)))
        .core("pop", |queue, ()| queue.pop().map(|entry| **entry))
        .method("len", |queue, ()| queue.len() as i64)
        .method("is_empty", |queue, ()| queue.is_empty())
        .build()
}

fn stack() -> Object {
    use scc::Stack;
    Object::describe("scc::Stack", Stack::<i64>::default)
        .core("push", |stack, (value,): (i64,)| drop(stack.push(value)))
        .core("pop", |stack, ()| stack.pop().map(|entry| **entry))
        .method("len", |stack, ()| stack.len() as i64)
        .method("is_empty", |stack, ()| stack.is_empty())
        .build()
}

fn bag() -> Object {
    use scc::Bag;
    // A bag is without order: which value comes out is not said, and the values that are left are given together.
    Object::describe("scc::Bag", Bag::<i64>::default)
        .core("push", |bag, (value,): (i64,)| bag.push(value))
        .core("pop", |bag, ()| bag.pop().is_some())
        .method("len", |bag, ()| bag.len() as i64)
        .method("is_empty", |bag, ()| bag.is_empty())
        .build()
}
