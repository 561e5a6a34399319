//! A sorted linked list with a lock for writers and none for readers: a lazy list set (S. Heller, M. Herlihy, V.
//! Luchangco, M. Moir, W. Scherer and N. Shavit, *A lazy concurrent list-based set algorithm*, 2005) whose writers take
//! turns, with the bulk methods and views of `ConcurrentSkipListSet`.

use std::ops::Bound;

use interloper::objects::{Object, type_named};
use interloper::sync::atomic::{AtomicBool, Ordering::SeqCst};
use interloper::sync::{Arc, Mutex};

use super::java::{self, any};
use super::link::Link;

struct Node {
    item: i64,
    /// Set before the node is unlinked: from then on the item is not in the set.
    removed: AtomicBool,
    next: Link<Node>,
}

#[derive(Default)]
struct ListSet {
    first: Link<Node>,
    writer: Mutex<()>,
}

impl ListSet {
    /// The items on the way from the first node to the last, as the walk meets them. The walk reads the successor of a
    /// node when it leaves the node.
    fn walk(&self) -> impl Iterator<Item = i64> {
        let mut at: Option<Arc<Node>> = None;
        std::iter::from_fn(move || {
            loop {
                let node = at.as_ref().map_or(&self.first, |node| &node.next).get()?;
                let there = !node.removed.load(SeqCst);
                let item = node.item;
                at = Some(node);
                if there {
                    return Some(item);
                }
            }
        })
        .fuse()
    }

    fn contains(&self, item: i64) -> bool {
        let mut next = self.first.get();
        while let Some(node) = next {
            if node.item >= item {
                return node.item == item && !node.removed.load(SeqCst);
            }
            next = node.next.get();
        }
        false
    }

    fn add(&self, item: i64) -> bool {
        let _turn = self.writer.lock().expect("no panic under the lock");
        let (before, after) = self.around(item);
        if after.as_ref().is_some_and(|node| node.item == item) {
            return false;
        }
        let node = Arc::new(Node { item, removed: AtomicBool::new(false), next: Link::new(after) });
        before.as_ref().map_or(&self.first, |node| &node.next).set(Some(node));
        true
    }

    fn remove(&self, item: i64) -> bool {
        let _turn = self.writer.lock().expect("no panic under the lock");
        let (before, after) = self.around(item);
        let Some(node) = after.filter(|node| node.item == item) else { return false };
        node.removed.store(true, SeqCst);
        before.as_ref().map_or(&self.first, |node| &node.next).set(node.next.get());
        true
    }

    /// The last node below an item, and the node after it.
    fn around(&self, item: i64) -> (Option<Arc<Node>>, Option<Arc<Node>>) {
        let (mut before, mut after) = (None, self.first.get());
        while let Some(node) = after.take() {
            if node.item >= item {
                return (before, Some(node));
            }
            after = node.next.get();
            before = Some(node);
        }
        (before, None)
    }

    /// The items in a range, as the walk meets them.
    fn within(&self, from: Bound<i64>, to: Bound<i64>) -> Vec<i64> {
        use std::ops::RangeBounds;
        self.walk().filter(|item| (from, to).contains(item)).collect()
    }

    fn last(&self) -> Option<i64> {
        self.walk().last()
    }

    /// Takes the item that `choose` finds, or looks again when another task was quicker.
    fn poll(&self, choose: impl Fn(&ListSet) -> Option<i64>) -> Option<i64> {
        loop {
            let item = choose(self)?;
            if self.remove(item) {
                return Some(item);
            }
        }
    }

    fn clear(&self) {
        while self.poll(|set| set.walk().next()).is_some() {}
    }
}

pub(super) fn list_set() -> Object {
    use Bound::{Excluded, Included, Unbounded};
    Object::describe("list-set", ListSet::default)
        .core("add", |set, (item,)| set.add(item))
        .core("remove", |set, (item,)| set.remove(item))
        .core("contains", |set, (item,)| set.contains(item))
        .reads()
        .method("addAll", |set, (items,)| any(items, |item| set.add(item)))
        .method("removeAll", |set, (items,)| any(items, |item| set.remove(item)))
        .method("retainAll", |set, (items,): (Vec<i64>,)| {
            any(set.walk().collect(), |item| !items.contains(&item) && set.remove(item))
        })
        .method("clear", |set, ()| set.clear())
        .method("pollFirst", |set, ()| set.poll(|set| set.walk().next()))
        .method("pollLast", |set, ()| set.poll(ListSet::last))
        .method("containsAll", |set, (items,): (Vec<i64>,)| items.into_iter().all(|item| set.contains(item)))
        .reads()
        .method("size", |set, ()| set.walk().count())
        .reads()
        .method("isEmpty", |set, ()| set.walk().next().is_none())
        .reads()
        .method("toArray", |set, ()| set.walk().collect::<Vec<i64>>())
        .reads()
        .method("toString", |set, ()| java::list(&set.walk().collect::<Vec<i64>>()))
        .reads()
        .method("first", |set, ()| java::or_empty(set.walk().next()))
        .reads()
        .method("last", |set, ()| java::or_empty(set.last()))
        .reads()
        .method("ceiling", |set, (item,): (i64,)| set.walk().find(|other| *other >= item))
        .reads()
        .method("higher", |set, (item,): (i64,)| set.walk().find(|other| *other > item))
        .reads()
        .method("floor", |set, (item,)| set.within(Unbounded, Included(item)).pop())
        .reads()
        .method("lower", |set, (item,)| set.within(Unbounded, Excluded(item)).pop())
        .reads()
        .method("headSet", |set, (end,)| set.within(Unbounded, Excluded(end)))
        .reads()
        .method("tailSet", |set, (start,)| set.within(Included(start), Unbounded))
        .reads()
        .method("subSet", |set, (start, end): (i64, i64)| match start > end {
            true => java::error("range"),
            false => java::listed(&set.within(Included(start), Excluded(end))),
        })
        .reads()
        .model(type_named("sorted-set").expect("a reference type"))
        .build()
}
