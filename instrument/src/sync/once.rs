//! `Once`.

use std::fmt;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::sync::OnceState;
use std::sync::atomic::{AtomicBool, Ordering};

use super::lazily::Lazily;
use crate::control;
use crate::runtime::{Current, Place};

/// Mirrors [`std::sync::Once`]. In a static it starts afresh in each execution.
pub struct Once(Lazily<State>);

struct State {
    inner: std::sync::Once,
    /// The original says so only to an initialiser.
    poisoned: AtomicBool,
}

impl Once {
    /// As [`std::sync::Once::new`].
    #[expect(clippy::new_without_default, reason = "std's has none")]
    #[inline]
    #[must_use]
    pub const fn new() -> Once {
        Once(Lazily::new(State::new()))
    }

    /// As [`std::sync::Once::call_once`].
    ///
    /// # Panics
    /// When an earlier call panicked.
    #[inline]
    #[track_caller]
    pub fn call_once<F>(&self, f: F)
    where
        F: FnOnce(),
    {
        let location = Location::caller();
        control::either(
            f,
            |current, f| self.call(&current, location, |state, change| state.call_once(f, change)),
            |f| self.0.state().call_once(f, &|| ()),
        );
    }

    /// As [`std::sync::Once::call_once_force`].
    #[inline]
    #[track_caller]
    pub fn call_once_force<F>(&self, f: F)
    where
        F: FnOnce(&OnceState),
    {
        let location = Location::caller();
        control::either(
            f,
            |current, f| self.call(&current, location, |state, change| state.call_once_force(f, change)),
            |f| self.0.state().call_once_force(f, &|| ()),
        );
    }

    /// As [`std::sync::Once::is_completed`].
    #[inline]
    #[track_caller]
    pub fn is_completed(&self) -> bool {
        let location = Location::caller();
        control::either(
            (),
            |current, ()| {
                let here = self.0.here(&current, State::new);
                self.0.look(&current, &here, location, State::is_completed)
            },
            |()| self.0.state().is_completed(),
        )
    }

    /// As [`std::sync::Once::wait`].
    ///
    /// # Panics
    /// When an earlier call panicked.
    #[track_caller]
    pub fn wait(&self) {
        let location = Location::caller();
        let wait = |current: Current<'_>, ()| {
            let here = self.0.here(&current, State::new);
            self.0.wait(&current, &here, location, |state| state.is_completed() || state.is_poisoned());
            assert!(here.state.is_completed(), "Once instance has previously been poisoned");
        };
        control::either((), wait, |()| self.0.state().inner.wait());
    }

    /// As [`std::sync::Once::wait_force`].
    #[track_caller]
    pub fn wait_force(&self) {
        let location = Location::caller();
        let wait = |current: Current<'_>, ()| {
            let here = self.0.here(&current, State::new);
            self.0.wait(&current, &here, location, State::is_completed);
        };
        control::either((), wait, |()| self.0.state().inner.wait_force());
    }

    fn call(&self, current: &Current<'_>, location: Place, call: impl FnOnce(&State, &dyn Fn())) {
        let here = self.0.here(current, State::new);
        self.0.initialise(current, &here, location, State::is_completed, |change| call(here.state, change));
    }
}

impl State {
    const fn new() -> State {
        State { inner: std::sync::Once::new(), poisoned: AtomicBool::new(false) }
    }

    fn is_completed(&self) -> bool {
        self.inner.is_completed()
    }

    fn is_poisoned(&self) -> bool {
        self.poisoned.load(Ordering::Relaxed)
    }

    fn call_once(&self, f: impl FnOnce(), change: &dyn Fn()) {
        self.inner.call_once(|| self.run(f, change));
    }

    fn call_once_force(&self, f: impl FnOnce(&OnceState), change: &dyn Fn()) {
        self.inner.call_once_force(|state| self.run(|| f(state), change));
    }

    /// Calls `f`, and then `change`. The original is completed right after it.
    fn run(&self, f: impl FnOnce(), change: &dyn Fn()) {
        struct PoisonOnUnwind<'a>(&'a AtomicBool);
        impl Drop for PoisonOnUnwind<'_> {
            fn drop(&mut self) {
                self.0.store(true, Ordering::Relaxed);
            }
        }
        let poison = PoisonOnUnwind(&self.poisoned);
        f();
        change();
        std::mem::forget(poison);
    }
}

impl UnwindSafe for Once {}

impl RefUnwindSafe for Once {}

impl fmt::Debug for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Once").finish_non_exhaustive()
    }
}
