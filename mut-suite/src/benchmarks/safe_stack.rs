//! SafeStack: a lock-free stack of array indices with an ABA problem that takes three threads and at least five
//! preemptions at the right places. D. Vyukov posted it as a challenge to model checkers; SCTBench and the papers on
//! searches use it as their hardest program.

use super::platform::sync::Arc;
use super::platform::sync::atomic::{AtomicI64, Ordering::SeqCst};
use super::platform::thread;
use super::{Bug, Program, Suite, done};

const SUITE: Suite = Suite("D. Vyukov, SafeStack");

pub(super) fn programs() -> Vec<Program> {
    vec![SUITE.bad(
        "safestack",
        Bug::Panic("another thread has the same element"),
        "Three threads pop an index, use its element alone, and push the index, each twice. A pop marks an element as \
         taken before it knows that it is still the head, and pushes that come in between make the mark worthless.",
        run,
    )]
}

const NONE: i64 = -1;

struct Item {
    value: AtomicI64,
    next: AtomicI64,
}

struct SafeStack {
    head: AtomicI64,
    count: AtomicI64,
    items: [Item; 3],
}

fn run() -> interloper::Value {
    let item = |next| Item { value: AtomicI64::new(0), next: AtomicI64::new(next) };
    let items = [item(1), item(2), item(NONE)];
    let stack = Arc::new(SafeStack { head: AtomicI64::new(0), count: AtomicI64::new(3), items });
    let threads = [0, 1, 2].map(|thread| {
        let stack = stack.clone();
        thread::spawn(move || (0..2).for_each(|_| stack.use_one(thread)))
    });
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    done()
}

impl SafeStack {
    fn use_one(&self, thread: i64) {
        let taken = loop {
            match self.pop() {
                Some(taken) => break taken,
                None => thread::yield_now(),
            }
        };
        let value = &self.item(taken).value;
        value.store(thread, SeqCst);
        assert!(value.load(SeqCst) == thread, "another thread has the same element");
        self.push(taken);
    }

    fn pop(&self) -> Option<i64> {
        while self.count.load(SeqCst) > 1 {
            let head = self.head.load(SeqCst);
            let next = self.item(head).next.swap(NONE, SeqCst);
            if next == NONE {
                thread::yield_now();
            } else if self.head.compare_exchange(head, next, SeqCst, SeqCst).is_ok() {
                self.count.fetch_sub(1, SeqCst);
                return Some(head);
            } else {
                self.item(head).next.swap(next, SeqCst);
            }
        }
        None
    }

    fn push(&self, index: i64) {
        let mut head = self.head.load(SeqCst);
        loop {
            self.item(index).next.store(head, SeqCst);
            match self.head.compare_exchange(head, index, SeqCst, SeqCst) {
                Ok(_) => break,
                Err(now) => head = now,
            }
        }
        self.count.fetch_add(1, SeqCst);
    }

    fn item(&self, index: i64) -> &Item {
        &self.items[index as usize]
    }
}
