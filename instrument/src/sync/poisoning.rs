//! Poisoning. The unwinding task decides: the OS thread that runs all tasks may count a panic of another task.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LockResult, PoisonError};

use crate::control::{self, Held};
use crate::plain;

/// Whether a lock is poisoned.
#[derive(Debug)]
pub(super) struct Poison(AtomicBool);

impl Poison {
    pub(super) const fn new() -> Poison {
        Poison(AtomicBool::new(false))
    }

    #[inline]
    pub(super) fn get(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub(super) fn clear(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    /// `value` as the result of taking a lock.
    #[inline]
    pub(super) fn check<T>(&self, value: T) -> LockResult<T> {
        if self.get() { Err(PoisonError::new(value)) } else { Ok(value) }
    }
}

/// What a guard that may poison its lock does when it is dropped. The guard drops this before the real guard.
#[derive(Debug)]
pub(super) struct Hold<'a> {
    poison: &'a Poison,
    /// Whether the thread was unwinding when it took the lock: then it does not poison the lock.
    panicking: bool,
    pub(super) held: Option<Held>,
}

impl<'a> Hold<'a> {
    // Not inlined into announced programs: see `atomic/common.rs`.
    #[cfg_attr(not(interloper_announced), inline)]
    #[cfg_attr(interloper_announced, inline(never))]
    pub(super) fn new(poison: &'a Poison, held: Option<Held>) -> Hold<'a> {
        Hold { poison, panicking: control::panicking(), held }
    }
}

impl Drop for Hold<'_> {
    #[cfg_attr(not(interloper_announced), inline)]
    #[cfg_attr(interloper_announced, inline(never))]
    fn drop(&mut self) {
        if !self.panicking && control::panicking() {
            self.poison.0.store(true, Ordering::Relaxed);
        }
        if let Some(held) = self.held {
            held.release();
            // The real guard goes next. Nobody comes between: see `Release`.
            plain::call_begins();
        }
    }
}
