//! `Mutex` and its guard.

use std::fmt;
use std::mem::needs_drop;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

use super::poisoning::{Hold, Poison};
use super::real::Real;
use crate::control::{self, Attempt, Held, Mirror};
use crate::runtime::calls::{self, Release};
use crate::runtime::{Handle, Mode, ObjectKind};

/// Mirrors [`std::sync::Mutex`].
///
/// Under control, locking is a step that is enabled while the lock is free; trying to lock and unlocking are steps.
pub struct Mutex<T: ?Sized> {
    handle: Handle,
    poison: Poison,
    /// Its own poisoning is ignored.
    inner: std::sync::Mutex<T>,
}

/// Mirrors [`std::sync::MutexGuard`].
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct MutexGuard<'a, T: ?Sized + 'a> {
    hold: Hold<'a>,
    inner: Real<std::sync::MutexGuard<'a, T>>,
    lock: &'a Mutex<T>,
    /// Last, so that the real lock is free when it is said.
    release: Release,
}

// SAFETY: a shared guard gives out only shared references to the value; only a consumed guard uses its reference to the
// mutex.
unsafe impl<T: ?Sized + Sync> Sync for MutexGuard<'_, T> {}

lock!("Mutex", Mutex, "another user of the mutex", try_lock, taken: &"<locked>");
guard!(MutexGuard writes);

impl<T: ?Sized> Mutex<T> {
    /// As [`std::sync::Mutex::lock`].
    ///
    /// # Errors
    /// When another user of the mutex panicked while holding it.
    // The processor mispredicts each return after a switch of stacks: the fewer the better.
    #[inline(always)]
    #[track_caller]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        let _call = calls::enter_object("lock", self);
        let (here, held) = Held::acquire(self, Mode::Exclusive, Location::caller());
        here.guard(here.lock_inner(), held)
    }

    /// As [`std::sync::Mutex::try_lock`].
    ///
    /// # Errors
    /// When the mutex is locked, or another user of it panicked while holding it.
    #[inline]
    #[track_caller]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        let _call = calls::enter_object("try_lock", self);
        let (here, attempt) = Held::try_acquire(self, Mode::Exclusive, Location::caller());
        let held = match attempt {
            Attempt::Uncontrolled => None,
            Attempt::Taken(held) => Some(held),
            Attempt::Busy => return Err(TryLockError::WouldBlock),
        };
        let inner = match here.inner.try_lock() {
            Ok(inner) => inner,
            Err(TryLockError::Poisoned(error)) => error.into_inner(),
            Err(TryLockError::WouldBlock) => {
                held.into_iter().for_each(Held::let_go);
                return Err(TryLockError::WouldBlock);
            }
        };
        Ok(here.guard(inner, held)?)
    }

    #[inline]
    fn lock_inner(&self) -> std::sync::MutexGuard<'_, T> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[inline]
    fn guard<'a>(&'a self, inner: std::sync::MutexGuard<'a, T>, held: Option<Held>) -> LockResult<MutexGuard<'a, T>> {
        self.poison.check(MutexGuard {
            hold: Hold::new(&self.poison, held),
            inner: Real::new(inner),
            lock: self,
            release: Release::of(self),
        })
    }
}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// The lock in the model, if it is held there.
    pub(super) fn held(&self) -> Option<Held> {
        self.hold.held
    }

    /// Lets `wait` wait on the real lock.
    pub(super) fn wait_inner<R>(
        self,
        wait: impl FnOnce(std::sync::MutexGuard<'a, T>) -> (std::sync::MutexGuard<'a, T>, R),
    ) -> (LockResult<MutexGuard<'a, T>>, R) {
        let MutexGuard { hold, inner, lock, release } = self;
        let (inner, result) = wait(inner.into_inner());
        (lock.poison.check(MutexGuard { hold, inner: Real::new(inner), lock, release }), result)
    }

    /// Gives the real lock back while `wait` waits in the model.
    pub(super) fn wait_outside<R>(self, wait: impl FnOnce() -> R) -> (LockResult<MutexGuard<'a, T>>, R) {
        let MutexGuard { mut hold, inner, lock, release } = self;
        // If `wait` unwinds, the lock is not held.
        let held = hold.held.take();
        drop(inner);
        let result = wait();
        hold.held = held;
        (lock.poison.check(MutexGuard { hold, inner: Real::new(lock.lock_inner()), lock, release }), result)
    }
}
