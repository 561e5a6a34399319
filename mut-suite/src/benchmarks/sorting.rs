//! Quicksort by a pool of threads (SCTBench, Inspect; the original is FreeBSD's qsort_mt, with 32 elements, 4 threads
//! and ranges of more than 4 elements handed out).

use std::array;

use interloper::Value;

use super::platform::sync::atomic::{AtomicU32, AtomicUsize, Ordering::SeqCst};
use super::platform::sync::{Arc, Condvar, Mutex, MutexGuard};
use super::platform::thread;
use super::{Bug, Program, Suite, done};

const SUITE: Suite = Suite("SCTBench, Inspect");

pub(super) fn programs() -> Vec<Program> {
    vec![
        SUITE.bad(
            "qsort-mt",
            Bug::Panic("not sorted"),
            "A thread of the pool is marked as at work before its lock is taken, so it may begin with the range that \
             it sorted before, or with none, and the new range is never sorted.",
            || run(false),
        ),
        SUITE.good("qsort-mt-marked-last", "The thread is marked under its lock, with its range.", || run(true)),
    ]
}

const THREADS: usize = 4;
/// Only ranges of more elements are handed out.
const LEAST: usize = 4;

/// What the original draws.
const INPUT: [u32; 32] = [
    7, 6, 9, 19, 17, 31, 10, 12, 9, 13, 26, 11, 18, 27, 3, 6, 28, 2, 20, 24, 27, 8, 7, 13, 22, 26, 14, 3, 19, 31, 9, 26,
];

const IDLE: usize = 0;
const AT_WORK: usize = 1;
const TOLD_TO_END: usize = 2;

#[derive(Default)]
struct Worker {
    state: AtomicUsize,
    /// The range that it is to sort.
    start: AtomicUsize,
    length: AtomicUsize,
    lock: Mutex<()>,
    changed: Condvar,
}

struct Pool {
    elements: [AtomicU32; INPUT.len()],
    workers: [Worker; THREADS],
    idle: AtomicUsize,
    /// For who hands work out.
    allocation: Mutex<()>,
    marked_last: bool,
}

fn run(marked_last: bool) -> Value {
    let pool = Arc::new(Pool {
        elements: INPUT.map(AtomicU32::new),
        workers: array::from_fn(|_| Worker::default()),
        idle: AtomicUsize::new(THREADS),
        allocation: Mutex::new(()),
        marked_last,
    });
    let threads: [_; THREADS] = array::from_fn(|number| {
        let pool = pool.clone();
        thread::spawn(move || pool.work(number))
    });
    {
        let first = &pool.workers[0];
        let _state = first.lock.lock().unwrap();
        first.length.store(INPUT.len(), SeqCst);
        first.state.store(AT_WORK, SeqCst);
        pool.idle.fetch_sub(1, SeqCst);
        first.changed.notify_one();
    }
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let sorted: Vec<u32> = pool.elements.iter().map(|element| element.load(SeqCst)).collect();
    assert!(sorted.is_sorted(), "not sorted");
    done()
}

impl Pool {
    fn work(&self, number: usize) {
        let own = &self.workers[number];
        loop {
            let mut state = own.lock.lock().unwrap();
            while own.state.load(SeqCst) == IDLE {
                state = own.changed.wait(state).unwrap();
            }
            drop(state);
            if own.state.load(SeqCst) == TOLD_TO_END {
                return;
            }
            self.sort(own);
            let _allocation = self.allocation.lock().unwrap();
            own.state.store(IDLE, SeqCst);
            if self.idle.fetch_add(1, SeqCst) + 1 == THREADS {
                self.tell_others_to_end(number);
                return;
            }
        }
    }

    fn tell_others_to_end(&self, number: usize) {
        for other in self.workers.iter().enumerate().filter(|(other, _)| *other != number).map(|(_, other)| other) {
            let _state = other.lock.lock().unwrap();
            other.state.store(TOLD_TO_END, SeqCst);
            other.changed.notify_one();
        }
    }

    /// A worker that has nothing to do, with its lock.
    fn allocate(&self) -> Option<(&Worker, MutexGuard<'_, ()>)> {
        let _allocation = self.allocation.lock().unwrap();
        let worker = self.workers.iter().find(|worker| worker.state.load(SeqCst) == IDLE)?;
        self.idle.fetch_sub(1, SeqCst);
        if !self.marked_last {
            worker.state.store(AT_WORK, SeqCst);
        }
        let lock = worker.lock.lock().unwrap();
        if self.marked_last {
            worker.state.store(AT_WORK, SeqCst);
        }
        Some((worker, lock))
    }

    fn sort(&self, own: &Worker) {
        let (mut start, mut length) = (own.start.load(SeqCst), own.length.load(SeqCst));
        loop {
            let Some((left, right)) = self.partition(start, length) else { return };
            let other = if left > LEAST && right > LEAST { self.allocate() } else { None };
            if let Some((worker, _lock)) = other {
                worker.start.store(start, SeqCst);
                worker.length.store(left, SeqCst);
                worker.changed.notify_one();
            } else if left > 0 {
                own.start.store(start, SeqCst);
                own.length.store(left, SeqCst);
                self.sort(own);
            }
            if right == 0 {
                return;
            }
            (start, length) = (start + length - right, right);
        }
    }

    /// Puts what is smaller than an element to the left of it, and what is larger to the right. The lengths of the two
    /// parts; none when the range is sorted.
    fn partition(&self, start: usize, length: usize) -> Option<(usize, usize)> {
        if length < 7 {
            self.sort_by_insertion(start, length);
            return None;
        }
        self.swap(start, self.median(start, start + length / 2, start + length - 1));
        let pivot = self.get(start);
        let (mut low, mut high, mut swapped) = (start + 1, start + length - 1, false);
        loop {
            while low <= high && self.get(low) <= pivot {
                low += 1;
            }
            while low <= high && self.get(high) >= pivot {
                high -= 1;
            }
            if low > high {
                break;
            }
            self.swap(low, high);
            swapped = true;
            (low, high) = (low + 1, high - 1);
        }
        if !swapped {
            self.sort_by_insertion(start, length);
            return None;
        }
        self.swap(start, high);
        Some((high - start, start + length - low))
    }

    fn median(&self, a: usize, b: usize, c: usize) -> usize {
        let (x, y, z) = (self.get(a), self.get(b), self.get(c));
        let larger_of_first = if x < y { (a, b, x, y) } else { (b, a, y, x) };
        let (low, high, least, most) = larger_of_first;
        if z >= most {
            high
        } else if z <= least {
            low
        } else {
            c
        }
    }

    fn sort_by_insertion(&self, start: usize, length: usize) {
        for next in start + 1..start + length {
            let mut at = next;
            while at > start && self.get(at - 1) > self.get(at) {
                self.swap(at - 1, at);
                at -= 1;
            }
        }
    }

    fn get(&self, index: usize) -> u32 {
        self.elements[index].load(SeqCst)
    }

    fn swap(&self, a: usize, b: usize) {
        let (x, y) = (self.get(a), self.get(b));
        self.elements[a].store(y, SeqCst);
        self.elements[b].store(x, SeqCst);
    }
}
