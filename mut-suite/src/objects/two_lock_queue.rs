//! A linked queue with a lock for each end (M. Michael and M. Scott, *Simple, fast, and practical non-blocking and
//! blocking concurrent queue algorithms*, 1996) and an atomic count that is updated after the lock is released:
//! `LinkedBlockingQueue` in small, and careless.

use interloper::objects::{Object, type_named};
use interloper::sync::atomic::{AtomicI64, Ordering::SeqCst};
use interloper::sync::{Arc, Mutex};

use super::java;
use super::link::Link;

struct Node {
    item: i64,
    next: Link<Node>,
}

struct TwoLockQueue {
    /// The node before the first item.
    head: Mutex<Arc<Node>>,
    tail: Mutex<Arc<Node>>,
    count: AtomicI64,
}

impl TwoLockQueue {
    fn new() -> TwoLockQueue {
        let sentinel = Arc::new(Node { item: 0, next: Link::default() });
        TwoLockQueue { head: Mutex::new(sentinel.clone()), tail: Mutex::new(sentinel), count: AtomicI64::new(0) }
    }

    fn offer(&self, item: i64) -> bool {
        {
            let mut tail = self.tail.lock().expect("no panic under the lock");
            let node = Arc::new(Node { item, next: Link::default() });
            tail.next.set(Some(node.clone()));
            *tail = node;
        }
        self.count.fetch_add(1, SeqCst);
        true
    }

    fn poll(&self) -> Option<i64> {
        let first = {
            let mut head = self.head.lock().expect("no panic under the lock");
            let first = head.next.get()?;
            *head = first.clone();
            first
        };
        self.count.fetch_sub(1, SeqCst);
        Some(first.item)
    }

    /// Both locks are held meanwhile.
    fn items(&self) -> Vec<i64> {
        let _tail = self.tail.lock().expect("no panic under the lock");
        let head = self.head.lock().expect("no panic under the lock");
        let mut next = head.next.get();
        let walk = std::iter::from_fn(|| {
            let node = next.take()?;
            next = node.next.get();
            Some(node.item)
        });
        walk.collect()
    }

    /// Without any lock: it believes a count of 0.
    fn is_empty(&self) -> bool {
        self.size() == 0
    }

    fn size(&self) -> i64 {
        self.count.load(SeqCst).max(0)
    }

    /// Takes all items, one after the other, and puts back the ones to keep.
    fn keep(&self, which: impl Fn(i64) -> bool) -> bool {
        let mut dropped = false;
        for _ in 0..self.size() {
            match self.poll() {
                Some(item) if which(item) => drop(self.offer(item)),
                Some(_) => dropped = true,
                None => break,
            }
        }
        dropped
    }
}

pub(super) fn two_lock_queue() -> Object {
    Object::describe("two-lock-queue", TwoLockQueue::new)
        .core("offer", |queue, (item,)| queue.offer(item))
        .core("poll", |queue, ()| queue.poll())
        .core("peek", |queue, ()| queue.items().first().copied())
        .reads()
        .method("add", |queue, (item,)| queue.offer(item))
        .method("put", |queue, (item,)| {
            queue.offer(item);
        })
        .method("remove", |queue, ()| java::or_empty(queue.poll()))
        .method("element", |queue, ()| java::or_empty(queue.items().first().copied()))
        .reads()
        .method("contains", |queue, (item,): (i64,)| queue.items().contains(&item))
        .reads()
        .method("toArray", |queue, ()| queue.items())
        .reads()
        .method("toString", |queue, ()| java::list(&queue.items()))
        .reads()
        .method("isEmpty", |queue, ()| queue.is_empty())
        .reads()
        .method("size", |queue, ()| queue.size())
        .reads()
        .method("remainingCapacity", |queue, ()| i64::from(i32::MAX) - queue.size())
        .reads()
        .method("addAll", |queue, (items,): (Vec<i64>,)| items.iter().fold(false, |_, item| queue.offer(*item)))
        .method("removeAll", |queue, (items,): (Vec<i64>,)| queue.keep(|item| !items.contains(&item)))
        .method("retainAll", |queue, (items,): (Vec<i64>,)| queue.keep(|item| items.contains(&item)))
        .method("clear", |queue, ()| {
            queue.keep(|_| false);
        })
        .method("containsAll", |queue, (items,): (Vec<i64>,)| items.iter().all(|item| queue.items().contains(item)))
        .reads()
        .data_independent()
        .model(type_named("queue").expect("a reference type"))
        .build()
}
