//! `Mutex` and its guard.

use std::fmt;
use std::mem::needs_drop;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

use super::poisoning::{Hold, Poison};
use crate::control::{self, Attempt, Held, Mirror};
use crate::runtime::{Handle, Mode, ObjectKind};

/// Mirrors [`std::sync::Mutex`].
///
/// Under control, locking is a step that is enabled while the lock is free; trying to lock and unlocking are steps.
pub struct Mutex<T: ?Sized> {
    handle: Handle,
    poison: Poison,
    /// Its own poisoning is not looked at.
    inner: std::sync::Mutex<T>,
}

/// Mirrors [`std::sync::MutexGuard`].
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct MutexGuard<'a, T: ?Sized + 'a> {
    hold: Hold<'a>,
    inner: std::sync::MutexGuard<'a, T>,
    lock: &'a Mutex<T>,
}

// SAFETY: a shared guard gives out shared references to the value alone; its reference to the mutex is used by value.
unsafe impl<T: ?Sized + Sync> Sync for MutexGuard<'_, T> {}

impl<T: ?Sized> Mirror for Mutex<T> {
    const KIND: ObjectKind = ObjectKind::Mutex;
    const OWNS: bool = needs_drop::<T>();

    #[inline]
    fn handle(&self) -> &Handle {
        &self.handle
    }
}

impl<T> Mutex<T> {
    /// As [`std::sync::Mutex::new`].
    #[inline]
    pub const fn new(t: T) -> Mutex<T> {
        Mutex { handle: Handle::new(), poison: Poison::new(), inner: std::sync::Mutex::new(t) }
    }
}

impl<T: ?Sized> Mutex<T> {
    /// As [`std::sync::Mutex::lock`].
    ///
    /// # Errors
    /// When another user of the mutex panicked while holding it.
    // Each return behind a switch of stacks is predicted wrongly: the fewer the better.
    #[inline(always)]
    #[track_caller]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
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

    /// As [`std::sync::Mutex::is_poisoned`].
    #[inline]
    pub fn is_poisoned(&self) -> bool {
        control::value(self).poison.get()
    }

    /// As [`std::sync::Mutex::clear_poison`].
    #[inline]
    pub fn clear_poison(&self) {
        control::value(self).poison.clear();
    }

    /// As [`std::sync::Mutex::into_inner`].
    ///
    /// # Errors
    /// When another user of the mutex panicked while holding it.
    pub fn into_inner(self) -> LockResult<T>
    where
        T: Sized,
    {
        let value = self.inner.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.poison.check(value)
    }

    /// As [`std::sync::Mutex::get_mut`].
    ///
    /// # Errors
    /// When another user of the mutex panicked while holding it.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        let value = self.inner.get_mut().unwrap_or_else(PoisonError::into_inner);
        self.poison.check(value)
    }

    #[inline]
    fn lock_inner(&self) -> std::sync::MutexGuard<'_, T> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[inline]
    fn guard<'a>(&'a self, inner: std::sync::MutexGuard<'a, T>, held: Option<Held>) -> LockResult<MutexGuard<'a, T>> {
        self.poison.check(MutexGuard { hold: Hold::new(&self.poison, held), inner, lock: self })
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
        let MutexGuard { hold, inner, lock } = self;
        let (inner, result) = wait(inner);
        (lock.poison.check(MutexGuard { hold, inner, lock }), result)
    }

    /// Gives the real lock back while `wait` waits in the model.
    pub(super) fn wait_outside<R>(self, wait: impl FnOnce() -> R) -> (LockResult<MutexGuard<'a, T>>, R) {
        let MutexGuard { mut hold, inner, lock } = self;
        // Should `wait` unwind, then the lock is not held.
        let held = hold.held.take();
        drop(inner);
        let result = wait();
        hold.held = held;
        (lock.poison.check(MutexGuard { hold, inner: lock.lock_inner(), lock }), result)
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.inner
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.inner
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T> From<T> for Mutex<T> {
    fn from(t: T) -> Self {
        Mutex::new(t)
    }
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Mutex<T> {
        Mutex::new(T::default())
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut d = f.debug_struct("Mutex");
        match self.try_lock() {
            Ok(guard) => d.field("data", &&*guard),
            Err(TryLockError::Poisoned(error)) => d.field("data", &&**error.get_ref()),
            Err(TryLockError::WouldBlock) => d.field("data", &"<locked>"),
        };
        d.field("poisoned", &self.is_poisoned());
        d.finish_non_exhaustive()
    }
}
