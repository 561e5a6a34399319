//! `RwLock` and its guards.

use std::fmt;
use std::mem::needs_drop;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

use super::poisoning::{Hold, Poison};
use super::real::Real;
use crate::control::{self, Attempt, Held, Mirror};
use crate::plain;
use crate::runtime::calls::{self, Release};
use crate::runtime::{Handle, Mode, ObjectKind, Place};

/// Mirrors [`std::sync::RwLock`].
///
/// Under control, locking is a step that is enabled while the lock is free for it; trying to lock and unlocking are
/// steps. Whether a reader gets the lock while a writer waits for it depends on the run, since std leaves that open.
pub struct RwLock<T: ?Sized> {
    handle: Handle,
    poison: Poison,
    /// Its own poisoning is ignored.
    inner: std::sync::RwLock<T>,
}

/// Mirrors [`std::sync::RwLockReadGuard`].
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockReadGuard<'rwlock, T: ?Sized + 'rwlock> {
    _hold: ReadHold,
    inner: Real<std::sync::RwLockReadGuard<'rwlock, T>>,
    /// Last, so that the real lock is free when it is said.
    _release: Release,
}

/// Mirrors [`std::sync::RwLockWriteGuard`].
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockWriteGuard<'rwlock, T: ?Sized + 'rwlock> {
    _hold: Hold<'rwlock>,
    inner: Real<std::sync::RwLockWriteGuard<'rwlock, T>>,
    /// As above.
    _release: Release,
}

/// The lock that stands for `self` here, how it is held in the model, and the guard of the real one.
type Attempted<'a, T, G, E> = Result<(&'a RwLock<T>, Option<Held>, G), TryLockError<E>>;

/// What a guard that cannot poison its lock does when it is dropped.
struct ReadHold(Option<Held>);

impl Drop for ReadHold {
    #[inline]
    fn drop(&mut self) {
        if let Some(held) = self.0 {
            held.release();
            // As for a guard that writes.
            plain::call_begins();
        }
    }
}

lock!("RwLock", RwLock, "a writer", try_read, taken: &format_args!("<locked>"));
guard!(RwLockReadGuard);
guard!(RwLockWriteGuard writes);

impl<T: ?Sized> RwLock<T> {
    /// As [`std::sync::RwLock::read`].
    ///
    /// # Errors
    /// When a writer panicked while holding the lock.
    #[inline]
    #[track_caller]
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        let _call = calls::enter_object("read", self);
        let (here, held) = Held::acquire(self, Mode::Shared, Location::caller());
        let inner = Real::new(here.inner.read().unwrap_or_else(PoisonError::into_inner));
        here.poison.check(RwLockReadGuard { _hold: ReadHold(held), inner, _release: Release::of(self) })
    }

    /// As [`std::sync::RwLock::try_read`].
    ///
    /// # Errors
    /// When a writer holds the lock, or panicked while holding it.
    #[inline]
    #[track_caller]
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        let _call = calls::enter_object("try_read", self);
        let (here, held, inner) = self.attempt(Mode::Shared, Location::caller(), |here| here.inner.try_read())?;
        Ok(here.poison.check(RwLockReadGuard { _hold: ReadHold(held), inner, _release: Release::of(self) })?)
    }

    /// As [`std::sync::RwLock::write`].
    ///
    /// # Errors
    /// When a writer panicked while holding the lock.
    #[inline]
    #[track_caller]
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        let _call = calls::enter_object("write", self);
        let (here, held) = Held::acquire(self, Mode::Exclusive, Location::caller());
        let inner = Real::new(here.inner.write().unwrap_or_else(PoisonError::into_inner));
        here.poison.check(RwLockWriteGuard { _hold: Hold::new(&here.poison, held), inner, _release: Release::of(self) })
    }

    /// As [`std::sync::RwLock::try_write`].
    ///
    /// # Errors
    /// When a task holds the lock, or a writer panicked while holding it.
    #[inline]
    #[track_caller]
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        let _call = calls::enter_object("try_write", self);
        let (here, held, inner) = self.attempt(Mode::Exclusive, Location::caller(), |here| here.inner.try_write())?;
        Ok(here.poison.check(RwLockWriteGuard {
            _hold: Hold::new(&here.poison, held),
            inner,
            _release: Release::of(self),
        })?)
    }

    /// Takes the lock in the model and then, with `really`, the real one.
    fn attempt<'a, G, E>(
        &'a self,
        mode: Mode,
        location: Place,
        really: impl FnOnce(&'a RwLock<T>) -> TryLockResult<G>,
    ) -> Attempted<'a, T, Real<G>, E> {
        let (here, attempt) = Held::try_acquire(self, mode, location);
        let held = match attempt {
            Attempt::Uncontrolled => None,
            Attempt::Taken(held) => Some(held),
            Attempt::Busy => return Err(TryLockError::WouldBlock),
        };
        match really(here) {
            Ok(inner) => Ok((here, held, Real::new(inner))),
            Err(TryLockError::Poisoned(error)) => Ok((here, held, Real::new(error.into_inner()))),
            Err(TryLockError::WouldBlock) => {
                held.into_iter().for_each(Held::let_go);
                Err(TryLockError::WouldBlock)
            }
        }
    }
}
