//! How a task waits under control.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use interloper_std::runtime::{Count, Current, ObjectId, ObjectKind, Operation};

/// A wait.
pub(crate) struct Token {
    /// The queue in which the task waits. Each wait has its own, which identifies the wait.
    pub(crate) queue: ObjectId,
    /// Something has changed since the task looked.
    changed: AtomicBool,
    /// One more than the case of a selection that a task has met, or 0.
    met: AtomicUsize,
}

impl Token {
    pub(crate) fn new(current: &Current<'_>) -> Arc<Token> {
        let queue = current.runtime().register(ObjectKind::Channel);
        Arc::new(Token { queue, changed: AtomicBool::new(false), met: AtomicUsize::new(0) })
    }

    /// Lets the task look again: part of the current step.
    pub(crate) fn wake(&self, current: &Current<'_>) {
        self.changed.store(true, Ordering::Relaxed);
        current.runtime().wake(self.queue, Count::All);
    }

    /// Another task meets this one at the case, and no task can do so again. Returns false if a task has done so
    /// already.
    pub(crate) fn meet(&self, case: usize) -> bool {
        self.met.compare_exchange(0, case + 1, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// The case at which a task has met this one.
    pub(crate) fn met(&self) -> Option<usize> {
        self.met.load(Ordering::Relaxed).checked_sub(1)
    }

    /// Waits before the step `then`, unless something has changed meanwhile.
    pub(crate) fn block(&self, current: &Current<'_>, left: Option<Duration>, then: Operation) {
        if !self.changed.swap(false, Ordering::Relaxed) {
            current.runtime().block(self.queue, left, then);
            self.changed.store(false, Ordering::Relaxed);
        }
    }
}

/// A point of the virtual clock.
#[derive(Clone, Copy)]
pub(crate) struct Deadline(Option<Duration>);

impl Deadline {
    pub(crate) fn after(current: &Current<'_>, timeout: Option<Duration>) -> Deadline {
        Deadline(timeout.map(|timeout| current.runtime().now().saturating_add(timeout)))
    }

    /// The time until then; `None` if there is no end.
    pub(crate) fn left(self, current: &Current<'_>) -> Option<Duration> {
        self.0.map(|deadline| deadline.saturating_sub(current.runtime().now()))
    }

    pub(crate) fn has_passed(self, current: &Current<'_>) -> bool {
        self.left(current) == Some(Duration::ZERO)
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
