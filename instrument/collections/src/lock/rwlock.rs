//! A reader-writer lock around a collection.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{self as real, Arc, LockResult, TryLockError, TryLockResult};

use interloper_commutativity::{Invocation, Model, Value};

use super::StdCollection;
use super::section::{Section, enter, map, the_lock, try_enter, try_map};
use crate::session::{DomainKind, Handle, Instrumented, Mode, Needs, Outcome};
use crate::task::Kind;

lock! {
    /// [`std::sync::RwLock`], instrumented: from `read` or `write` to the end of the guard is one step.
    RwLock, looks with try_read (Shared), changes with try_write
}

impl<C: StdCollection> RwLock<C> {
    /// Locks for reading. The section up to the end of the guard is one step.
    ///
    /// # Errors
    /// The guard, when the lock is poisoned.
    #[track_caller]
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, C>> {
        let entered = enter(&self.handle, Mode::Shared, || self.inner.read(), || self.inner.try_read());
        map(entered, |(real, section)| RwLockReadGuard { real, section })
    }

    /// Locks for reading if nobody writes. The section up to the end of the guard is one step.
    ///
    /// # Errors
    /// When the lock is taken; the guard, when it is poisoned.
    #[track_caller]
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, C>> {
        let entered = try_enter(&self.handle, Mode::Shared, || self.inner.try_read());
        try_map(entered, |(real, section)| RwLockReadGuard { real, section })
    }

    /// Locks for writing. The section up to the end of the guard is one step.
    ///
    /// # Errors
    /// The guard, when the lock is poisoned.
    #[track_caller]
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, C>> {
        let entered = enter(&self.handle, Mode::Exclusive, || self.inner.write(), || self.inner.try_write());
        map(entered, |(real, section)| RwLockWriteGuard { real, section })
    }

    /// Locks for writing if nobody reads or writes. The section up to the end of the guard is one step.
    ///
    /// # Errors
    /// When the lock is taken; the guard, when it is poisoned.
    #[track_caller]
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, C>> {
        let entered = try_enter(&self.handle, Mode::Exclusive, || self.inner.try_write());
        try_map(entered, |(real, section)| RwLockWriteGuard { real, section })
    }
}

guard! {
    /// A [`RwLock`] locked for reading.
    #[must_use = "if unused the RwLock will immediately unlock"]
    RwLockReadGuard
}

guard! {
    /// A [`RwLock`] locked for writing.
    #[must_use = "if unused the RwLock will immediately unlock"]
    RwLockWriteGuard
}

impl<C: StdCollection> DerefMut for RwLockWriteGuard<'_, C> {
    fn deref_mut(&mut self) -> &mut C {
        &mut self.real
    }
}
