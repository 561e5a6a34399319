//! Methods that are atomic in their own program, which lacks some operations.
//!
//! Each method is safe as long as the program lacks these operations; its twin is safe whatever operations are added.

use std::sync::atomic::Ordering::{Relaxed, Release};

use interloper::MethodUnderTest;
use interloper::collections::{ArrayQueue, AtomicU64, DashMap, SegQueue};

use super::{EVERYDAY, boxed};
use crate::Case;
use crate::source::Family;

const FILE: Family = Family::new(EVERYDAY, include_str!("guarded.rs"));

pub(super) fn cases() -> Vec<Case> {
    vec![
        FILE.modular(
            "contains-then-get",
            "get-once",
            "Asks for a key and gets it: safe while nothing is removed.",
            || boxed(MethodUnderTest::new("color", DashMap::new, color_checked).arguments([7]).without("remove")),
        ),
        FILE.good("get-once", "Gets a key, if it is there.", || {
            boxed(MethodUnderTest::new("color", DashMap::new, color).arguments([7]))
        }),
        FILE.modular(
            "intern-in-growing-table",
            "figure-12-ii",
            "Stores unless there is a value, and reads it again: safe while nothing is removed or overwritten.",
            || {
                let method = MethodUnderTest::new("intern", DashMap::new, intern).arguments([7]);
                boxed(method.without("remove").without("insert"))
            },
        ),
        FILE.modular(
            "single-consumer-pop",
            "pop",
            "Takes a job out of a queue that was not empty: safe while no other thread takes any.",
            || boxed(MethodUnderTest::new("next_job", SegQueue::<u64>::new, next_job).without("pop")),
        ),
        FILE.modular(
            "single-producer-push",
            "bounded-push",
            "Pushes into a queue that was not full: safe while no other thread pushes.",
            || boxed(MethodUnderTest::new("submit", || ArrayQueue::new(2), submit).arguments([5]).without("push")),
        ),
        FILE.modular(
            "single-consumer-drain",
            "drain-by-taking",
            "Takes all elements, one by one: safe while no other thread takes any.",
            || boxed(MethodUnderTest::new("drain", SegQueue::<u64>::new, drain).without("pop")),
        ),
        FILE.modular(
            "single-writer-sequence",
            "id-fetch-add",
            "Advances a sequence by a load and a store: safe while no other thread writes.",
            || {
                let method = MethodUnderTest::new("advance", AtomicU64::default, advance);
                boxed(method.without("store").without("compare_exchange"))
            },
        ),
    ]
}

// case: contains-then-get
/// The color of a tile, if it has one.
fn color_checked(colors: &DashMap<u64, u64>, tile: u64) -> Option<u64> {
    if !colors.contains_key(&tile) {
        return None;
    }
    Some(*colors.get(&tile).expect("tiles keep a color"))
}
// end

// case: get-once
/// The color of a tile, if it has one.
fn color(colors: &DashMap<u64, u64>, tile: u64) -> Option<u64> {
    colors.get(&tile).map(|color| *color)
}
// end

// case: intern-in-growing-table
/// The number of a word.
fn intern(words: &DashMap<u64, u64>, word: u64) -> u64 {
    words.entry(word).or_insert(word * 2);
    *words.get(&word).expect("words stay")
}
// end

// case: single-consumer-pop
/// The next job, if there is one.
fn next_job(jobs: &SegQueue<u64>, (): ()) -> Option<u64> {
    if jobs.is_empty() {
        return None;
    }
    Some(jobs.pop().expect("this is the only consumer"))
}
// end

// case: single-producer-push
/// Submits a job unless the queue is full; says whether it was submitted.
fn submit(jobs: &ArrayQueue<u64>, job: u64) -> bool {
    if jobs.is_full() {
        return false;
    }
    jobs.push(job).expect("this is the only producer");
    true
}
// end

// case: single-consumer-drain
/// Takes all letters.
fn drain(letters: &SegQueue<u64>, (): ()) -> Vec<u64> {
    let mut taken = Vec::new();
    while let Some(letter) = letters.pop() {
        taken.push(letter);
    }
    taken
}
// end

// case: single-writer-sequence
/// Advances the sequence number of the log; gives the one before.
fn advance(sequence: &AtomicU64, (): ()) -> u64 {
    let number = sequence.load(Relaxed);
    sequence.store(number + 1, Release);
    number
}
// end
