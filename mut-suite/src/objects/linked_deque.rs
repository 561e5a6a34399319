//! A linked deque: a linked queue whose other end is naive. `ConcurrentLinkedDeque` in small.

use interloper::objects::{Object, type_named};
use interloper::sync::Arc;

use super::chain::{Chain, Node};
use super::java;

/// The last node that a walk meets. By the time the walk ends, another one may have been appended.
fn last(deque: &Chain) -> Option<Arc<Node>> {
    deque.nodes().last()
}

fn poll_last(deque: &Chain) -> Option<i64> {
    loop {
        let node = last(deque)?;
        if node.take() {
            return Some(node.item);
        }
    }
}

fn take_last(deque: &Chain, item: i64) -> bool {
    let found = deque.nodes().filter(|node| node.item == item).last();
    found.is_some_and(|node| node.take())
}

pub(super) fn linked_deque() -> Object {
    let peek_last = |deque: &Chain| last(deque).map(|node| node.item);
    Object::describe("linked-deque", Chain::default)
        .core("offer", |deque, (item,)| deque.append(item))
        .core("poll", |deque, ()| deque.take_first())
        .core("peek", |deque, ()| deque.walk().next())
        .reads()
        .method("addLast", |deque, (item,)| {
            deque.append(item);
        })
        .method("offerLast", |deque, (item,)| deque.append(item))
        .method("pollFirst", |deque, ()| deque.take_first())
        .method("removeFirst", |deque, ()| java::or_empty(deque.take_first()))
        .method("peekFirst", |deque, ()| deque.walk().next())
        .reads()
        .method("getFirst", |deque, ()| java::or_empty(deque.walk().next()))
        .reads()
        .method("isEmpty", |deque, ()| deque.walk().next().is_none())
        .reads()
        .method("contains", |deque, (item,)| deque.contains(item))
        .reads()
        .method("removeFirstOccurrence", |deque, (item,)| deque.take(item))
        .method("addFirst", |deque, (item,)| deque.prepend(item))
        .method("offerFirst", |deque, (item,)| {
            deque.prepend(item);
            true
        })
        .method("pollLast", |deque, ()| poll_last(deque))
        .method("removeLast", |deque, ()| java::or_empty(poll_last(deque)))
        .method("peekLast", move |deque, ()| peek_last(deque))
        .reads()
        .method("getLast", move |deque, ()| java::or_empty(peek_last(deque)))
        .reads()
        .method("removeLastOccurrence", |deque, (item,)| take_last(deque, item))
        .method("removeAll", |deque, (items,)| deque.remove_all(items))
        .method("retainAll", |deque, (items,)| deque.retain_all(items))
        .method("clear", |deque, ()| deque.clear())
        .method("containsAll", |deque, (items,)| deque.contains_all(items))
        .reads()
        .method("size", |deque, ()| deque.walk().count())
        .reads()
        .method("toArray", |deque, ()| deque.walk().collect::<Vec<i64>>())
        .reads()
        .method("toString", |deque, ()| java::list(&deque.walk().collect::<Vec<i64>>()))
        .reads()
        .data_independent()
        .model(type_named("deque").expect("a reference type"))
        .build()
}
