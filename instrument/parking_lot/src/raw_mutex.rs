//! `RawMutex`.

use std::mem::forget;
use std::time::Duration;

use interloper_std::runtime::calls::{self, Release};
use interloper_std::runtime::{Handle, Mode, ObjectKind, Place, Woken};
use interloper_std::time::Instant;

use crate::marker::GuardMarker;
use crate::model::{Model, here, until};

/// Mirrors [`parking_lot::RawMutex`].
pub struct RawMutex {
    model: Model,
    inner: parking_lot::Mutex<()>,
}

// SAFETY: the inner mutex excludes, and it is held between locking and unlocking.
unsafe impl lock_api::RawMutex for RawMutex {
    const INIT: RawMutex = RawMutex { model: Model::new(ObjectKind::Mutex), inner: parking_lot::Mutex::new(()) };

    type GuardMarker = GuardMarker;

    #[inline]
    #[track_caller]
    fn lock(&self) {
        let _call = calls::enter_object("lock", self);
        self.model.acquire(Mode::Exclusive, here());
        self.lock_inner();
    }

    #[inline]
    #[track_caller]
    fn try_lock(&self) -> bool {
        let _call = calls::enter_object("try_lock", self);
        self.accept(self.model.try_acquire(Mode::Exclusive, here()))
            .unwrap_or_else(|| self.inner.try_lock().map(forget).is_some())
    }

    #[inline]
    unsafe fn unlock(&self) {
        let _free = Release::of(self);
        self.model.release(Mode::Exclusive, || {
            // SAFETY: the caller holds the lock.
            unsafe { self.inner.force_unlock() };
        });
    }

    #[track_caller]
    fn is_locked(&self) -> bool {
        self.model.look(here());
        self.inner.is_locked()
    }
}

// SAFETY: as above.
unsafe impl lock_api::RawMutexFair for RawMutex {
    #[inline]
    unsafe fn unlock_fair(&self) {
        let _free = Release::of(self);
        self.model.release(Mode::Exclusive, || {
            // SAFETY: the caller holds the lock.
            unsafe { self.inner.force_unlock_fair() };
        });
    }
}

// SAFETY: as above.
unsafe impl lock_api::RawMutexTimed for RawMutex {
    type Duration = Duration;
    type Instant = Instant;

    #[track_caller]
    fn try_lock_for(&self, timeout: Duration) -> bool {
        let _call = calls::enter_object("try_lock_for", self);
        self.accept(self.model.acquire_for(Mode::Exclusive, timeout, here()))
            .unwrap_or_else(|| self.inner.try_lock_for(timeout).map(forget).is_some())
    }

    #[track_caller]
    fn try_lock_until(&self, timeout: Instant) -> bool {
        self.try_lock_for(until(timeout))
    }
}

impl RawMutex {
    fn lock_inner(&self) {
        forget(self.inner.lock());
    }

    /// A lock that the model has granted is granted if the real lock is free, too.
    fn accept(&self, granted: Option<bool>) -> Option<bool> {
        let granted = granted?;
        let free = granted && self.inner.try_lock().map(forget).is_some();
        if granted && !free {
            self.model.undo(Mode::Exclusive);
        }
        Some(free)
    }

    /// Waits for a condition in the model; `None` when the lock is not held there.
    pub(crate) fn wait(&self, queue: &Handle, timeout: Option<Duration>, location: Place) -> Option<Woken> {
        let unlock = || {
            // SAFETY: the caller holds the lock.
            unsafe { self.inner.force_unlock() };
        };
        self.model.wait(queue, timeout, location, (unlock, || self.lock_inner()))
    }

    /// Lets `wait` use the guard of the real lock.
    pub(crate) fn wait_really<R>(&self, wait: impl FnOnce(&mut parking_lot::MutexGuard<'_, ()>) -> R) -> R {
        const { assert!(size_of::<parking_lot::MutexGuard<'_, ()>>() == size_of::<&parking_lot::Mutex<()>>()) };
        // `lock_api` before 0.4.11 makes no guard of a lock that is held (`make_guard_unchecked`).
        // SAFETY: a guard is the reference to its mutex, beside markers without a size. The caller holds the lock, and this guard is
        // forgotten, whatever happens.
        let mut guard = std::mem::ManuallyDrop::new(unsafe {
            std::mem::transmute_copy::<&parking_lot::Mutex<()>, parking_lot::MutexGuard<'_, ()>>(&&self.inner)
        });
        wait(&mut guard)
    }

    /// The address identifies the mutex.
    pub(crate) fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }
}
