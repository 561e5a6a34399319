//! `Barrier`.

use std::fmt;
use std::panic::Location;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::runtime::{self, Action, Count, Current, Handle, ObjectKind, Operation, Place};

/// Mirrors [`std::sync::Barrier`].
pub struct Barrier {
    handle: Handle,
    threads: usize,
    /// How many tasks of the running execution wait.
    waiting: AtomicUsize,
    inner: std::sync::Barrier,
}

/// Mirrors [`std::sync::BarrierWaitResult`].
pub struct BarrierWaitResult(bool);

impl Barrier {
    /// As [`std::sync::Barrier::new`].
    #[must_use]
    #[inline]
    pub const fn new(n: usize) -> Barrier {
        let (waiting, inner) = (AtomicUsize::new(0), std::sync::Barrier::new(n));
        Barrier { handle: Handle::new(), threads: n, waiting, inner }
    }

    /// As [`std::sync::Barrier::wait`].
    #[track_caller]
    pub fn wait(&self) -> BarrierWaitResult {
        let location = Location::caller();
        let leads = runtime::with(|current| self.wait_under_control(&current, location));
        BarrierWaitResult(leads.unwrap_or_else(|| self.inner.wait().is_leader()))
    }

    fn wait_under_control(&self, current: &Current<'_>, location: Place) -> bool {
        let (runtime, resolved) = (current.runtime(), self.handle.resolve(current, ObjectKind::Barrier));
        let operation = |action| Operation { object: resolved.object, action, location };
        if resolved.fresh {
            self.waiting.store(0, Ordering::Relaxed);
        }
        runtime.step(operation(Action::ReadWrite));
        let waiting = self.waiting.load(Ordering::Relaxed) + 1;
        if waiting < self.threads {
            self.waiting.store(waiting, Ordering::Relaxed);
            runtime.block(resolved.object, None, operation(Action::Read));
            false
        } else {
            self.waiting.store(0, Ordering::Relaxed);
            runtime.wake(resolved.object, Count::All);
            true
        }
    }
}

impl BarrierWaitResult {
    /// As [`std::sync::BarrierWaitResult::is_leader`].
    #[must_use]
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Barrier").finish_non_exhaustive()
    }
}

impl fmt::Debug for BarrierWaitResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BarrierWaitResult").field("is_leader", &self.is_leader()).finish()
    }
}
