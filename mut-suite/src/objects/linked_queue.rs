//! A linked queue whose bulk methods walk from node to node: `ConcurrentLinkedQueue` in small.

use interloper::objects::{Object, type_named};

use super::chain::Chain;
use super::java;

pub(super) fn linked_queue() -> Object {
    Object::describe("linked-queue", Chain::default)
        .core("offer", |queue, (item,)| queue.append(item))
        .core("poll", |queue, ()| queue.take_first())
        .core("peek", |queue, ()| queue.walk().next())
        .reads()
        .method("add", |queue, (item,)| queue.append(item))
        .method("remove", |queue, ()| java::or_empty(queue.take_first()))
        .method("remove", |queue, (item,)| queue.take(item))
        .method("element", |queue, ()| java::or_empty(queue.walk().next()))
        .reads()
        .method("isEmpty", |queue, ()| queue.walk().next().is_none())
        .reads()
        .method("contains", |queue, (item,)| queue.contains(item))
        .reads()
        .method("addAll", |queue, (items,): (Vec<i64>,)| items.iter().fold(false, |_, item| queue.append(*item)))
        .method("removeAll", |queue, (items,)| queue.remove_all(items))
        .method("retainAll", |queue, (items,)| queue.retain_all(items))
        .method("clear", |queue, ()| queue.clear())
        .method("containsAll", |queue, (items,)| queue.contains_all(items))
        .reads()
        .method("size", |queue, ()| queue.walk().count())
        .reads()
        .method("toArray", |queue, ()| queue.walk().collect::<Vec<i64>>())
        .reads()
        .method("toString", |queue, ()| java::list(&queue.walk().collect::<Vec<i64>>()))
        .reads()
        .data_independent()
        .model(type_named("queue").expect("a reference type"))
        .build()
}
