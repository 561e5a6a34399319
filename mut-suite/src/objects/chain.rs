//! Nodes one after the other, each taken once: the linked queue and the linked deque consist of them.

use interloper::sync::Arc;
use interloper::sync::atomic::{AtomicBool, Ordering::SeqCst};

use super::link::Link;

pub(super) struct Node {
    pub(super) item: i64,
    taken: AtomicBool,
    next: Link<Node>,
}

/// A chain: one compare-and-exchange appends an item, and another one takes an item. Taken nodes stay where they are
/// until the chain is dropped: a harness is short.
#[derive(Default)]
pub(super) struct Chain {
    first: Link<Node>,
}

impl Node {
    fn new(item: i64, next: Option<Arc<Node>>) -> Arc<Node> {
        Arc::new(Node { item, taken: AtomicBool::new(false), next: Link::new(next) })
    }

    /// Whether this call took it.
    pub(super) fn take(&self) -> bool {
        self.taken.compare_exchange(false, true, SeqCst, SeqCst).is_ok()
    }

    fn is_there(&self) -> bool {
        !self.taken.load(SeqCst)
    }
}

impl Chain {
    /// The nodes from the first to the last, without those that are taken when the walk meets them. The walk reads the
    /// successor of a node when it leaves the node.
    pub(super) fn nodes(&self) -> impl Iterator<Item = Arc<Node>> {
        self.all_nodes().filter(|node| node.is_there())
    }

    fn all_nodes(&self) -> impl Iterator<Item = Arc<Node>> {
        let mut at: Option<Arc<Node>> = None;
        std::iter::from_fn(move || {
            at = at.as_ref().map_or(&self.first, |node| &node.next).get();
            at.clone()
        })
        .fuse()
    }

    pub(super) fn walk(&self) -> impl Iterator<Item = i64> {
        self.nodes().map(|node| node.item)
    }

    pub(super) fn append(&self, item: i64) -> bool {
        let node = Node::new(item, None);
        let mut in_the_way = self.first.append(node.clone());
        while let Err(last) = in_the_way {
            in_the_way = last.next.append(node.clone());
        }
        true
    }

    /// Puts an item before the first node. A walk under way is already past that place.
    pub(super) fn prepend(&self, item: i64) {
        loop {
            let first = self.first.get();
            if self.first.exchange(&first, Node::new(item, first.clone())) {
                return;
            }
        }
    }

    pub(super) fn take_first(&self) -> Option<i64> {
        self.all_nodes().find(|node| node.take()).map(|node| node.item)
    }

    /// Takes the first node with this item.
    pub(super) fn take(&self, item: i64) -> bool {
        self.all_nodes().any(|node| node.item == item && node.take())
    }

    pub(super) fn contains(&self, item: i64) -> bool {
        self.walk().any(|other| other == item)
    }

    pub(super) fn contains_all(&self, items: Vec<i64>) -> bool {
        items.into_iter().all(|item| self.contains(item))
    }

    pub(super) fn remove_all(&self, items: Vec<i64>) -> bool {
        self.take_those(|item| items.contains(&item))
    }

    pub(super) fn retain_all(&self, items: Vec<i64>) -> bool {
        self.take_those(|item| !items.contains(&item))
    }

    fn take_those(&self, which: impl Fn(i64) -> bool) -> bool {
        self.all_nodes().filter(|node| which(node.item) && node.take()).count() > 0
    }

    pub(super) fn clear(&self) {
        while self.take_first().is_some() {}
    }
}
