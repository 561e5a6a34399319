//! A mutex around a collection.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{self as real, Arc, LockResult, TryLockError, TryLockResult};

use interloper_commutativity::{Datum, Invocation, Model, ToValue, Value};

use super::StdCollection;
use super::section::{Section, enter, map, the_lock, try_enter, try_map};
use crate::session::{DomainKind, Handle, Instrumented, Mode, Needs, Outcome};
use crate::task::Kind;

/// [`std::sync::Mutex`], instrumented: from `lock` to the end of the guard is one step.
pub struct Mutex<C> {
    inner: real::Mutex<C>,
    handle: Handle,
}

impl<C> Mutex<C> {
    /// An unlocked mutex.
    pub const fn new(content: C) -> Mutex<C> {
        Mutex { inner: real::Mutex::new(content), handle: Handle::of(Kind::Mutex, 0) }
    }

    /// Whether a task panicked while it held the lock.
    pub fn is_poisoned(&self) -> bool {
        self.inner.is_poisoned()
    }

    /// Forgets that a task panicked while it held the lock.
    pub fn clear_poison(&self) {
        self.inner.clear_poison();
    }

    /// The content. No step: the mutex is owned.
    ///
    /// # Errors
    /// The content, when the lock is poisoned.
    pub fn into_inner(self) -> LockResult<C> {
        self.inner.into_inner()
    }

    /// The content. No step: the mutex is borrowed exclusively.
    ///
    /// # Errors
    /// The content, when the lock is poisoned.
    pub fn get_mut(&mut self) -> LockResult<&mut C> {
        self.inner.get_mut()
    }
}

impl<C: StdCollection> Mutex<C> {
    /// Locks the mutex. The section up to the end of the guard is one step.
    ///
    /// # Errors
    /// The guard, when the lock is poisoned.
    #[track_caller]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, C>> {
        let entered = enter(&self.handle, Mode::Exclusive, || self.inner.lock(), || self.inner.try_lock());
        map(entered, |(real, section)| MutexGuard { real, section })
    }

    /// Locks the mutex if it is free. The section up to the end of the guard is one step.
    ///
    /// # Errors
    /// When the lock is taken; the guard, when it is poisoned.
    #[track_caller]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, C>> {
        let entered = try_enter(&self.handle, Mode::Exclusive, || self.inner.try_lock());
        try_map(entered, |(real, section)| MutexGuard { real, section })
    }

    /// Works on the content, with no step.
    ///
    /// # Panics
    /// When a guard is alive.
    fn directly<R>(&self, work: impl FnOnce(&mut C) -> R) -> R {
        match self.inner.try_lock() {
            Ok(mut content) => work(&mut content),
            Err(TryLockError::Poisoned(poisoned)) => work(&mut poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => panic!("the environment acts on a mutex whose guard is alive"),
        }
    }
}

/// A locked [`Mutex`].
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct MutexGuard<'a, C: StdCollection> {
    real: real::MutexGuard<'a, C>,
    /// After `real`, so that the real lock is free when the session hears of it.
    section: Option<Section>,
}

impl<C: StdCollection> Drop for MutexGuard<'_, C> {
    fn drop(&mut self) {
        if let Some(section) = &self.section {
            section.report(&*self.real);
        }
    }
}

impl<C: StdCollection> Deref for MutexGuard<'_, C> {
    type Target = C;

    fn deref(&self) -> &C {
        &self.real
    }
}

impl<C: StdCollection> DerefMut for MutexGuard<'_, C> {
    fn deref_mut(&mut self) -> &mut C {
        &mut self.real
    }
}

impl<C: StdCollection + fmt::Debug> fmt::Debug for MutexGuard<'_, C> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(out)
    }
}

impl<C: StdCollection + fmt::Display> fmt::Display for MutexGuard<'_, C> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(out)
    }
}

/// One step if the lock is free, as [`Mutex::try_lock`].
impl<C: StdCollection + fmt::Debug> fmt::Debug for Mutex<C> {
    #[track_caller]
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut mutex = out.debug_struct("Mutex");
        match self.try_lock() {
            Ok(content) => mutex.field("data", &*content),
            Err(TryLockError::Poisoned(poisoned)) => mutex.field("data", &**poisoned.get_ref()),
            Err(TryLockError::WouldBlock) => mutex.field("data", &format_args!("<locked>")),
        };
        mutex.field("poisoned", &self.is_poisoned()).finish_non_exhaustive()
    }
}

impl<C: Default> Default for Mutex<C> {
    fn default() -> Mutex<C> {
        Mutex::new(C::default())
    }
}

impl<C> From<C> for Mutex<C> {
    fn from(content: C) -> Mutex<C> {
        Mutex::new(content)
    }
}

/// The form of the content, or `locked` while a guard is alive.
impl<C: StdCollection> ToValue for Mutex<C> {
    const INTERIOR: bool = true;

    fn to_value(&self) -> Value {
        match self.inner.try_lock() {
            Ok(content) => content.state(),
            Err(TryLockError::Poisoned(poisoned)) => poisoned.get_ref().state(),
            Err(TryLockError::WouldBlock) => Value::variant("locked", []),
        }
    }
}

/// An unlocked mutex with a clone of the content; no step. The original has no clone.
///
/// # Panics
/// When a guard is alive.
impl<C: StdCollection + Clone> Clone for Mutex<C> {
    fn clone(&self) -> Self {
        self.directly(|content| Mutex::new(content.clone()))
    }
}

impl<C: StdCollection + Clone + Default + 'static> Datum for Mutex<C> {
    fn from_value(form: &Value) -> Option<Self> {
        let mut content = C::default();
        content.restore(form).ok()?;
        Some(Mutex::new(content))
    }

    fn fresh(seen: &[Value]) -> Option<Value> {
        (C::domain().value.fresh)(seen)
    }
}

impl<C: StdCollection> Instrumented for Mutex<C> {
    fn handle(&self) -> &Handle {
        &self.handle
    }

    fn model(&self) -> Arc<dyn Model> {
        self.directly(|content| content.model())
    }

    fn snapshot(&self) -> Value {
        self.directly(|content| content.state())
    }

    fn snapshot_beside_guards(&self, known: &Value) -> Value {
        match self.inner.try_lock() {
            Err(TryLockError::WouldBlock) => known.clone(),
            Ok(content) => content.state(),
            Err(TryLockError::Poisoned(poisoned)) => poisoned.get_ref().state(),
        }
    }

    fn restore(&self, state: &Value) -> Result<(), Value> {
        self.inner.clear_poison();
        self.directly(|content| content.restore(state))
    }

    fn apply(&self, call: &Invocation) -> Result<Outcome, Value> {
        self.directly(|content| content.apply(call))
    }

    fn needs(&self, _call: &Invocation) -> Needs {
        the_lock(Mode::Exclusive)
    }

    fn domain(&self) -> DomainKind {
        C::domain()
    }
}
