//! Uses of a collection of a controlled run by a thread that nobody controls: one that the method under test has made.

use std::panic::Location;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Names one controlled run of this process; handles remember it, so that a stale one is caught. Never 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunId(pub(crate) u64);

impl RunId {
    /// A run that no handle belongs to yet.
    pub fn new() -> RunId {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        RunId(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

impl Default for RunId {
    fn default() -> Self {
        RunId::new()
    }
}

/// Where the first such use of each run was.
static FIRST: Mutex<Vec<(RunId, &'static Location<'static>)>> = Mutex::new(Vec::new());

/// How many runs there are in it, and were.
static RUNS: AtomicU64 = AtomicU64::new(0);

/// Runs that are remembered at once: whoever asks for a run has it forgotten, but not everybody asks.
const MOST: usize = 64;

fn first() -> MutexGuard<'static, Vec<(RunId, &'static Location<'static>)>> {
    FIRST.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A thread that is not the one of `run` uses a collection of it.
#[cold]
pub(crate) fn note(run: RunId, location: &'static Location<'static>) {
    let mut first = first();
    if first.iter().all(|(known, _)| *known != run) {
        if first.len() == MOST {
            first.remove(0);
        }
        first.push((run, location));
        RUNS.fetch_add(1, Ordering::Release);
    }
}

/// A number that changes when a run has a stray use for the first time: quicker to read than [`take`].
#[inline]
pub fn runs() -> u64 {
    RUNS.load(Ordering::Acquire)
}

/// Where a thread that is not under control used a collection of `run` first. It is forgotten then.
pub fn take(run: RunId) -> Option<&'static Location<'static>> {
    let mut first = first();
    let index = first.iter().position(|(known, _)| *known == run)?;
    Some(first.remove(index).1)
}
