//! Uses of a collection of a controlled run by a thread outside control, which the method under test has made.

use std::panic::Location;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Names one controlled run of this process; handles remember it, so that a stale one is caught. Never 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunId(pub(crate) u64);

impl RunId {
    /// A run without handles.
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

/// The place of the first such use of each run.
static FIRST: Mutex<Vec<(RunId, &'static Location<'static>)>> = Mutex::new(Vec::new());

/// How many runs have ever been in the list.
static RUNS: AtomicU64 = AtomicU64::new(0);

/// The most runs in the list: taking a run removes it, but not every run is taken.
const MOST: usize = 64;

fn first() -> MutexGuard<'static, Vec<(RunId, &'static Location<'static>)>> {
    FIRST.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A thread other than the one of `run` uses a collection of it.
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

/// Where a thread outside control first used a collection of `run`. The run is then removed from the list.
pub fn take(run: RunId) -> Option<&'static Location<'static>> {
    let mut first = first();
    let index = first.iter().position(|(known, _)| *known == run)?;
    Some(first.remove(index).1)
}
