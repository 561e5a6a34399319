//! Counts words: threads count into a table that all share, and a worker counts what it gets through a channel.

#[cfg(interloper)]
#[macro_use]
extern crate interloper_std as std;

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::LazyLock;
use std::thread;

use crossbeam::channel;
use parking_lot::Mutex;

static TABLE: LazyLock<Mutex<HashMap<String, u64>>> = LazyLock::new(Mutex::default);
static WORDS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static MINE: Cell<u64> = const { Cell::new(0) };
}

/// How often a word was counted.
pub fn count(word: &str) -> u64 {
    TABLE.lock().get(word).copied().unwrap_or(0)
}

/// How many words were counted by all threads, and by this one.
pub fn totals() -> (u64, u64) {
    (WORDS.load(Ordering::Relaxed), MINE.get())
}

/// Counts a word. Between looking and writing another thread can count the same word.
pub fn record(word: &str) {
    let seen = count(word);
    TABLE.lock().insert(word.to_owned(), seen + 1);
    note();
}

/// Counts a word, under one lock.
pub fn record_atomically(word: &str) {
    *TABLE.lock().entry(word.to_owned()).or_default() += 1;
    note();
}

fn note() {
    WORDS.fetch_add(1, Ordering::Relaxed);
    MINE.set(MINE.get() + 1);
}

/// Counts words in a thread of its own.
pub struct Worker {
    words: channel::Sender<String>,
    thread: thread::JoinHandle<u64>,
}

impl Worker {
    /// Starts a worker.
    pub fn start() -> Worker {
        let (words, received) = channel::bounded::<String>(1);
        let thread = thread::spawn(move || {
            received.iter().for_each(|word| record_atomically(&word));
            MINE.get()
        });
        Worker { words, thread }
    }

    /// Hands it a word.
    pub fn send(&self, word: &str) {
        self.words.send(word.to_owned()).expect("the worker is there");
    }

    /// Waits until it has counted all words, and says how many they were.
    pub fn finish(self) -> u64 {
        drop(self.words);
        self.thread.join().expect("the worker does not panic")
    }
}

#[cfg(all(test, interloper))]
mod tests {
    use super::*;

    fn two(record: fn(&str)) -> u64 {
        let other = thread::spawn(move || record("a"));
        record("a");
        other.join().unwrap();
        assert_eq!(totals(), (2, 1));
        count("a")
    }

    #[interloper::test(expect = "bug")]
    fn a_word_can_be_lost() {
        assert_eq!(two(record), 2);
    }

    #[interloper::test(executions = 1000)]
    fn no_word_is_lost() {
        assert_eq!(two(record_atomically), 2);
    }

    /// The lines of the deadlock that a program comes to: where the lock was taken, and where it is wanted again.
    #[track_caller]
    fn deadlock(program: impl Fn() + Sync) -> [u32; 2] {
        let report = interloper::Checker::new("deadlock").executions(10).check(program).unwrap();
        let found = report.bug.expect("a deadlock").counterexample;
        let deadlock = found.deadlock.clone().unwrap_or_else(|| panic!("{found}"));
        [deadlock.held.location, deadlock.wanted.location].map(|place| {
            let (file, rest) = place.split_once("src/lib.rs:").unwrap_or_else(|| panic!("{place} is not in this file"));
            assert!(!file.contains("registry"), "{place}");
            rest.split(':').next().and_then(|line| line.parse().ok()).expect("a line")
        })
    }

    #[test]
    fn a_guard_of_a_map_is_held_too_long() {
        let first = line!() + 4;
        let program = || {
            let map = dashmap::DashMap::with_shard_amount(2);
            map.insert(7, 70);
            let seen = map.get(&7).expect("it is there");
            map.insert(7, *seen + 1);
        };
        assert_eq!(deadlock(program), [first, first + 1]);
    }

    #[test]
    fn a_mutex_is_locked_twice() {
        let first = line!() + 3;
        let program = || {
            let mutex = Mutex::new(0);
            let guard = mutex.lock();
            *mutex.lock() = *guard;
        };
        assert_eq!(deadlock(program), [first, first + 1]);
    }

    fn with_a_worker(record: fn(&str)) -> u64 {
        let worker = Worker::start();
        worker.send("a");
        record("a");
        assert_eq!(worker.finish(), 1);
        count("a")
    }

    #[interloper::test(expect = "bug")]
    fn a_word_can_be_lost_to_the_worker() {
        assert_eq!(with_a_worker(record), 2);
    }

    #[interloper::test(executions = 1000)]
    fn no_word_is_lost_to_the_worker() {
        assert_eq!(with_a_worker(record_atomically), 2);
    }
}
