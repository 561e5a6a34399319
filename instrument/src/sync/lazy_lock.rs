//! `LazyLock`.

use std::fmt;
use std::mem::needs_drop;
use std::ops::{Deref, DerefMut};
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::lazily::Lazily;
use crate::control;
use crate::runtime::Current;

/// Mirrors [`std::sync::LazyLock`]. In a static it is initialised anew in each execution, and its value is dropped at
/// the end of the execution.
pub struct LazyLock<T, F = fn() -> T> {
    lazily: Lazily<State<T>>,
    init: Mutex<Option<F>>,
}

struct State<T> {
    value: OnceLock<T>,
    poisoned: AtomicBool,
}

impl<T, F: FnOnce() -> T> LazyLock<T, F> {
    /// As [`std::sync::LazyLock::new`].
    #[inline]
    pub const fn new(f: F) -> LazyLock<T, F> {
        LazyLock { lazily: Lazily::new(State::new()), init: Mutex::new(Some(f)) }
    }

    /// As [`std::sync::LazyLock::force`].
    ///
    /// # Panics
    /// When the initialiser panics, or has panicked before.
    #[inline]
    #[track_caller]
    pub fn force(this: &LazyLock<T, F>) -> &T {
        let location = Location::caller();
        let force = |current: Current<'_>, ()| {
            let here = this.lazily.here(&current, State::new);
            this.lazily.initialise(&current, &here, location, State::is_full, |change| {
                let value = this.initialise(here.state);
                change();
                let _ = here.state.value.set(value);
            });
            here.state.value.get().expect("it has just been initialised")
        };
        let really = |()| {
            let state = this.lazily.state();
            state.value.get_or_init(|| this.initialise(state))
        };
        control::either((), force, really)
    }

    /// As `force`, by the only reference (`std::sync::LazyLock::force_mut`, of Rust 1.94).
    ///
    /// # Panics
    /// When the initialiser panics, or has panicked before.
    #[inline]
    #[track_caller]
    pub fn force_mut(this: &mut LazyLock<T, F>) -> &mut T {
        let state = this.lazily.state();
        state.value.get_or_init(|| this.initialise(state));
        this.lazily.state_mut().value.get_mut().expect("it has just been initialised")
    }

    /// Calls the initialiser. If it panics, the state is poisoned.
    #[track_caller]
    fn initialise(&self, state: &State<T>) -> T {
        struct PoisonOnUnwind<'a>(&'a AtomicBool);
        impl Drop for PoisonOnUnwind<'_> {
            fn drop(&mut self) {
                self.0.store(true, Ordering::Relaxed);
            }
        }
        let init = if state.poisoned.load(Ordering::Relaxed) { None } else { self.take_init() };
        let Some(init) = init else { panic!("LazyLock instance has previously been poisoned") };
        let poison = PoisonOnUnwind(&state.poisoned);
        let value = init();
        std::mem::forget(poison);
        value
    }

    /// The initialiser. In a static it stays there for the next execution.
    fn take_init(&self) -> Option<F> {
        let mut init = self.init.lock().unwrap_or_else(PoisonError::into_inner);
        match &*init {
            // SAFETY: the only callable values that a static can hold are a function, a function pointer, a shared
            // reference to one, or one of these in `AssertUnwindSafe`: types that are `Copy`, or could be.
            Some(init) if self.lazily.is_static() && !needs_drop::<F>() => Some(unsafe { ptr::read(init) }),
            _ => init.take(),
        }
    }
}

impl<T, F> LazyLock<T, F> {
    /// The value if there is one (`std::sync::LazyLock::get`, of Rust 1.94).
    #[inline]
    #[track_caller]
    pub fn get(this: &LazyLock<T, F>) -> Option<&T> {
        let location = Location::caller();
        let look = |current: Current<'_>, ()| {
            let here = this.lazily.here(&current, State::new);
            this.lazily.look(&current, &here, location, State::is_full);
            here.state.value.get()
        };
        control::either((), look, |()| this.lazily.state().value.get())
    }

    /// The value if there is one, by the only reference (`std::sync::LazyLock::get_mut`, of Rust 1.94).
    #[inline]
    pub fn get_mut(this: &mut LazyLock<T, F>) -> Option<&mut T> {
        this.lazily.state_mut().value.get_mut()
    }
}

impl<T> State<T> {
    const fn new() -> State<T> {
        State { value: OnceLock::new(), poisoned: AtomicBool::new(false) }
    }

    fn is_full(&self) -> bool {
        self.value.get().is_some()
    }
}

impl<T, F: FnOnce() -> T> Deref for LazyLock<T, F> {
    type Target = T;

    #[inline]
    #[track_caller]
    fn deref(&self) -> &T {
        LazyLock::force(self)
    }
}

impl<T, F: FnOnce() -> T> DerefMut for LazyLock<T, F> {
    #[inline]
    #[track_caller]
    fn deref_mut(&mut self) -> &mut T {
        LazyLock::force_mut(self)
    }
}

impl<T: Default> Default for LazyLock<T> {
    #[inline]
    fn default() -> LazyLock<T> {
        LazyLock::new(T::default)
    }
}

impl<T: fmt::Debug, F> fmt::Debug for LazyLock<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut d = f.debug_tuple("LazyLock");
        match LazyLock::get(self) {
            Some(value) => d.field(value),
            None => d.field(&format_args!("<uninit>")),
        };
        d.finish()
    }
}

impl<T: RefUnwindSafe + UnwindSafe, F: UnwindSafe> RefUnwindSafe for LazyLock<T, F> {}

impl<T: UnwindSafe, F: UnwindSafe> UnwindSafe for LazyLock<T, F> {}
