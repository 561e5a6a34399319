//! A Treiber stack, and Harris's list with deletion marks.

use interloper::ToValue;

use super::platform::beside;
use super::platform::sync::Arc;
use super::platform::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use super::{Bug, Expected, Family, Program};

use Ordering::{AcqRel, Acquire, Relaxed, Release};

const FILE: Family = Family::new("R. K. Treiber, 1986", include_str!("lists.rs")).weak_memory();
const MARKED: Family = FILE.from("T. L. Harris, DISC 2001");

pub(super) fn programs() -> Vec<Program> {
    vec![
        FILE.showing("push").bad(
            "treiber-relaxed-push",
            "treiber-release-push",
            Bug::Panic("pops what nobody has pushed"),
            "Makes the new node the top with Relaxed instead of Release.",
            || push(Relaxed).to_value(),
        ),
        FILE.showing("push").good(
            "treiber-release-push",
            Expected::Clean,
            "Makes the new node the top with Release.",
            || push(Release).to_value(),
        ),
        FILE.showing("pop-and-free").bad(
            "treiber-early-free",
            "treiber-late-free",
            Bug::Panic("reads a freed node"),
            "Who pops a node frees it at once, while another thread reads what is below it. It takes no weak memory.",
            || pop_and_free(true).to_value(),
        ),
        FILE.showing("pop-and-free").good(
            "treiber-late-free",
            Expected::Clean,
            "The nodes are freed when both threads are done.",
            || pop_and_free(false).to_value(),
        ),
        MARKED.showing("insert").bad(
            "marked-list-relaxed-insert",
            "marked-list-release-insert",
            Bug::Panic("a node without a key"),
            "Links the new node with Relaxed instead of Release: who comes by finds no key in it.",
            || insert(Relaxed).to_value(),
        ),
        MARKED.showing("insert").good(
            "marked-list-release-insert",
            Expected::Clean,
            "Links the new node with Release.",
            || insert(Release).to_value(),
        ),
        MARKED.showing("remove").bad(
            "marked-list-unmarked",
            "marked-list-marked",
            Bug::Panic("the new node is lost"),
            "Unlinks a node without marking it first, so a node that is inserted after it at that moment is lost, even \
             under sequential consistency.",
            || remove(false).to_value(),
        ),
        MARKED.showing("remove").good(
            "marked-list-marked",
            Expected::Clean,
            "Marks the link of the node first, so nothing can be inserted after it.",
            || remove(true).to_value(),
        ),
    ]
}

/// Nodes 1 and 2 (0 is no node), and the top one.
#[derive(Default)]
struct Stack {
    top: AtomicUsize,
    below: [AtomicUsize; 3],
    values: [AtomicI64; 3],
    freed: [AtomicBool; 3],
}

impl Stack {
    /// Gives the node and its value. `reads` sees each node before what is below it is read.
    fn pop(&self, reads: fn(&Stack, usize)) -> Option<usize> {
        loop {
            let top = self.top.load(Acquire);
            if top == 0 {
                return None;
            }
            reads(self, top);
            let below = self.below[top].load(Relaxed);
            if self.top.compare_exchange(top, below, AcqRel, Relaxed).is_ok() {
                return Some(top);
            }
        }
    }
}

// case: push
/// A node is made ready, then it becomes the top.
impl Stack {
    fn push(&self, node: usize, value: i64, links: Ordering) {
        self.values[node].store(value, Relaxed);
        let mut top = self.top.load(Relaxed);
        loop {
            self.below[node].store(top, Relaxed);
            match self.top.compare_exchange(top, node, links, Relaxed) {
                Ok(_) => return,
                Err(found) => top = found,
            }
        }
    }
}

/// One thread pushes 7, the other one pops it if it is there.
fn push(links: Ordering) {
    let pop = |stack: &Stack| {
        if let Some(node) = stack.pop(|_, _| {}) {
            assert!(stack.values[node].load(Relaxed) == 7, "pops what nobody has pushed");
        }
    };
    beside(&Arc::default(), pop, move |stack: &Stack| stack.push(1, 7, links));
}
// end

// case: pop-and-free
/// Two threads pop one of two nodes each, and free it: at once or when both are done.
fn pop_and_free(at_once: bool) {
    let free = |stack: &Stack, node: usize| stack.freed[node].store(true, Relaxed);
    let pop = move |stack: &Stack| {
        let node = stack.pop(|stack, node| assert!(!stack.freed[node].load(Relaxed), "reads a freed node"));
        if let Some(node) = node.filter(|_| at_once) {
            free(stack, node);
        }
        node
    };
    let below = [0, 2, 0].map(AtomicUsize::new);
    let stack = Arc::new(Stack { top: AtomicUsize::new(1), below, ..Stack::default() });
    let (own, other) = beside(&stack, pop, pop);
    if !at_once {
        [own, other].into_iter().flatten().for_each(|node| free(&stack, node));
    }
}
// end

/// A list from node 0. A link is the next node; with [`MARK`], the node that has the link is deleted.
struct List {
    links: [AtomicUsize; 3],
    keys: [AtomicI64; 3],
}

const MARK: usize = 1 << 8;
/// The link of the last node.
const END: usize = 0;

impl List {
    /// Nodes 0 and 1; node 2 is new.
    fn new() -> List {
        List { links: [1, END, END].map(AtomicUsize::new), keys: [1, 10, 0].map(AtomicI64::new) }
    }

    /// Inserts node 2 behind this one, unless it is deleted or another node was inserted.
    fn insert_after(&self, node: usize, key: i64, links: Ordering) -> bool {
        self.keys[2].store(key, Relaxed);
        let next = self.links[node].load(Acquire);
        self.links[2].store(next, Relaxed);
        next < MARK && self.links[node].compare_exchange(next, 2, links, Relaxed).is_ok()
    }

    fn after(&self, node: usize) -> usize {
        self.links[node].load(Acquire) % MARK
    }
}

// case: insert
/// One thread inserts a node, the other one reads all keys.
fn insert(links: Ordering) {
    let read = |list: &List| {
        let mut node = 0;
        while list.after(node) != END {
            node = list.after(node);
            assert!(list.keys[node].load(Relaxed) != 0, "a node without a key");
        }
    };
    beside(&Arc::new(List::new()), read, move |list| list.insert_after(0, 5, links));
}
// end

// case: remove
/// One thread removes node 1, the other one inserts node 2 after it.
fn remove(marks: bool) {
    let unlink = move |list: &List| {
        let next = list.links[1].load(Acquire);
        let marked = !marks || list.links[1].compare_exchange(next, next | MARK, AcqRel, Relaxed).is_ok();
        marked && list.links[0].compare_exchange(1, next, AcqRel, Relaxed).is_ok()
    };
    let list = Arc::new(List::new());
    let (_, inserted) = beside(&list, unlink, |list| list.insert_after(1, 20, Release));
    let found = list.after(0) == 2 || (list.after(0) == 1 && list.after(1) == 2);
    assert!(found || !inserted, "the new node is lost");
}
// end
