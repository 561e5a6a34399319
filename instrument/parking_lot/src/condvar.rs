//! `Condvar`.

use std::fmt;
use std::sync::{Mutex, MutexGuard as StdGuard, PoisonError};
use std::time::Duration;

use interloper_std::runtime::{self, Count, Handle, ObjectKind, Place, Woken};
use interloper_std::time::Instant;

use crate::MutexGuard;
use crate::model::{here, until};
use crate::raw_mutex::RawMutex;

/// Mirrors [`parking_lot::WaitTimeoutResult`].
#[derive(Debug, PartialEq, Eq, Copy, Clone)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// As [`parking_lot::WaitTimeoutResult::timed_out`].
    #[inline]
    pub fn timed_out(self) -> bool {
        self.0
    }
}

/// Mirrors [`parking_lot::Condvar`].
///
/// Under control a notification wakes a waiter of the run's choice, and a time-out passes when nothing else can.
pub struct Condvar {
    handle: Handle,
    /// The tasks that wait under control.
    waiting: Mutex<Waiting>,
    inner: parking_lot::Condvar,
}

/// The waiting tasks, all of them with the same mutex.
struct Waiting {
    mutex: usize,
    tasks: u32,
}

impl Condvar {
    /// As [`parking_lot::Condvar::new`].
    #[inline]
    pub const fn new() -> Condvar {
        let waiting = Mutex::new(Waiting { mutex: 0, tasks: 0 });
        Condvar { handle: Handle::new(), waiting, inner: parking_lot::Condvar::new() }
    }

    /// As [`parking_lot::Condvar::notify_one`].
    #[inline]
    #[track_caller]
    pub fn notify_one(&self) -> bool {
        let woken = self.notify(Count::One, here());
        // At most one task is woken, in the model or outside.
        woken > 0 || self.inner.notify_one()
    }

    /// As [`parking_lot::Condvar::notify_all`].
    #[inline]
    #[track_caller]
    pub fn notify_all(&self) -> usize {
        self.notify(Count::All, here()) + self.inner.notify_all()
    }

    /// As [`parking_lot::Condvar::wait`].
    ///
    /// # Panics
    /// When another thread waits with another mutex.
    #[inline]
    #[track_caller]
    pub fn wait<T: ?Sized>(&self, mutex_guard: &mut MutexGuard<'_, T>) {
        self.wait_at_most(mutex_guard, None, here());
    }

    /// As [`parking_lot::Condvar::wait_until`].
    ///
    /// # Panics
    /// When another thread waits with another mutex.
    #[inline]
    #[track_caller]
    pub fn wait_until<T: ?Sized>(&self, mutex_guard: &mut MutexGuard<'_, T>, timeout: Instant) -> WaitTimeoutResult {
        self.wait_at_most(mutex_guard, Some(until(timeout)), here())
    }

    /// As [`parking_lot::Condvar::wait_for`].
    ///
    /// # Panics
    /// When another thread waits with another mutex.
    #[inline]
    #[track_caller]
    pub fn wait_for<T: ?Sized>(&self, mutex_guard: &mut MutexGuard<'_, T>, timeout: Duration) -> WaitTimeoutResult {
        self.wait_at_most(mutex_guard, Some(timeout), here())
    }

    /// As [`parking_lot::Condvar::wait_while`].
    ///
    /// # Panics
    /// When another thread waits with another mutex.
    #[track_caller]
    pub fn wait_while<T, F>(&self, mutex_guard: &mut MutexGuard<'_, T>, mut condition: F)
    where
        T: ?Sized,
        F: FnMut(&mut T) -> bool,
    {
        while condition(mutex_guard) {
            self.wait(mutex_guard);
        }
    }

    /// As [`parking_lot::Condvar::wait_while_until`].
    ///
    /// # Panics
    /// When another thread waits with another mutex.
    #[track_caller]
    pub fn wait_while_until<T, F>(
        &self,
        mutex_guard: &mut MutexGuard<'_, T>,
        mut condition: F,
        timeout: Instant,
    ) -> WaitTimeoutResult
    where
        T: ?Sized,
        F: FnMut(&mut T) -> bool,
    {
        let mut result = WaitTimeoutResult(false);
        while !result.timed_out() && condition(mutex_guard) {
            result = self.wait_until(mutex_guard, timeout);
        }
        result
    }

    /// As [`parking_lot::Condvar::wait_while_for`].
    ///
    /// # Panics
    /// When another thread waits with another mutex.
    #[track_caller]
    pub fn wait_while_for<T: ?Sized, F>(
        &self,
        mutex_guard: &mut MutexGuard<'_, T>,
        condition: F,
        timeout: Duration,
    ) -> WaitTimeoutResult
    where
        F: FnMut(&mut T) -> bool,
    {
        match Instant::now().checked_add(timeout) {
            Some(deadline) => self.wait_while_until(mutex_guard, condition, deadline),
            None => {
                self.wait_while(mutex_guard, condition);
                WaitTimeoutResult(false)
            }
        }
    }

    fn wait_at_most<T: ?Sized>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        timeout: Option<Duration>,
        location: Place,
    ) -> WaitTimeoutResult {
        // SAFETY: the mutex is not unlocked here, except for as long as the guard is borrowed.
        let raw = unsafe { MutexGuard::mutex(guard).raw() };
        let woken = self.join(raw).and_then(|joined| {
            let woken = raw.wait(&self.handle, timeout, location);
            // The notifying task counts the tasks that it wakes.
            if woken == Some(Woken::Notified) {
                std::mem::forget(joined);
            }
            woken
        });
        // Without a lock in the model (it was taken outside the run, say) the task waits on the real lock.
        WaitTimeoutResult(woken.map_or_else(|| self.wait_really(raw, timeout), |woken| woken == Woken::TimedOut))
    }

    fn wait_really(&self, raw: &RawMutex, timeout: Option<Duration>) -> bool {
        raw.wait_really(|guard| match timeout {
            None => {
                self.inner.wait(guard);
                false
            }
            Some(timeout) => self.inner.wait_for(guard, timeout).timed_out(),
        })
    }

    fn waiting(&self) -> StdGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a waiting task, if this is a controlled run.
    fn join(&self, raw: &RawMutex) -> Option<Joined<'_>> {
        runtime::with(|current| {
            let fresh = self.handle.resolve(&current, ObjectKind::Condvar).fresh;
            let mut waiting = self.waiting();
            if fresh || waiting.tasks == 0 {
                *waiting = Waiting { mutex: raw.address(), tasks: 0 };
            }
            let same = waiting.mutex == raw.address();
            waiting.tasks += u32::from(same);
            drop(waiting);
            assert!(same, "attempted to use a condition variable with more than one mutex");
            Joined(self)
        })
    }

    fn notify(&self, count: Count, location: Place) -> usize {
        let woken = runtime::with(|current| {
            let queue = self.handle.object(&current, ObjectKind::Condvar);
            let woken = current.runtime().notify(queue, count, location);
            let mut waiting = self.waiting();
            waiting.tasks = waiting.tasks.saturating_sub(woken);
            woken as usize
        });
        woken.unwrap_or(0)
    }
}

/// A task that waits until this value is dropped.
struct Joined<'a>(&'a Condvar);

impl Drop for Joined<'_> {
    fn drop(&mut self) {
        let mut waiting = self.0.waiting();
        waiting.tasks = waiting.tasks.saturating_sub(1);
    }
}

impl Default for Condvar {
    #[inline]
    fn default() -> Condvar {
        Condvar::new()
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Condvar { .. }")
    }
}
