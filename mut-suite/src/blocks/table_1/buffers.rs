//! The buffers of Apache Commons-Collections: wrappers that lock themselves, and go through another buffer by an
//! iterator that knows nothing of locks.

use std::collections::VecDeque;

use interloper::Value;

use super::platform::sync::{Arc, Condvar, Mutex, MutexGuard};
use super::platform::{atomic, beside, thread};
use super::{Bug, Expected, Family, Program, Row, row};

const MARKED: Family = Family::new("AtomFuzzer, Table 1 (Apache Commons-Collections)", include_str!("buffers.rs"));
const FILE: Family = MARKED.critical_sections();

const NO_ELEMENT: Bug = Bug::Panic("NoSuchElementException");

pub(super) fn rows() -> Vec<Row> {
    let blocking = MARKED.bad(
        "blocking-buffer",
        "blocking-buffer-both-locks",
        NO_ELEMENT,
        "addAll goes through another buffer, from which a thread removes: the element that was next is gone. The \
         section notifies, so it is marked as a block; a section that takes single elements and waits is not a block.",
        || blocking_buffer(BlockingBuffer::add_all),
    );
    let bounded = FILE.bad(
        "bounded-fifo-buffer",
        "bounded-fifo-buffer-both-locks",
        NO_ELEMENT,
        "containsAll goes through another buffer, from which a thread removes: the element that was next is gone.",
        || fifo_buffer(Full::Throws, FifoBuffer::contains_all),
    );
    let circular = FILE.bad(
        "circular-fifo-buffer",
        "circular-fifo-buffer-both-locks",
        NO_ELEMENT,
        "containsAll goes through another buffer, whose oldest element makes room for a new one, or is removed.",
        || fifo_buffer(Full::RemovesOldest, FifoBuffer::contains_all),
    );
    vec![
        row("Apache BlockingBuffer", Some(0.64), blocking),
        row("Apache BoundedFifoBuffer", Some(0.73), bounded),
        row("Apache CircularFifoBuffer", Some(0.70), circular),
    ]
}

pub(super) fn twins() -> Vec<Program> {
    let both_locks = FILE.showing("fifo-buffer-both-locks");
    vec![
        MARKED.good(
            "blocking-buffer-both-locks",
            Expected::Clean,
            "addAll holds the lock of the other buffer until it is done.",
            || blocking_buffer(BlockingBuffer::add_all_with_both_locks),
        ),
        both_locks.good(
            "bounded-fifo-buffer-both-locks",
            Expected::Clean,
            "containsAll holds the lock of the other buffer until it is done.",
            || fifo_buffer(Full::Throws, FifoBuffer::contains_all_with_both_locks),
        ),
        both_locks.good(
            "circular-fifo-buffer-both-locks",
            Expected::Clean,
            "containsAll holds the lock of the other buffer until it is done.",
            || fifo_buffer(Full::RemovesOldest, FifoBuffer::contains_all_with_both_locks),
        ),
    ]
}

/// An iterator that takes the lock for each look at the elements, and keeps it for none.
struct Iter<'a> {
    elements: &'a Mutex<VecDeque<i64>>,
    at: usize,
}

impl Iter<'_> {
    fn has_next(&self) -> bool {
        self.at < self.elements.lock().unwrap().len()
    }

    fn next(&mut self) -> i64 {
        self.at += 1;
        *self.elements.lock().unwrap().get(self.at - 1).expect("NoSuchElementException")
    }
}

// case: bounded-fifo-buffer
/// Room for so many elements.
struct FifoBuffer {
    elements: Mutex<VecDeque<i64>>,
    room: usize,
    full: Full,
}

/// What `add` does when there is no room.
#[derive(Clone, Copy)]
enum Full {
    Throws,
    RemovesOldest,
}

impl FifoBuffer {
    fn new(full: Full, elements: &[i64], room: usize) -> FifoBuffer {
        FifoBuffer { elements: Mutex::new(elements.iter().copied().collect()), room, full }
    }

    fn add(&self, element: i64) {
        let mut elements = self.elements.lock().unwrap();
        if elements.len() == self.room {
            match self.full {
                Full::Throws => panic!("BufferOverflowException"),
                Full::RemovesOldest => drop(elements.pop_front()),
            }
        }
        elements.push_back(element);
    }

    fn remove(&self) -> i64 {
        self.elements.lock().unwrap().pop_front().expect("BufferUnderflowException")
    }

    /// `SynchronizedCollection.containsAll`, `AbstractCollection.containsAll`
    fn contains_all(&self, other: &FifoBuffer) -> bool {
        let elements = self.elements.lock().unwrap();
        let mut iter = Iter { elements: &other.elements, at: 0 };
        while iter.has_next() {
            if !elements.contains(&iter.next()) {
                return false;
            }
        }
        true
    }
}
// end

// case: circular-fifo-buffer
/// Two threads ask a buffer of theirs whether it has all elements of a third one, from which another thread removes
/// twice. That one is never empty.
fn fifo_buffer(full: Full, contains_all: fn(&FifoBuffer, &FifoBuffer) -> bool) -> Value {
    let shared = Arc::new(FifoBuffer::new(full, &[1, 2, 3], 3));
    let ask_twice = move |other: &FifoBuffer| {
        let own = FifoBuffer::new(full, &[1, 2, 3, 4], 4);
        contains_all(&own, other);
        contains_all(&own, other);
    };
    let theirs = Arc::clone(&shared);
    let changes = thread::spawn(move || match full {
        Full::Throws => {
            theirs.remove();
            theirs.remove();
            theirs.add(4);
        }
        Full::RemovesOldest => {
            theirs.add(4);
            theirs.remove();
            theirs.remove();
        }
    });
    beside(&shared, ask_twice, ask_twice);
    changes.join().unwrap();
    Value::Unit
}
// end

// case: fifo-buffer-both-locks
/// Holds both locks. A task that needs two takes the lock of its own buffer first.
impl FifoBuffer {
    fn contains_all_with_both_locks(&self, other: &FifoBuffer) -> bool {
        let elements = self.elements.lock().unwrap();
        let other = other.elements.lock().unwrap();
        other.iter().all(|element| elements.contains(element))
    }
}
// end

// case: blocking-buffer
/// A buffer from which who removes waits until there is something.
struct BlockingBuffer {
    elements: Mutex<VecDeque<i64>>,
    added: Condvar,
}

impl BlockingBuffer {
    fn new(elements: &[i64]) -> BlockingBuffer {
        BlockingBuffer { elements: Mutex::new(elements.iter().copied().collect()), added: Condvar::new() }
    }

    fn remove(&self) -> Option<i64> {
        let mut elements: MutexGuard<'_, VecDeque<i64>> = self.elements.lock().unwrap();
        while elements.is_empty() {
            elements = self.added.wait(elements).unwrap();
        }
        elements.pop_front()
    }

    /// `public boolean addAll(Collection c)`
    fn add_all(&self, other: &BlockingBuffer) {
        atomic("addAll", || {
            let mut elements = self.elements.lock().unwrap();
            let mut iter = Iter { elements: &other.elements, at: 0 };
            while iter.has_next() {
                elements.push_back(iter.next());
            }
            self.added.notify_all();
        });
    }
}

/// Two threads add all elements of a buffer to others, twice; a third one removes two of the three, and a fourth one
/// waits for one that was added.
fn blocking_buffer(add_all: fn(&BlockingBuffer, &BlockingBuffer)) -> Value {
    let shared = Arc::new([BlockingBuffer::new(&[]), BlockingBuffer::new(&[1, 2, 3])]);
    let theirs = Arc::clone(&shared);
    let waits = thread::spawn(move || theirs[0].remove());
    let theirs = Arc::clone(&shared);
    let removes = thread::spawn(move || (theirs[1].remove(), theirs[1].remove()));
    let add_twice = move |first: &BlockingBuffer, second: &BlockingBuffer| {
        add_all(first, second);
        add_all(first, second);
    };
    let own = BlockingBuffer::new(&[]);
    beside(&shared, |[first, second]| add_twice(first, second), move |[_, second]| add_twice(&own, second));
    waits.join().unwrap();
    removes.join().unwrap();
    Value::Unit
}
// end

// case: blocking-buffer-both-locks
/// Holds both locks.
impl BlockingBuffer {
    fn add_all_with_both_locks(&self, other: &BlockingBuffer) {
        atomic("addAll", || {
            let mut elements = self.elements.lock().unwrap();
            elements.extend(other.elements.lock().unwrap().iter());
            self.added.notify_all();
        });
    }
}
// end
