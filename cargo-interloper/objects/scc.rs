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
        .reads()
        .core("remove", |map, (key,): (i64,)| map.remove_sync(&key).map(|(_, value)| value))
        .method("contains", |map, (key,): (i64,)| map.contains_sync(&key))
        .reads()
        .method("upsert", |map, (key, value): (i64, i64)| map.upsert_sync(key, value))
        .method("len", |map, ()| map.len() as i64)
        .reads()
        .method("is_empty", |map, ()| map.is_empty())
        .reads()
        .method("clear", |map, ()| map.clear_sync())
        .method("iter_sync", |map, ()| {
            let mut entries = BTreeMap::new();
            map.iter_sync(|key, value| {
                entries.insert(*key, *value);
                true
            });
            entries
        })
        .reads()
        .build()
}

fn hash_index() -> Object {
    use scc::{Guard, HashIndex};
    Object::describe("scc::HashIndex", HashIndex::<i64, i64>::new)
        .core("insert", |map, (key, value): (i64, i64)| map.insert_sync(key, value).is_ok())
        .core("peek_with", |map, (key,): (i64,)| map.peek_with(&key, |_, value| *value))
        .reads()
        .core("remove", |map, (key,): (i64,)| map.remove_sync(&key))
        .method("contains", |map, (key,): (i64,)| map.contains(&key))
        .reads()
        .method("len", |map, ()| map.len() as i64)
        .reads()
        .method("is_empty", |map, ()| map.is_empty())
        .reads()
        .method("clear", |map, ()| map.clear_sync())
        .method("iter", |map, ()| {
            map.iter(&Guard::new()).map(|(key, value)| (*key, *value)).collect::<BTreeMap<_, _>>()
        })
        .reads()
        .build()
}

fn tree_index() -> Object {
    use scc::{Guard, TreeIndex};
    Object::describe("scc::TreeIndex", TreeIndex::<i64, i64>::new)
        .core("insert", |map, (key, value): (i64, i64)| map.insert_sync(key, value).is_ok())
        .core("peek_with", |map, (key,): (i64,)| map.peek_with(&key, |_, value| *value))
        .reads()
        .core("remove", |map, (key,): (i64,)| map.remove_sync(&key))
        .method("contains", |map, (key,): (i64,)| map.contains(&key))
        .reads()
        .method("len", |map, ()| map.len() as i64)
        .reads()
        .method("is_empty", |map, ()| map.is_empty())
        .reads()
        .method("clear", |map, ()| map.clear())
        .method("remove_range", |map, (start, end): (i64, i64)| map.remove_range_sync(start..=end))
        .method("iter", |map, ()| {
            map.iter(&Guard::new()).map(|(key, value)| (*key, *value)).collect::<BTreeMap<_, _>>()
        })
        .reads()
        .build()
}

fn queue() -> Object {
    use scc::{Guard, Queue};
    Object::describe("scc::Queue", Queue::<i64>::default)
        .core("push", |queue, (value,): (i64,)| drop(queue.push(value)))
        .core("pop", |queue, ()| queue.pop().map(|entry| **entry))
        .method("len", |queue, ()| queue.len() as i64)
        .reads()
        .method("is_empty", |queue, ()| queue.is_empty())
        .reads()
        .method("peek", |queue, ()| queue.peek_with(|entry| entry.map(|entry| **entry)))
        .reads()
        .method("iter", |queue, ()| queue.iter(&Guard::new()).copied().collect::<Vec<i64>>())
        .reads()
        .data_independent()
        .build()
}

fn stack() -> Object {
    use scc::{Guard, Stack};
    Object::describe("scc::Stack", Stack::<i64>::default)
        .core("push", |stack, (value,): (i64,)| drop(stack.push(value)))
        .core("pop", |stack, ()| stack.pop().map(|entry| **entry))
        .method("len", |stack, ()| stack.len() as i64)
        .reads()
        .method("is_empty", |stack, ()| stack.is_empty())
        .reads()
        .method("peek", |stack, ()| stack.peek_with(|entry| entry.map(|entry| **entry)))
        .reads()
        .method("iter", |stack, ()| stack.iter(&Guard::new()).copied().collect::<Vec<i64>>())
        .reads()
        .method("pop_all", |stack, ()| {
            let taken = stack.pop_all();
            std::iter::from_fn(|| taken.pop().map(|entry| **entry)).collect::<Vec<i64>>()
        })
        .data_independent()
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
