//! A Treiber stack and a work-stealing queue, both with one word that is compared and exchanged.

use interloper::ToValue;

use super::platform::sync::Arc;
use super::platform::sync::atomic::{AtomicI64, Ordering::SeqCst};
use super::platform::{atomic, beside};
use super::{Bug, Expected, Family, Program};

const FILE: Family = Family::new("R. K. Treiber, 1986", include_str!("stacks.rs"));
const STEALING: Family = FILE.from("D. Chase, Y. Lev, SPAA 2005");

pub(super) fn programs() -> Vec<Program> {
    vec![
        FILE.showing("treiber-stack").bad(
            "treiber-stack-aba",
            "treiber-stack-tagged",
            Bug::NotSerialisable,
            "A stack whose nodes are used again. One thread has read the top, A, and what is below it, B; the other \
             pops A and B and pushes A. The exchange finds A on top as before, and makes B the top, which is taken.",
            || treiber_stack(0).to_value(),
        ),
        FILE.showing("treiber-stack").good(
            "treiber-stack-tagged",
            Expected::Error,
            "The top is counted, so that the exchange fails when it was changed meanwhile, and the operation starts \
             again: it is interrupted, without consequences.",
            || treiber_stack(1).to_value(),
        ),
        STEALING.bad(
            "work-stealing-queue-unannounced",
            "work-stealing-queue",
            Bug::NotSerialisable,
            "The owner looks for thieves before it moves the tail: a thief comes between the two, and both take the \
             last element.",
            || work_stealing(Deque::pop_unannounced).to_value(),
        ),
        STEALING.good(
            "work-stealing-queue",
            Expected::Error,
            "The owner moves the tail, then looks for thieves, and races with them for the last element by an \
             exchange. A thief that comes between the two finds one element less.",
            || work_stealing(Deque::pop).to_value(),
        ),
    ]
}

// case: treiber-stack
/// Nodes 1 and 2 (0 means no node), and the top one together with a count of its changes.
struct Stack {
    top: AtomicI64,
    below: [AtomicI64; 3],
    /// How much a change counts: 0 or 1.
    tag: i64,
}

const TAG: i64 = 1 << 8;

impl Stack {
    /// Node 1 on node 2.
    fn new(tag: i64) -> Stack {
        Stack { top: AtomicI64::new(1), below: [0, 2, 0].map(AtomicI64::new), tag }
    }

    fn exchange(&self, top: i64, node: i64) -> bool {
        let changed = (top / TAG + self.tag) * TAG + node;
        self.top.compare_exchange(top, changed, SeqCst, SeqCst).is_ok()
    }

    fn pop(&self) -> i64 {
        atomic("pop", || {
            loop {
                let top = self.top.load(SeqCst);
                let node = top % TAG;
                if node == 0 || self.exchange(top, self.below[node as usize].load(SeqCst)) {
                    return node;
                }
            }
        })
    }

    fn push(&self, node: i64) {
        atomic("push", || {
            loop {
                let top = self.top.load(SeqCst);
                self.below[node as usize].store(top % TAG, SeqCst);
                if self.exchange(top, node) {
                    return;
                }
            }
        });
    }

    /// The nodes that are there when nobody else does anything.
    fn nodes(&self) -> Vec<i64> {
        let below = |node: &i64| Some(self.below[*node as usize].load(SeqCst));
        let top = self.top.load(SeqCst) % TAG;
        std::iter::successors(Some(top), below).take_while(|node| *node != 0).collect()
    }
}

/// What the one thread pops, what the other one pops twice before it pushes back the first, and what is left.
fn treiber_stack(tag: i64) -> (i64, (i64, i64), Vec<i64>) {
    let stack = Arc::new(Stack::new(tag));
    let (own, other) = beside(&stack, Stack::pop, |stack| {
        let (first, second) = (stack.pop(), stack.pop());
        if first != 0 {
            stack.push(first);
        }
        (first, second)
    });
    (own, other, stack.nodes())
}
// end

// case: work-stealing-queue
/// The owner takes from the tail, thieves take from the head.
struct Deque {
    elements: [i64; 2],
    head: AtomicI64,
    tail: AtomicI64,
}

impl Deque {
    fn new() -> Deque {
        Deque { elements: [7, 8], head: AtomicI64::new(0), tail: AtomicI64::new(2) }
    }

    fn take_head(&self, head: i64) -> bool {
        self.head.compare_exchange(head, head + 1, SeqCst, SeqCst).is_ok()
    }

    fn pop(&self) -> Option<i64> {
        atomic("pop", || {
            let last = self.tail.load(SeqCst) - 1;
            self.tail.store(last, SeqCst);
            let head = self.head.load(SeqCst);
            if head < last {
                return Some(self.elements[last as usize]);
            }
            let taken = head == last && self.take_head(head);
            self.tail.store(last + 1, SeqCst);
            taken.then(|| self.elements[last as usize])
        })
    }

    fn steal(&self) -> Option<i64> {
        atomic("steal", || {
            let head = self.head.load(SeqCst);
            let there = head < self.tail.load(SeqCst);
            (there && self.take_head(head)).then(|| self.elements[head as usize])
        })
    }
}

/// What the owner pops in two operations, and a thief steals in one.
fn work_stealing(pop: fn(&Deque) -> Option<i64>) -> ([Option<i64>; 2], Option<i64>) {
    let deque = Arc::new(Deque::new());
    beside(&deque, move |deque| [pop(deque), pop(deque)], Deque::steal)
}
// end

// case: work-stealing-queue-unannounced
/// Looks at the head, then moves the tail.
impl Deque {
    fn pop_unannounced(&self) -> Option<i64> {
        atomic("pop", || {
            let last = self.tail.load(SeqCst) - 1;
            if self.head.load(SeqCst) > last {
                return None;
            }
            self.tail.store(last, SeqCst);
            Some(self.elements[last as usize])
        })
    }
}
// end
