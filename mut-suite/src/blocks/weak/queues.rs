//! A ring buffer, the queue of Michael and Scott, and the deque of Chase and Lev.

use interloper::ToValue;

use super::platform::beside;
use super::platform::sync::Arc;
use super::platform::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering, fence};
use super::{Bug, Expected, Family, Program};

use Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

const FILE: Family = Family::new("L. Lamport, TSE 1977", include_str!("queues.rs")).weak_memory();
const DEQUE: Family = FILE.from("N. M. Lê, A. Pop, A. Cohen, F. Zappa Nardelli, PPoPP 2013").showing("deque");
const LINKED: Family = FILE.from("M. M. Michael, M. L. Scott, PODC 1996").showing("linked");

pub(super) fn programs() -> Vec<Program> {
    vec![
        FILE.showing("ring").bad(
            "spsc-ring-relaxed-tail",
            "spsc-ring-release-tail",
            Bug::Panic("takes what nobody has put"),
            "The producer moves the tail with Relaxed instead of Release: the consumer may find the old slot.",
            || ring(Relaxed).to_value(),
        ),
        FILE.showing("ring").good("spsc-ring-release-tail", Expected::Clean, "Moves the tail with Release.", || {
            ring(Release).to_value()
        }),
        DEQUE.bad(
            "chase-lev-pop-unfenced",
            "chase-lev-fenced",
            Bug::Panic("taken twice"),
            "The owner makes no SeqCst fence between moving the bottom and reading the top: a thief takes the same \
             element.",
            || deque(false, true).to_value(),
        ),
        DEQUE.bad(
            "chase-lev-steal-unfenced",
            "chase-lev-fenced",
            Bug::Panic("taken twice"),
            "The thief makes no SeqCst fence between reading the top and the bottom: it finds the bottom where it was \
             before the owner took the element.",
            || deque(true, false).to_value(),
        ),
        DEQUE.good("chase-lev-fenced", Expected::Clean, "Both fences are there.", || deque(true, true).to_value()),
        LINKED.bad(
            "michael-scott-relaxed-link",
            "michael-scott-release-link",
            Bug::Panic("takes what nobody has put"),
            "Links the new node with Relaxed instead of Release: who follows the link may not find the element.",
            || linked(Relaxed).to_value(),
        ),
        LINKED.good("michael-scott-release-link", Expected::Clean, "Links the new node with Release.", || {
            linked(Release).to_value()
        }),
        LINKED.showing("linked-freed").bad(
            "michael-scott-early-free",
            "michael-scott-late-free",
            Bug::Panic("reads a freed node"),
            "Who takes an element frees the node before it at once, while another thread reads it. It takes no weak \
             memory.",
            || linked_freed(true).to_value(),
        ),
        LINKED.showing("linked-freed").good(
            "michael-scott-late-free",
            Expected::Clean,
            "The nodes are freed when both threads are done.",
            || linked_freed(false).to_value(),
        ),
        LINKED.showing("linked-reused").bad(
            "michael-scott-aba",
            "michael-scott-tagged",
            Bug::Panic("taken twice"),
            "Nodes are used again. One thread has read the head, A, and the node after it, B; the other one takes the \
             element of B, puts another one into A, and takes that too. The exchange finds A at the head as before, and \
             the element of B is taken again. It takes no weak memory.",
            || linked_reused(0).to_value(),
        ),
        LINKED.showing("linked-reused").good(
            "michael-scott-tagged",
            Expected::Clean,
            "The head is counted, so that the exchange fails when it was moved meanwhile.",
            || linked_reused(1).to_value(),
        ),
    ]
}

// case: ring
/// One thread moves the tail, one the head.
#[derive(Default)]
struct Ring {
    slots: [AtomicI64; 2],
    head: AtomicUsize,
    tail: AtomicUsize,
}

impl Ring {
    fn push(&self, value: i64, moves: Ordering) -> bool {
        let tail = self.tail.load(Relaxed);
        if tail - self.head.load(Acquire) == self.slots.len() {
            return false;
        }
        self.slots[tail % self.slots.len()].store(value, Relaxed);
        self.tail.store(tail + 1, moves);
        true
    }

    fn pop(&self) -> Option<i64> {
        let head = self.head.load(Relaxed);
        if head == self.tail.load(Acquire) {
            return None;
        }
        let value = self.slots[head % self.slots.len()].load(Relaxed);
        self.head.store(head + 1, Release);
        Some(value)
    }
}

/// One thread puts 7 twice, the other one takes twice.
fn ring(moves: Ordering) {
    let take = |ring: &Ring| {
        for _ in 0..2 {
            assert!(ring.pop() != Some(0), "takes what nobody has put");
        }
    };
    let put = move |ring: &Ring| {
        ring.push(7, moves);
        ring.push(7, moves);
    };
    beside(&Arc::default(), take, put);
}
// end

// case: deque
/// Two elements, of which the owner takes from the bottom, and thieves from the top.
struct Deque {
    top: AtomicUsize,
    bottom: AtomicUsize,
    taken: [AtomicBool; 2],
}

impl Deque {
    fn pop(&self, fenced: bool) -> Option<usize> {
        let bottom = self.bottom.load(Relaxed) - 1;
        self.bottom.store(bottom, Relaxed);
        if fenced {
            fence(SeqCst);
        }
        let top = self.top.load(Relaxed);
        if top < bottom {
            return Some(bottom);
        }
        let won = top == bottom && self.top.compare_exchange(top, top + 1, SeqCst, Relaxed).is_ok();
        self.bottom.store(bottom + 1, Relaxed);
        won.then_some(bottom)
    }

    fn steal(&self, fenced: bool) -> Option<usize> {
        let top = self.top.load(Acquire);
        if fenced {
            fence(SeqCst);
        }
        let there = top < self.bottom.load(Acquire);
        (there && self.top.compare_exchange(top, top + 1, SeqCst, Relaxed).is_ok()).then_some(top)
    }

    fn take(&self, element: Option<usize>) {
        if let Some(element) = element {
            assert!(!self.taken[element].swap(true, Relaxed), "taken twice");
        }
    }
}

/// The owner pops once, a thief steals twice.
fn deque(pop_fenced: bool, steal_fenced: bool) {
    let deque = Arc::new(Deque { top: AtomicUsize::new(0), bottom: AtomicUsize::new(2), taken: Default::default() });
    let steal = move |deque: &Deque| {
        deque.take(deque.steal(steal_fenced));
        deque.take(deque.steal(steal_fenced));
    };
    beside(&deque, move |deque| deque.take(deque.pop(pop_fenced)), steal);
}
// end

/// Nodes 1 to 3 (0 is no node), of which the head and what comes before it is no element.
struct Linked {
    head: AtomicUsize,
    tail: AtomicUsize,
    next: [AtomicUsize; 4],
    values: [AtomicI64; 4],
    freed: [AtomicBool; 4],
}

impl Linked {
    /// So many elements, behind node 1.
    fn new(elements: usize) -> Linked {
        let last = 1 + elements;
        Linked {
            head: AtomicUsize::new(1),
            tail: AtomicUsize::new(last),
            next: [0, 1, 2, 3].map(|node| AtomicUsize::new(if (1..last).contains(&node) { node + 1 } else { 0 })),
            values: Default::default(),
            freed: Default::default(),
        }
    }

    fn next(&self, node: usize) -> usize {
        assert!(!self.freed[node].load(Relaxed), "reads a freed node");
        self.next[node].load(Acquire)
    }
}

// case: linked
/// An element goes into a new node behind the tail; the head moves when one is taken.
impl Linked {
    /// Puts an element in a new node.
    fn enqueue(&self, node: usize, value: i64, links: Ordering) {
        self.values[node].store(value, Relaxed);
        loop {
            let tail = self.tail.load(Acquire);
            let linked = self.next[tail].compare_exchange(0, node, links, Acquire);
            let _ = self.tail.compare_exchange(tail, linked.map_or_else(|next| next, |_| node), Release, Relaxed);
            if linked.is_ok() {
                return;
            }
        }
    }

    fn dequeue(&self) -> Option<i64> {
        loop {
            let head = self.head.load(Acquire);
            let next = self.next[head].load(Acquire);
            if next == 0 {
                return None;
            }
            if self.head.compare_exchange(head, next, AcqRel, Relaxed).is_ok() {
                return Some(self.values[next].load(Relaxed));
            }
        }
    }
}

/// One thread puts 7, the other one takes it if it is there.
fn linked(links: Ordering) {
    let take = |queue: &Linked| assert!(queue.dequeue() != Some(0), "takes what nobody has put");
    beside(&Arc::new(Linked::new(0)), take, move |queue| queue.enqueue(2, 7, links));
}
// end

// case: linked-freed
/// Who takes an element gets a node to free.
impl Linked {
    /// Takes an element, and gives the node that is not needed any more.
    fn dequeue_node(&self) -> Option<usize> {
        loop {
            let head = self.head.load(Acquire);
            let next = self.next(head);
            if next == 0 {
                return None;
            }
            if self.head.compare_exchange(head, next, AcqRel, Relaxed).is_ok() {
                return Some(head);
            }
        }
    }
}

/// Two threads take one of two elements each.
fn linked_freed(at_once: bool) {
    let free = |queue: &Linked, node: usize| queue.freed[node].store(true, Relaxed);
    let take = move |queue: &Linked| {
        let node = queue.dequeue_node();
        if let Some(node) = node.filter(|_| at_once) {
            free(queue, node);
        }
        node
    };
    let queue = Arc::new(Linked::new(2));
    let (own, other) = beside(&queue, take, take);
    if !at_once {
        [own, other].into_iter().flatten().for_each(|node| free(&queue, node));
    }
}
// end

// case: linked-reused
/// The head is a node, and a count of its changes.
const COUNT: usize = 1 << 8;

impl Linked {
    /// Takes an element, and gives the node that may be used again, and the element. Each change counts `tag`: 0 or 1.
    fn dequeue_counted(&self, tag: usize) -> Option<(usize, i64)> {
        loop {
            let head = self.head.load(Acquire);
            let node = head % COUNT;
            let next = self.next[node].load(Acquire);
            if next == 0 {
                return None;
            }
            let element = self.values[next].load(Relaxed);
            let moved = (head / COUNT + tag) * COUNT + next;
            if self.head.compare_exchange(head, moved, AcqRel, Relaxed).is_ok() {
                return Some((node, element));
            }
        }
    }
}

/// One thread takes the only element, if it is there; the other one does so too, puts another one into the node that it got,
/// and takes one again. Gives the elements that were taken.
fn linked_reused(tag: usize) -> Vec<i64> {
    let take_put_and_take = move |queue: &Linked| {
        let first = queue.dequeue_counted(tag);
        let Some((node, element)) = first else { return vec![] };
        queue.next[node].store(0, Relaxed);
        queue.enqueue(node, 2, Release);
        let second = queue.dequeue_counted(tag).map(|(_, element)| element);
        [Some(element), second].into_iter().flatten().collect()
    };
    let queue = Linked::new(1);
    queue.values[2].store(1, Relaxed);
    let (own, others) = beside(&Arc::new(queue), move |queue| queue.dequeue_counted(tag), take_put_and_take);
    let taken: Vec<i64> = own.map(|(_, element)| element).into_iter().chain(others).collect();
    assert!(taken.iter().filter(|element| **element == 1).count() < 2, "taken twice");
    taken
}
// end
