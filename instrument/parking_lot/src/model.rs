//! A raw lock as the runtime knows it.

use std::panic::Location;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use interloper_std::runtime::{
    self, Action, Count, Current, ExecutionId, Handle, Mode, ObjectId, ObjectKind, Operation, Place, TaskId, Wakes,
    Woken,
};

/// The lock under control. Outside of a controlled run its methods do nothing and say so with `None`.
pub(crate) struct Model {
    kind: ObjectKind,
    handle: Handle,
    /// The holds: a raw lock has no guard that could remember them.
    holds: Mutex<Vec<Hold>>,
    /// How many tasks wait with a time-out.
    timed: AtomicU32,
    /// The queue in which they wait.
    queue: Handle,
}

/// How a task holds the lock.
#[derive(Clone, Copy)]
struct Hold {
    execution: ExecutionId,
    task: TaskId,
    mode: Mode,
    location: Place,
    /// The task waits on a condition, or was unwound there: it has released the lock.
    given_back: bool,
}

impl Model {
    pub(crate) const fn new(kind: ObjectKind) -> Model {
        let (handle, queue) = (Handle::new(), Handle::new());
        Model { kind, handle, holds: Mutex::new(Vec::new()), timed: AtomicU32::new(0), queue }
    }

    /// Takes the lock.
    #[inline]
    pub(crate) fn acquire(&self, mode: Mode, location: Place) {
        runtime::with(|current| {
            current.runtime().acquire(self.object(&current), mode, location);
            self.remember(&current, mode, location);
        });
    }

    /// Takes the lock shared, even if a writer waits.
    #[inline]
    pub(crate) fn acquire_recursive(&self, location: Place) {
        runtime::with(|current| {
            current.runtime().acquire_recursive(self.object(&current), location);
            self.remember(&current, Mode::Shared, location);
        });
    }

    /// Takes the lock if it is free.
    #[inline]
    pub(crate) fn try_acquire(&self, mode: Mode, location: Place) -> Option<bool> {
        runtime::with(|current| self.try_acquire_here(&current, mode, location))
    }

    /// Takes the lock if it becomes free in time.
    pub(crate) fn acquire_for(&self, mode: Mode, timeout: Duration, location: Place) -> Option<bool> {
        runtime::with(|current| {
            self.repeat(&current, timeout, location, || self.try_acquire_here(&current, mode, location))
        })
    }

    /// Takes the lock shared if no writer has it.
    #[inline]
    pub(crate) fn try_acquire_recursive(&self, location: Place) -> Option<bool> {
        runtime::with(|current| self.try_acquire_recursive_here(&current, location))
    }

    /// Takes the lock shared if no writer has it in time.
    pub(crate) fn acquire_recursive_for(&self, timeout: Duration, location: Place) -> Option<bool> {
        runtime::with(|current| {
            self.repeat(&current, timeout, location, || self.try_acquire_recursive_here(&current, location))
        })
    }

    fn try_acquire_recursive_here(&self, current: &Current<'_>, location: Place) -> bool {
        let free = current.runtime().try_acquire_recursive(self.object(current), location);
        if free {
            self.remember(current, Mode::Shared, location);
        }
        free
    }

    fn try_acquire_here(&self, current: &Current<'_>, mode: Mode, location: Place) -> bool {
        let free = current.runtime().try_acquire(self.object(current), mode, location);
        if free {
            self.remember(current, mode, location);
        }
        free
    }

    /// The lock was taken here, but the real one is held outside the run: releases it within the same step.
    pub(crate) fn undo(&self, mode: Mode) {
        runtime::with(|current| {
            self.forget(&current, mode);
            current.runtime().let_go(self.object(&current), mode);
        });
    }

    /// Releases the lock. `really` releases the real lock, unless that has happened already.
    #[inline]
    pub(crate) fn release(&self, mode: Mode, really: impl FnOnce()) {
        /// Runs even if the step unwinds.
        struct Finally<F: FnOnce()>(Option<F>);
        impl<F: FnOnce()> Drop for Finally<F> {
            fn drop(&mut self) {
                if let Some(really) = self.0.take() {
                    really();
                }
            }
        }
        let mut really = Finally(Some(really));
        runtime::with(|current| match self.forget(&current, mode) {
            Some(hold) if hold.given_back => really.0 = None,
            Some(hold) => {
                current.runtime().release(self.object(&current), mode, hold.location);
                self.wake(&current);
            }
            // The task was unwound while it took the lock again. Otherwise the lock was taken outside the run.
            None if current.runtime().has_ended() => really.0 = None,
            None => {}
        });
    }

    /// Changes how the task holds the lock.
    pub(crate) fn convert(&self, from: Mode, to: Mode, location: Place) {
        runtime::with(|current| {
            if self.holds_here(&current, from) {
                current.runtime().convert(self.object(&current), from, to, location);
                self.change(&current, from, to, location);
            }
        });
    }

    /// Changes how the task holds the lock if the other holders admit it.
    pub(crate) fn try_convert(&self, from: Mode, to: Mode, location: Place) -> Option<bool> {
        runtime::with(|current| self.try_convert_here(&current, from, to, location)).flatten()
    }

    /// Changes how the task holds the lock if the other holders admit it in time.
    pub(crate) fn convert_for(&self, from: Mode, to: Mode, timeout: Duration, location: Place) -> Option<bool> {
        runtime::with(|current| {
            self.holds_here(&current, from).then(|| {
                self.repeat(&current, timeout, location, || {
                    self.try_convert_here(&current, from, to, location).unwrap_or(false)
                })
            })
        })
        .flatten()
    }

    fn try_convert_here(&self, current: &Current<'_>, from: Mode, to: Mode, location: Place) -> Option<bool> {
        self.holds_here(current, from).then(|| {
            let admitted = current.runtime().try_convert(self.object(current), from, to, location);
            if admitted {
                self.change(current, from, to, location);
            }
            admitted
        })
    }

    /// A step that looks at the lock.
    pub(crate) fn look(&self, location: Place) {
        runtime::with(|current| {
            current.runtime().step(Operation { object: self.object(&current), action: Action::Read, location });
        });
    }

    /// Releases the exclusive lock, waits in the queue of a condition, and takes the lock again. `unlock` and `lock` do
    /// the same to the real lock.
    pub(crate) fn wait(
        &self,
        queue: &Handle,
        timeout: Option<Duration>,
        location: Place,
        (unlock, lock): (impl FnOnce(), impl FnOnce()),
    ) -> Option<Woken> {
        let wait = |current: Current<'_>| {
            if !self.mark(&current, true) {
                return None;
            }
            let queue = queue.object(&current, ObjectKind::Condvar);
            unlock();
            // If this unwinds, the lock stays marked as given back.
            let woken = current.runtime().wait(
                queue,
                (self.object(&current), Mode::Exclusive),
                timeout,
                Wakes::Notified,
                location,
            );
            self.mark(&current, false);
            lock();
            Some(woken)
        };
        runtime::with(wait).flatten()
    }

    /// Repeats an attempt until it succeeds or the time has passed.
    fn repeat(
        &self,
        current: &Current<'_>,
        timeout: Duration,
        location: Place,
        mut attempt: impl FnMut() -> bool,
    ) -> bool {
        struct Waits<'a>(&'a AtomicU32);
        impl Drop for Waits<'_> {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Ordering::Relaxed);
            }
        }
        let runtime = current.runtime();
        let deadline = runtime.now().saturating_add(timeout);
        let look = Operation { object: self.object(current), action: Action::Read, location };
        loop {
            if attempt() {
                return true;
            }
            let left = deadline.saturating_sub(runtime.now());
            if left.is_zero() {
                return false;
            }
            self.timed.fetch_add(1, Ordering::Relaxed);
            let _waits = Waits(&self.timed);
            runtime.block(self.queue.object(current, self.kind), Some(left), look);
        }
    }

    /// Tasks that wait with a time-out look again.
    fn wake(&self, current: &Current<'_>) {
        if self.timed.load(Ordering::Relaxed) > 0 {
            current.runtime().wake(self.queue.object(current, self.kind), Count::All);
        }
    }

    #[inline]
    fn object(&self, current: &Current<'_>) -> ObjectId {
        self.handle.object(current, self.kind)
    }

    fn holds(&self) -> MutexGuard<'_, Vec<Hold>> {
        self.holds.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remember(&self, current: &Current<'_>, mode: Mode, location: Place) {
        let (execution, task) = (current.execution(), current.runtime().task());
        self.holds().push(Hold { execution, task, mode, location, given_back: false });
    }

    fn forget(&self, current: &Current<'_>, mode: Mode) -> Option<Hold> {
        let mut holds = self.holds();
        let position = position(&holds, current, mode)?;
        Some(holds.remove(position))
    }

    fn holds_here(&self, current: &Current<'_>, mode: Mode) -> bool {
        position(&self.holds(), current, mode).is_some()
    }

    fn change(&self, current: &Current<'_>, from: Mode, to: Mode, location: Place) {
        let mut holds = self.holds();
        if let Some(position) = position(&holds, current, from) {
            (holds[position].mode, holds[position].location) = (to, location);
        }
        drop(holds);
        self.wake(current);
    }

    /// Marks whether the exclusive lock is released meanwhile; returns false if the task does not hold it.
    fn mark(&self, current: &Current<'_>, given_back: bool) -> bool {
        let (execution, task) = (current.execution(), current.runtime().task());
        let mut holds = self.holds();
        let hold = holds.iter_mut().rev().find(|hold| {
            (hold.execution, hold.task, hold.mode, hold.given_back) == (execution, task, Mode::Exclusive, !given_back)
        });
        hold.map(|hold| hold.given_back = given_back).is_some()
    }
}

/// The last hold of the running task. Another task than the one that took the guard may release it.
fn position(holds: &[Hold], current: &Current<'_>, mode: Mode) -> Option<usize> {
    let (execution, task) = (current.execution(), current.runtime().task());
    let is_it = |hold: &Hold| hold.execution == execution && hold.mode == mode;
    let own = holds.iter().rposition(|hold| is_it(hold) && hold.task == task);
    own.or_else(|| holds.iter().rposition(|hold| is_it(hold) && !hold.given_back))
}

/// The time until a point in time.
pub(crate) fn until(instant: interloper_std::time::Instant) -> Duration {
    instant.saturating_duration_since(interloper_std::time::Instant::now())
}

/// The place of the caller.
#[track_caller]
pub(crate) fn here() -> Place {
    Location::caller()
}
