//! The work-stealing queue of CHESS (SCTBench, Chess), after the protocol of Cilk-5 (M. Frigo, C. E. Leiserson and
//! K. H. Randall, PLDI 1998): the owner pushes and pops at the tail, others steal at the head under a lock.

use interloper::Value;

use super::platform::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use super::platform::sync::{Arc, Mutex};
use super::platform::thread;
use super::{Bug, Program, Suite, done};

const SUITE: Suite = Suite("SCTBench, Chess");

const LOST: Bug = Bug::Panic("an item was not taken exactly once");

pub(super) fn programs() -> Vec<Program> {
    vec![
        SUITE.bad(
            "interlocked-work-steal-queue",
            LOST,
            "A push finds room where a thief is about to take the last free slot's old item, and overwrites it. The \
             lock of the thieves is a word that they exchange.",
            || run(true, 0),
        ),
        SUITE.bad("work-steal-queue", LOST, "The same with a mutex.", || run(false, 0)),
        SUITE.good("work-steal-queue-one-slot-free", "A push always leaves one slot free.", || run(false, 1)),
    ]
}

/// How many items are pushed, and the number of items of the first array.
const ITEMS: usize = 4;
const FIRST: usize = 2;

struct Queue {
    spins: bool,
    busy: AtomicBool,
    lock: Mutex<()>,
    head: AtomicUsize,
    tail: AtomicUsize,
    /// Which of the arrays is in use: each is twice as large as the one before.
    array: AtomicUsize,
    arrays: [Vec<AtomicUsize>; 3],
    /// How many slots a push leaves free.
    reserve: usize,
}

fn run(spins: bool, reserve: usize) -> Value {
    let slots = |number: usize| (0..FIRST << number).map(|_| AtomicUsize::new(0)).collect();
    let queue = Arc::new(Queue {
        spins,
        busy: AtomicBool::new(false),
        lock: Mutex::new(()),
        head: AtomicUsize::new(0),
        tail: AtomicUsize::new(0),
        array: AtomicUsize::new(0),
        arrays: [slots(0), slots(1), slots(2)],
        reserve,
    });
    let items: Arc<[AtomicUsize; ITEMS]> = Arc::new([(); ITEMS].map(|()| AtomicUsize::new(0)));
    let (shared, stolen) = (queue.clone(), items.clone());
    let take = |items: &[AtomicUsize; ITEMS], item: usize| {
        let taken = items[item].load(SeqCst);
        items[item].store(taken + 1, SeqCst);
    };
    let thief = thread::spawn(move || {
        (0..2).for_each(|_| shared.steal().into_iter().for_each(|item| take(&stolen, item)));
    });
    for pair in 0..ITEMS / 2 {
        queue.push(2 * pair);
        queue.push(2 * pair + 1);
        queue.pop().into_iter().for_each(|item| take(&items, item));
    }
    (0..ITEMS / 2).for_each(|_| queue.pop().into_iter().for_each(|item| take(&items, item)));
    thief.join().unwrap();
    let once = items.iter().all(|taken| taken.load(SeqCst) == 1);
    assert!(once, "an item was not taken exactly once");
    done()
}

impl Queue {
    fn steal(&self) -> Option<usize> {
        self.locked(|| {
            let head = read(&self.head);
            write(&self.head, head + 1);
            if head < read(&self.tail) {
                Some(self.slot(head).load(SeqCst))
            } else {
                write(&self.head, head);
                None
            }
        })
    }

    fn pop(&self) -> Option<usize> {
        let tail = read(&self.tail).wrapping_sub(1);
        write(&self.tail, tail);
        if is_below(read(&self.head), tail) {
            return Some(self.slot(tail).load(SeqCst));
        }
        write(&self.tail, tail.wrapping_add(1));
        self.locked(|| self.pop_alone())
    }

    fn pop_alone(&self) -> Option<usize> {
        let tail = read(&self.tail).wrapping_sub(1);
        write(&self.tail, tail);
        let mut found = None;
        if is_below(read(&self.head), tail) {
            found = Some(self.slot(tail).load(SeqCst));
        } else {
            write(&self.tail, tail.wrapping_add(1));
        }
        if !is_below(read(&self.head), tail) {
            write(&self.head, 0);
            write(&self.tail, 0);
            found = None;
        }
        found
    }

    fn push(&self, item: usize) {
        let tail = read(&self.tail);
        let size = self.size();
        if tail < read(&self.head) + size - self.reserve {
            self.slot(tail).store(item, SeqCst);
            write(&self.tail, tail + 1);
        } else {
            self.locked(|| self.push_alone(item));
        }
    }

    fn push_alone(&self, item: usize) {
        let (head, size) = (read(&self.head), self.size());
        let count = read(&self.tail).wrapping_sub(head);
        let first = head % size;
        write(&self.head, first);
        write(&self.tail, first + count);
        if count >= size - 1 {
            let (old, new) = (self.array.load(SeqCst), self.array.load(SeqCst) + 1);
            for index in 0..count {
                let moved = self.arrays[old][(first + index) % size].load(SeqCst);
                self.arrays[new][index].store(moved, SeqCst);
            }
            self.array.store(new, SeqCst);
            write(&self.head, 0);
            write(&self.tail, count);
        }
        let tail = read(&self.tail);
        self.slot(tail).store(item, SeqCst);
        write(&self.tail, tail + 1);
    }

    fn size(&self) -> usize {
        FIRST << self.array.load(SeqCst)
    }

    fn slot(&self, index: usize) -> &AtomicUsize {
        let array = &self.arrays[self.array.load(SeqCst)];
        &array[index % array.len()]
    }

    fn locked<R>(&self, body: impl FnOnce() -> R) -> R {
        if !self.spins {
            let _section = self.lock.lock().unwrap();
            return body();
        }
        while self.busy.swap(true, SeqCst) {
            thread::yield_now();
        }
        let result = body();
        self.busy.store(false, SeqCst);
        result
    }
}

/// The original reads by a compare-exchange and writes by an exchange.
fn read(place: &AtomicUsize) -> usize {
    place.compare_exchange(0, 0, SeqCst, SeqCst).unwrap_or_else(|value| value)
}

fn write(place: &AtomicUsize, value: usize) {
    place.swap(value, SeqCst);
}

/// Whether the head is not behind a tail, which may be one below 0.
fn is_below(head: usize, tail: usize) -> bool {
    head as isize <= tail as isize
}
