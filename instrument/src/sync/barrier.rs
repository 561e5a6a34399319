//! `Barrier`.

use std::fmt;
use std::panic::Location;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::control::{self, Mirror};
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

impl Mirror for Barrier {
    const KIND: ObjectKind = ObjectKind::Barrier;
    const OWNS: bool = false;

    fn handle(&self) -> &Handle {
        &self.handle
    }
}

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
        let (runtime, fresh) = (current.runtime(), self.handle.known(current).is_none());
        let (here, object) = control::here(current, self);
        let operation = |action| Operation { object, action, location };
        // In a static it is the execution's own; elsewhere another execution may have left it behind.
        if fresh && std::ptr::eq(here, self) {
            here.waiting.store(0, Ordering::Relaxed);
        }
        runtime.step(operation(Action::ReadWrite));
        let waiting = here.waiting.load(Ordering::Relaxed) + 1;
        if waiting < self.threads {
            here.waiting.store(waiting, Ordering::Relaxed);
            runtime.block(object, None, operation(Action::Read));
            false
        } else {
            here.waiting.store(0, Ordering::Relaxed);
            runtime.wake(object, Count::All);
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
