//! `Condvar`.

use std::fmt;
use std::panic::Location;
use std::sync::{LockResult, PoisonError};
use std::time::Duration;

use super::mutex::MutexGuard;
use crate::control::{self, Mirror};
use crate::runtime::{self, Count, Handle, ObjectKind, Place, Wakes, Woken};
use crate::time::Instant;

/// Mirrors [`std::sync::Condvar`].
///
/// Under control a notification wakes a waiter of the run's choice, and a time-out passes when nothing else can happen.
/// A run that is free to do so wakes a waiter without a reason, or lets a time-out pass early.
pub struct Condvar {
    handle: Handle,
    inner: std::sync::Condvar,
}

/// Mirrors [`std::sync::WaitTimeoutResult`].
#[derive(Debug, PartialEq, Eq, Copy, Clone)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// As [`std::sync::WaitTimeoutResult::timed_out`].
    #[must_use]
    pub fn timed_out(&self) -> bool {
        self.0
    }
}

impl Mirror for Condvar {
    const KIND: ObjectKind = ObjectKind::Condvar;
    const OWNS: bool = false;

    #[inline]
    fn handle(&self) -> &Handle {
        &self.handle
    }
}

impl Condvar {
    /// As [`std::sync::Condvar::new`].
    #[must_use]
    #[inline]
    pub const fn new() -> Condvar {
        Condvar { handle: Handle::new(), inner: std::sync::Condvar::new() }
    }

    /// As [`std::sync::Condvar::wait`].
    ///
    /// # Errors
    /// When the mutex is poisoned.
    #[track_caller]
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        self.wait_at_most(guard, None, Location::caller()).0
    }

    /// As [`std::sync::Condvar::wait_while`].
    ///
    /// # Errors
    /// When the mutex is poisoned.
    #[track_caller]
    pub fn wait_while<'a, T, F>(&self, mut guard: MutexGuard<'a, T>, mut condition: F) -> LockResult<MutexGuard<'a, T>>
    where
        F: FnMut(&mut T) -> bool,
    {
        while condition(&mut *guard) {
            guard = self.wait(guard)?;
        }
        Ok(guard)
    }

    /// As [`std::sync::Condvar::wait_timeout_ms`].
    ///
    /// # Errors
    /// When the mutex is poisoned.
    #[track_caller]
    #[deprecated(since = "1.6.0", note = "replaced by `std::sync::Condvar::wait_timeout`")]
    pub fn wait_timeout_ms<'a, T>(&self, guard: MutexGuard<'a, T>, ms: u32) -> LockResult<(MutexGuard<'a, T>, bool)> {
        let result = self.wait_timeout(guard, Duration::from_millis(u64::from(ms)));
        let convert = |(guard, result): (_, WaitTimeoutResult)| (guard, !result.timed_out());
        result.map(convert).map_err(|error| PoisonError::new(convert(error.into_inner())))
    }

    /// As [`std::sync::Condvar::wait_timeout`].
    ///
    /// # Errors
    /// When the mutex is poisoned.
    #[track_caller]
    pub fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        dur: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let (guard, result) = self.wait_at_most(guard, Some(dur), Location::caller());
        match guard {
            Ok(guard) => Ok((guard, result)),
            Err(error) => Err(PoisonError::new((error.into_inner(), result))),
        }
    }

    /// As [`std::sync::Condvar::wait_timeout_while`].
    ///
    /// # Errors
    /// When the mutex is poisoned.
    #[track_caller]
    pub fn wait_timeout_while<'a, T, F>(
        &self,
        mut guard: MutexGuard<'a, T>,
        dur: Duration,
        mut condition: F,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)>
    where
        F: FnMut(&mut T) -> bool,
    {
        let start = Instant::now();
        let mut left = dur;
        loop {
            if !condition(&mut *guard) {
                return Ok((guard, WaitTimeoutResult(false)));
            }
            // The virtual clock goes exactly to the end of the time, and then stands still.
            if left.is_zero() {
                return Ok((guard, WaitTimeoutResult(true)));
            }
            guard = self.wait_timeout(guard, left)?.0;
            left = dur.saturating_sub(start.elapsed());
        }
    }

    /// As [`std::sync::Condvar::notify_one`].
    #[inline]
    #[track_caller]
    pub fn notify_one(&self) {
        self.notify(Count::One, Location::caller());
        self.inner.notify_one();
    }

    /// As [`std::sync::Condvar::notify_all`].
    #[inline]
    #[track_caller]
    pub fn notify_all(&self) {
        self.notify(Count::All, Location::caller());
        self.inner.notify_all();
    }

    #[inline]
    fn notify(&self, count: Count, location: Place) {
        runtime::with(|current| {
            current.runtime().notify(control::here(&current, self).1, count, location);
        });
    }

    fn wait_at_most<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        timeout: Option<Duration>,
        location: Place,
    ) -> (LockResult<MutexGuard<'a, T>>, WaitTimeoutResult) {
        let lock = runtime::with(|current| guard.held().and_then(|held| held.lock_in(current.execution()))).flatten();
        // Without a lock in the model (it was taken outside the run, say) the task waits on the real lock.
        let Some(lock) = lock else { return self.wait_really(guard, timeout) };
        let (guard, woken) = guard.wait_outside(|| {
            runtime::with(|current| {
                let (_, queue) = control::here(&current, self);
                current.runtime().wait(queue, lock, timeout, Wakes::AlsoUnasked, location)
            })
        });
        (guard, WaitTimeoutResult(woken == Some(Woken::TimedOut)))
    }

    fn wait_really<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        timeout: Option<Duration>,
    ) -> (LockResult<MutexGuard<'a, T>>, WaitTimeoutResult) {
        let (guard, timed_out) = guard.wait_inner(|inner| match timeout {
            None => (self.inner.wait(inner).unwrap_or_else(PoisonError::into_inner), false),
            Some(timeout) => {
                crate::time::note_real();
                let result = self.inner.wait_timeout(inner, timeout).unwrap_or_else(PoisonError::into_inner);
                (result.0, result.1.timed_out())
            }
        });
        (guard, WaitTimeoutResult(timed_out))
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Condvar").finish_non_exhaustive()
    }
}

impl Default for Condvar {
    fn default() -> Condvar {
        Condvar::new()
    }
}
