//! A mutex around a collection.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{self as real, Arc, LockResult, TryLockError, TryLockResult};

use interloper_commutativity::{Datum, Invocation, Model, ToValue, Value};

use super::StdCollection;
use super::section::{Section, enter, map, the_lock, try_enter, try_map};
use crate::session::{DomainKind, Handle, Instrumented, Mode, Needs, Outcome};
use crate::task::Kind;

lock! {
    /// [`std::sync::Mutex`], instrumented: from `lock` to the end of the guard is one step.
    Mutex, looks with try_lock (Exclusive), changes with try_lock
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
}

guard! {
    /// A locked [`Mutex`].
    #[must_use = "if unused the Mutex will immediately unlock"]
    MutexGuard
}

impl<C: StdCollection> DerefMut for MutexGuard<'_, C> {
    fn deref_mut(&mut self) -> &mut C {
        &mut self.real
    }
}

/// The form of the content, or `locked` while a guard is alive.
impl<C: StdCollection> ToValue for Mutex<C> {
    const INTERIOR: bool = true;

    fn to_value(&self) -> Value {
        self.try_look(StdCollection::state).unwrap_or_else(|| Value::variant("locked", []))
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
