//! `Once`.

use std::fmt;

use interloper_std::sync::Mutex;
use interloper_std::sync::PoisonError;
use interloper_std::sync::atomic::{AtomicU8, Ordering};

/// Mirrors [`parking_lot::OnceState`].
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum OnceState {
    /// A closure has not been executed yet.
    New,
    /// A closure was executed but panicked.
    Poisoned,
    /// A thread is currently executing a closure.
    InProgress,
    /// A closure has completed successfully.
    Done,
}

impl OnceState {
    /// As [`parking_lot::OnceState::poisoned`].
    #[inline]
    pub fn poisoned(self) -> bool {
        matches!(self, OnceState::Poisoned)
    }

    /// As [`parking_lot::OnceState::done`].
    #[inline]
    pub fn done(self) -> bool {
        matches!(self, OnceState::Done)
    }

    fn of(number: u8) -> OnceState {
        [OnceState::New, OnceState::Poisoned, OnceState::InProgress, OnceState::Done][usize::from(number)]
    }
}

/// Mirrors [`parking_lot::Once`]. In a static it starts afresh in each execution.
pub struct Once {
    /// Held by the task that executes a closure.
    lock: Mutex<()>,
    state: AtomicU8,
}

impl Once {
    /// As [`parking_lot::Once::new`].
    #[inline]
    pub const fn new() -> Once {
        Once { lock: Mutex::new(()), state: AtomicU8::new(OnceState::New as u8) }
    }

    /// As [`parking_lot::Once::state`].
    #[inline]
    #[track_caller]
    pub fn state(&self) -> OnceState {
        OnceState::of(self.state.load(Ordering::Acquire))
    }

    /// As [`parking_lot::Once::call_once`].
    ///
    /// # Panics
    /// When an earlier call panicked.
    #[inline]
    #[track_caller]
    pub fn call_once<F>(&self, f: F)
    where
        F: FnOnce(),
    {
        self.call(false, |_| f());
    }

    /// As [`parking_lot::Once::call_once_force`].
    #[inline]
    #[track_caller]
    pub fn call_once_force<F>(&self, f: F)
    where
        F: FnOnce(OnceState),
    {
        self.call(true, f);
    }

    #[track_caller]
    fn call(&self, force: bool, f: impl FnOnce(OnceState)) {
        struct Set<'a>(&'a AtomicU8, OnceState);
        impl Drop for Set<'_> {
            fn drop(&mut self) {
                self.0.store(self.1 as u8, Ordering::Release);
            }
        }
        if self.state().done() {
            return;
        }
        // The state says better than the lock how an earlier call ended.
        let _lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.state();
        if before.done() {
            return;
        }
        assert!(force || !before.poisoned(), "Once instance has previously been poisoned");
        self.state.store(OnceState::InProgress as u8, Ordering::Relaxed);
        let mut set = Set(&self.state, OnceState::Poisoned);
        f(before);
        set.1 = OnceState::Done;
    }
}

impl Default for Once {
    #[inline]
    fn default() -> Once {
        Once::new()
    }
}

impl fmt::Debug for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Once").field("state", &self.state()).finish()
    }
}
