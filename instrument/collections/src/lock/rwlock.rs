//! A reader-writer lock around a collection.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{self as real, Arc, LockResult, TryLockError, TryLockResult};

use interloper_commutativity::{Invocation, Model, Value};

use super::StdCollection;
use super::section::{Section, enter, map, the_lock, try_enter, try_map};
use crate::session::{DomainKind, Handle, Instrumented, Mode, Needs, Outcome};
use crate::task::Kind;

/// [`std::sync::RwLock`], instrumented: from `read` or `write` to the end of the guard is one step.
pub struct RwLock<C> {
    inner: real::RwLock<C>,
    handle: Handle,
}

impl<C> RwLock<C> {
    /// An unlocked lock.
    pub const fn new(content: C) -> RwLock<C> {
        RwLock { inner: real::RwLock::new(content), handle: Handle::of(Kind::RwLock, 0) }
    }

    /// Whether a task panicked while it held the lock for writing.
    pub fn is_poisoned(&self) -> bool {
        self.inner.is_poisoned()
    }

    /// Forgets that a task panicked while it held the lock.
    pub fn clear_poison(&self) {
        self.inner.clear_poison();
    }

    /// The content. No step: the lock is owned.
    ///
    /// # Errors
    /// The content, when the lock is poisoned.
    pub fn into_inner(self) -> LockResult<C> {
        self.inner.into_inner()
    }

    /// The content. No step: the lock is borrowed exclusively.
    ///
    /// # Errors
    /// The content, when the lock is poisoned.
    pub fn get_mut(&mut self) -> LockResult<&mut C> {
        self.inner.get_mut()
    }
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

    /// Works on the content, with no step.
    ///
    /// # Panics
    /// When a guard is alive that keeps the content from being changed.
    fn directly<R>(&self, work: impl FnOnce(&mut C) -> R) -> R {
        match self.inner.try_write() {
            Ok(mut content) => work(&mut content),
            Err(TryLockError::Poisoned(poisoned)) => work(&mut poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => panic!("the environment acts on a lock whose guard is alive"),
        }
    }

    /// Looks at the content, with no step, while others may read.
    ///
    /// # Panics
    /// When a guard is alive that keeps the content from being read.
    fn look<R>(&self, work: impl FnOnce(&C) -> R) -> R {
        match self.inner.try_read() {
            Ok(content) => work(&content),
            Err(TryLockError::Poisoned(poisoned)) => work(&poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => panic!("the environment looks at a lock whose write guard is alive"),
        }
    }
}

/// A [`RwLock`] locked for reading.
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockReadGuard<'a, C: StdCollection> {
    real: real::RwLockReadGuard<'a, C>,
    /// After `real`, so that the real lock is free when the session hears of it.
    section: Option<Section>,
}

/// A [`RwLock`] locked for writing.
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockWriteGuard<'a, C: StdCollection> {
    real: real::RwLockWriteGuard<'a, C>,
    /// After `real`, so that the real lock is free when the session hears of it.
    section: Option<Section>,
}

macro_rules! guard {
    ($guard:ident) => {
        impl<C: StdCollection> Drop for $guard<'_, C> {
            fn drop(&mut self) {
                if let Some(section) = &self.section {
                    section.report(&*self.real);
                }
            }
        }

        impl<C: StdCollection> Deref for $guard<'_, C> {
            type Target = C;

            fn deref(&self) -> &C {
                &self.real
            }
        }

        impl<C: StdCollection + fmt::Debug> fmt::Debug for $guard<'_, C> {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(out)
            }
        }

        impl<C: StdCollection + fmt::Display> fmt::Display for $guard<'_, C> {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(out)
            }
        }
    };
}

guard!(RwLockReadGuard);
guard!(RwLockWriteGuard);

impl<C: StdCollection> DerefMut for RwLockWriteGuard<'_, C> {
    fn deref_mut(&mut self) -> &mut C {
        &mut self.real
    }
}

/// One step if the lock can be read, as [`RwLock::try_read`].
impl<C: StdCollection + fmt::Debug> fmt::Debug for RwLock<C> {
    #[track_caller]
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lock = out.debug_struct("RwLock");
        match self.try_read() {
            Ok(content) => lock.field("data", &*content),
            Err(TryLockError::Poisoned(poisoned)) => lock.field("data", &**poisoned.get_ref()),
            Err(TryLockError::WouldBlock) => lock.field("data", &format_args!("<locked>")),
        };
        lock.field("poisoned", &self.is_poisoned()).finish_non_exhaustive()
    }
}

impl<C: Default> Default for RwLock<C> {
    fn default() -> RwLock<C> {
        RwLock::new(C::default())
    }
}

impl<C> From<C> for RwLock<C> {
    fn from(content: C) -> RwLock<C> {
        RwLock::new(content)
    }
}

impl<C: StdCollection> Instrumented for RwLock<C> {
    fn handle(&self) -> &Handle {
        &self.handle
    }

    fn model(&self) -> Arc<dyn Model> {
        self.look(StdCollection::model)
    }

    fn snapshot(&self) -> Value {
        self.look(StdCollection::state)
    }

    fn snapshot_beside_guards(&self, known: &Value) -> Value {
        match self.inner.try_read() {
            Err(TryLockError::WouldBlock) => known.clone(),
            Ok(content) => content.state(),
            Err(TryLockError::Poisoned(poisoned)) => poisoned.get_ref().state(),
        }
    }

    fn restore(&self, state: &Value) -> Result<(), Value> {
        self.inner.clear_poison();
        self.directly(|content| content.restore(state))
    }

    /// # Panics
    /// When a guard is alive that the operation would wait for.
    fn apply(&self, call: &Invocation) -> Result<Outcome, Value> {
        match C::reads(call.method) {
            true => self.look(|content| content.look_up(call)),
            false => self.directly(|content| content.apply(call)),
        }
    }

    fn needs(&self, call: &Invocation) -> Needs {
        the_lock(if C::reads(call.method) { Mode::Shared } else { Mode::Exclusive })
    }

    fn domain(&self) -> DomainKind {
        C::domain()
    }
}
