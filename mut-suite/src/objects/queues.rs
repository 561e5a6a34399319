//! Queues, a stack and a set of published crates.

use crossbeam::queue::{ArrayQueue, SegQueue};
use crossbeam_skiplist::SkipSet;
use interloper::objects::{Description, Object};

use super::java::any;

#[cfg(feature = "study")]
pub(super) mod study;

/// More than any harness puts in.
const ROOM: usize = 16;

/// The methods of every queue, made from those that a queue has itself.
fn queue<Q: Send + Sync + 'static>(
    name: &str,
    make: fn() -> Q,
    push: fn(&Q, i64),
    pop: fn(&Q) -> Option<i64>,
    len: fn(&Q) -> usize,
    is_empty: fn(&Q) -> bool,
) -> Description<Q> {
    Object::describe(name, make)
        .core("offer", move |queue, (item,)| push(queue, item))
        .core("poll", move |queue, ()| pop(queue))
        .method("size", move |queue, ()| len(queue))
        .reads()
        .method("isEmpty", move |queue, ()| is_empty(queue))
        .reads()
        .method("addAll", move |queue, (items,): (Vec<i64>,)| items.into_iter().for_each(|item| push(queue, item)))
        .method("clear", move |queue, ()| while pop(queue).is_some() {})
        .method("drain", move |queue, ()| std::iter::from_fn(|| pop(queue)).collect::<Vec<i64>>())
        .data_independent()
}

pub(super) fn seg_queue() -> Object {
    queue("seg-queue", SegQueue::new, SegQueue::push, SegQueue::pop, SegQueue::len, SegQueue::is_empty).build()
}

pub(super) fn array_queue() -> Object {
    let push = |queue: &ArrayQueue<i64>, item| queue.push(item).expect("there is room");
    queue("array-queue", || ArrayQueue::new(ROOM), push, ArrayQueue::pop, ArrayQueue::len, ArrayQueue::is_empty).build()
}

/// A queue with room for one item, in which `force_push` makes room.
pub(super) fn small_array_queue() -> Object {
    Object::describe("array-queue-of-one", || ArrayQueue::<i64>::new(1))
        .core("offer", |queue, (item,)| queue.push(item).is_ok())
        .core("poll", |queue, ()| queue.pop())
        .method("forcePush", |queue, (item,)| queue.force_push(item))
        .method("size", |queue, ()| queue.len())
        .reads()
        .method("isFull", |queue, ()| queue.is_full())
        .reads()
        .method("isEmpty", |queue, ()| queue.is_empty())
        .reads()
        .data_independent()
        .build()
}

pub(super) fn skip_set() -> Object {
    type Set = SkipSet<i64>;
    fn item(entry: Option<crossbeam_skiplist::set::Entry<'_, i64>>) -> Option<i64> {
        entry.map(|entry| *entry)
    }
    // As with the map, `insert` and `remove` of the set are under test.
    let add = |set: &Set, item: i64| drop(set.get_or_insert(item));
    let remove = |set: &Set, item: i64| set.get(&item).is_some_and(|entry| entry.remove());
    Object::describe("skip-set", Set::new)
        .core("add", move |set, (item,)| add(set, item))
        .core("removeEntry", move |set, (item,)| remove(set, item))
        .core("contains", |set, (item,): (i64,)| set.contains(&item))
        .reads()
        .method("insert", |set, (item,): (i64,)| drop(set.insert(item)))
        .method("remove", |set, (item,): (i64,)| set.remove(&item).is_some())
        .method("addAll", move |set, (items,): (Vec<i64>,)| items.into_iter().for_each(|item| add(set, item)))
        .method("removeAll", move |set, (items,): (Vec<i64>,)| any(items, |item| remove(set, item)))
        .method("containsAll", |set, (items,): (Vec<i64>,)| items.iter().all(|item| set.contains(item)))
        .reads()
        .method("clear", |set, ()| set.clear())
        .method("size", |set, ()| set.len())
        .reads()
        .method("isEmpty", |set, ()| set.is_empty())
        .reads()
        .method("toArray", |set, ()| set.iter().map(|entry| *entry).collect::<Vec<i64>>())
        .reads()
        .method("first", |set, ()| item(set.front()))
        .reads()
        .method("last", |set, ()| item(set.back()))
        .reads()
        .method("headSet", |set, (end,): (i64,)| set.range(..end).map(|entry| *entry).collect::<Vec<i64>>())
        .reads()
        .method("tailSet", |set, (start,): (i64,)| set.range(start..).map(|entry| *entry).collect::<Vec<i64>>())
        .reads()
        .method("pollFirst", |set, ()| item(set.pop_front()))
        .method("pollLast", |set, ()| item(set.pop_back()))
        .build()
}
