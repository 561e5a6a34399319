//! Queues, stacks and priority queues.

use std::collections::{BinaryHeap, VecDeque};

use interloper::MethodUnderTest;
use interloper::collections::{ArrayQueue, Mutex, SegQueue};

use super::{EVERYDAY, boxed};
use crate::Case;
use crate::source::Family;

const FILE: Family = Family::new(EVERYDAY, include_str!("queues.rs"));

pub(super) fn cases() -> Vec<Case> {
    vec![
        FILE.bad(
            "is-empty-then-pop",
            "pop",
            "Takes a job out of a queue that was not empty a moment ago, and panics when it is now.",
            || boxed(MethodUnderTest::new("next_job", SegQueue::new, next_job_unwrap)),
        ),
        FILE.good("pop", "Takes a job, if there is one.", || {
            boxed(MethodUnderTest::new("next_job", SegQueue::new, next_job))
        }),
        FILE.bad(
            "peek-then-pop",
            "peek-and-pop",
            "Looks whether the first job is due, and takes the first job, which may be another by then.",
            || {
                boxed(
                    MethodUnderTest::new("due_job", Mutex::default, due_job_two_sections).arguments([7]).values([5, 9]),
                )
            },
        ),
        FILE.good("peek-and-pop", "Takes the first job if it is due, under one lock.", || {
            boxed(MethodUnderTest::new("due_job", Mutex::default, due_job).arguments([7]).values([5, 9]))
        }),
        FILE.bad(
            "bounded-push-by-length",
            "bounded-push",
            "Pushes when there was room a moment ago: the queue grows beyond its limit.",
            || boxed(MethodUnderTest::new("submit", SegQueue::new, submit_by_length).arguments([5])),
        ),
        FILE.good("bounded-push", "Pushes into a queue that has a limit of its own.", || {
            boxed(MethodUnderTest::new("submit", || ArrayQueue::new(LIMIT), submit_bounded).arguments([5]))
        }),
        FILE.bad(
            "evict-then-push",
            "force-push",
            "Makes room in a full ring and expects it to be there still.",
            || boxed(MethodUnderTest::new("log", || ArrayQueue::new(LIMIT), log_evicting).arguments([5])),
        ),
        FILE.good("force-push", "Pushes into a ring, the oldest entry making way.", || {
            boxed(MethodUnderTest::new("log", || ArrayQueue::new(LIMIT), log_forced).arguments([5]))
        }),
        FILE.bad(
            "drain-by-popping",
            "drain-by-taking",
            "Takes all elements, one by one: another thread gets some of them.",
            || boxed(MethodUnderTest::new("drain", SegQueue::new, drain_by_popping)),
        ),
        FILE.good("drain-by-taking", "Takes all there is, under one lock.", || {
            boxed(MethodUnderTest::new("drain", Mutex::default, drain_by_taking))
        }),
        FILE.bad(
            "pop-then-push-back",
            "peek-under-the-lock",
            "Takes the most urgent job and puts it back when it is not urgent enough: others miss it meanwhile.",
            || {
                boxed(
                    MethodUnderTest::new("urgent_job", Mutex::default, urgent_job_put_back)
                        .arguments([5])
                        .values([3, 6]),
                )
            },
        ),
        FILE.good("peek-under-the-lock", "Takes the most urgent job if it is urgent enough, under one lock.", || {
            boxed(MethodUnderTest::new("urgent_job", Mutex::default, urgent_job).arguments([5]).values([3, 6]))
        }),
    ]
}

/// How many elements a queue may hold.
const LIMIT: usize = 2;

// case: is-empty-then-pop
/// The next job, if there is one.
fn next_job_unwrap(jobs: &SegQueue<u64>, (): ()) -> Option<u64> {
    if jobs.is_empty() {
        return None;
    }
    Some(jobs.pop().unwrap())
}
// end

// case: pop
/// The next job, if there is one.
fn next_job(jobs: &SegQueue<u64>, (): ()) -> Option<u64> {
    jobs.pop()
}
// end

// case: peek-then-pop
/// Takes the first job if it is due by `now`.
fn due_job_two_sections(jobs: &Mutex<VecDeque<u64>>, now: u64) -> Option<u64> {
    let due = jobs.lock().unwrap().front().is_some_and(|time| *time <= now);
    if due { jobs.lock().unwrap().pop_front() } else { None }
}
// end

// case: peek-and-pop
/// Takes the first job if it is due by `now`.
fn due_job(jobs: &Mutex<VecDeque<u64>>, now: u64) -> Option<u64> {
    let mut jobs = jobs.lock().unwrap();
    let due = jobs.front().is_some_and(|time| *time <= now);
    if due { jobs.pop_front() } else { None }
}
// end

// case: bounded-push-by-length
/// Submits a job unless the queue is full; says whether it was submitted.
fn submit_by_length(jobs: &SegQueue<u64>, job: u64) -> bool {
    if jobs.len() >= LIMIT {
        return false;
    }
    jobs.push(job);
    true
}
// end

// case: bounded-push
/// Submits a job unless the queue is full; says whether it was submitted.
fn submit_bounded(jobs: &ArrayQueue<u64>, job: u64) -> bool {
    jobs.push(job).is_ok()
}
// end

// case: evict-then-push
/// Adds a line to the log, which keeps the latest ones.
fn log_evicting(lines: &ArrayQueue<u64>, line: u64) {
    if lines.is_full() {
        lines.pop();
    }
    lines.push(line).expect("there is room");
}
// end

// case: force-push
/// Adds a line to the log, which keeps the latest ones.
fn log_forced(lines: &ArrayQueue<u64>, line: u64) {
    lines.force_push(line);
}
// end

// case: drain-by-popping
/// Takes all letters.
fn drain_by_popping(letters: &SegQueue<u64>, (): ()) -> Vec<u64> {
    let mut taken = Vec::new();
    while let Some(letter) = letters.pop() {
        taken.push(letter);
    }
    taken
}
// end

// case: drain-by-taking
/// Takes all letters.
fn drain_by_taking(letters: &Mutex<VecDeque<u64>>, (): ()) -> Vec<u64> {
    letters.lock().unwrap().drain(..).collect()
}
// end

// case: pop-then-push-back
/// Takes the most urgent job if it is at least as urgent as asked.
fn urgent_job_put_back(jobs: &Mutex<BinaryHeap<u64>>, least: u64) -> Option<u64> {
    let job = jobs.lock().unwrap().pop()?;
    if job < least {
        jobs.lock().unwrap().push(job);
        return None;
    }
    Some(job)
}
// end

// case: peek-under-the-lock
/// Takes the most urgent job if it is at least as urgent as asked.
fn urgent_job(jobs: &Mutex<BinaryHeap<u64>>, least: u64) -> Option<u64> {
    let mut jobs = jobs.lock().unwrap();
    if jobs.peek().is_some_and(|job| *job >= least) { jobs.pop() } else { None }
}
// end
