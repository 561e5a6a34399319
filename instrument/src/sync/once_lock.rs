//! `OnceLock`.

use std::fmt;
use std::panic::Location;

use super::lazily::Lazily;
use crate::control;
use crate::runtime::{Current, calls};

/// Mirrors [`std::sync::OnceLock`]. In a static it starts empty in each execution, and its value is dropped at the end
/// of the execution.
pub struct OnceLock<T>(Lazily<Inner<T>>);

type Inner<T> = std::sync::OnceLock<T>;

fn is_full<T>(inner: &Inner<T>) -> bool {
    inner.get().is_some()
}

impl<T> OnceLock<T> {
    /// As [`std::sync::OnceLock::new`].
    #[inline]
    #[must_use]
    pub const fn new() -> OnceLock<T> {
        OnceLock(Lazily::new(Inner::new()))
    }

    /// As [`std::sync::OnceLock::get`].
    #[inline]
    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        let _call = calls::enter_object("get", self);
        let location = Location::caller();
        let look = |current: Current<'_>, ()| {
            let here = self.0.here(&current, Inner::new);
            self.0.look(&current, &here, location, is_full);
            here.state.get()
        };
        control::either((), look, |()| self.0.state().get())
    }

    /// As [`std::sync::OnceLock::get_mut`].
    #[inline]
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.0.state_mut().get_mut()
    }

    /// As [`std::sync::OnceLock::wait`].
    #[inline]
    #[track_caller]
    pub fn wait(&self) -> &T {
        let _call = calls::enter_object("wait", self);
        let location = Location::caller();
        let wait = |current: Current<'_>, ()| {
            let here = self.0.here(&current, Inner::new);
            self.0.wait(&current, &here, location, is_full);
            here.state.wait()
        };
        control::either((), wait, |()| self.0.state().wait())
    }

    /// As [`std::sync::OnceLock::set`].
    ///
    /// # Errors
    /// The value, if there is one already.
    #[inline]
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), T> {
        let _call = calls::enter_object("set", self);
        let location = Location::caller();
        let set = |current: Current<'_>, value| {
            let here = self.0.here(&current, Inner::new);
            let mut value = Some(value);
            self.0.set(&current, &here, location, is_full, || {
                value = value.take().and_then(|value| here.state.set(value).err());
            });
            value.map_or(Ok(()), Err)
        };
        control::either(value, set, |value| self.0.state().set(value))
    }

    /// As [`std::sync::OnceLock::get_or_init`].
    ///
    /// # Panics
    /// When `f` panics.
    #[inline]
    #[track_caller]
    pub fn get_or_init<F>(&self, f: F) -> &T
    where
        F: FnOnce() -> T,
    {
        let _call = calls::enter_object("get_or_init", self);
        let location = Location::caller();
        let get_or_init = |current: Current<'_>, f: F| {
            let here = self.0.here(&current, Inner::new);
            self.0.initialise(&current, &here, location, is_full, |change| {
                let value = f();
                change();
                let _ = here.state.set(value);
            });
            here.state.get().expect("it has just been initialised")
        };
        control::either(f, get_or_init, |f| self.0.state().get_or_init(f))
    }

    /// As [`std::sync::OnceLock::into_inner`].
    #[inline]
    pub fn into_inner(self) -> Option<T> {
        self.0.into_state().into_inner()
    }

    /// As [`std::sync::OnceLock::take`].
    #[inline]
    pub fn take(&mut self) -> Option<T> {
        self.0.state_mut().take()
    }
}

impl<T> Default for OnceLock<T> {
    #[inline]
    fn default() -> OnceLock<T> {
        OnceLock::new()
    }
}

impl<T: fmt::Debug> fmt::Debug for OnceLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut d = f.debug_tuple("OnceLock");
        match self.get() {
            Some(value) => d.field(value),
            None => d.field(&format_args!("<uninit>")),
        };
        d.finish()
    }
}

impl<T: Clone> Clone for OnceLock<T> {
    fn clone(&self) -> OnceLock<T> {
        self.get().map_or_else(OnceLock::new, |value| OnceLock::from(value.clone()))
    }
}

impl<T> From<T> for OnceLock<T> {
    fn from(value: T) -> Self {
        OnceLock(Lazily::new(Inner::from(value)))
    }
}

impl<T: PartialEq> PartialEq for OnceLock<T> {
    #[inline]
    fn eq(&self, other: &OnceLock<T>) -> bool {
        self.get() == other.get()
    }
}

impl<T: Eq> Eq for OnceLock<T> {}
