//! `RawRwLock`.

use std::time::Duration;

use interloper_std::runtime::{Mode, ObjectKind};
use interloper_std::time::Instant;
use lock_api::{RawRwLock as _, RawRwLockRecursive as _, RawRwLockUpgrade as _};

use crate::GuardMarker;
use crate::model::{Model, here, until};

/// Mirrors [`parking_lot::RawRwLock`].
pub struct RawRwLock {
    model: Model,
    inner: parking_lot::RawRwLock,
}

impl RawRwLock {
    /// A lock that the model has granted is granted if the real lock admits it, too.
    fn accept(&self, granted: Option<bool>, mode: Mode, really: impl FnOnce() -> bool) -> Option<bool> {
        let granted = granted?;
        let free = granted && really();
        if granted && !free {
            self.model.undo(mode);
        }
        Some(free)
    }
}

// SAFETY: the inner lock excludes, and it is held between locking and unlocking.
unsafe impl lock_api::RawRwLock for RawRwLock {
    const INIT: RawRwLock = RawRwLock {
        model: Model::new(ObjectKind::RwLock),
        inner: <parking_lot::RawRwLock as lock_api::RawRwLock>::INIT,
    };

    type GuardMarker = GuardMarker;

    #[inline]
    #[track_caller]
    fn lock_shared(&self) {
        self.model.acquire(Mode::Shared, here());
        self.inner.lock_shared();
    }

    #[inline]
    #[track_caller]
    fn try_lock_shared(&self) -> bool {
        let granted = self.model.try_acquire(Mode::Shared, here());
        self.accept(granted, Mode::Shared, || self.inner.try_lock_shared())
            .unwrap_or_else(|| self.inner.try_lock_shared())
    }

    #[inline]
    unsafe fn unlock_shared(&self) {
        self.model.release(Mode::Shared, || {
            // SAFETY: the caller holds the lock.
            unsafe { self.inner.unlock_shared() };
        });
    }

    #[inline]
    #[track_caller]
    fn lock_exclusive(&self) {
        self.model.acquire(Mode::Exclusive, here());
        self.inner.lock_exclusive();
    }

    #[inline]
    #[track_caller]
    fn try_lock_exclusive(&self) -> bool {
        let granted = self.model.try_acquire(Mode::Exclusive, here());
        self.accept(granted, Mode::Exclusive, || self.inner.try_lock_exclusive())
            .unwrap_or_else(|| self.inner.try_lock_exclusive())
    }

    #[inline]
    unsafe fn unlock_exclusive(&self) {
        self.model.release(Mode::Exclusive, || {
            // SAFETY: the caller holds the lock.
            unsafe { self.inner.unlock_exclusive() };
        });
    }

    #[track_caller]
    fn is_locked(&self) -> bool {
        self.model.look(here());
        self.inner.is_locked()
    }

    #[track_caller]
    fn is_locked_exclusive(&self) -> bool {
        self.model.look(here());
        self.inner.is_locked_exclusive()
    }
}

// SAFETY: as above.
unsafe impl lock_api::RawRwLockFair for RawRwLock {
    #[inline]
    unsafe fn unlock_shared_fair(&self) {
        self.model.release(Mode::Shared, || {
            // SAFETY: the caller holds the lock.
            unsafe { self.inner.unlock_shared_fair() };
        });
    }

    #[inline]
    unsafe fn unlock_exclusive_fair(&self) {
        self.model.release(Mode::Exclusive, || {
            // SAFETY: the caller holds the lock.
            unsafe { self.inner.unlock_exclusive_fair() };
        });
    }
}

// SAFETY: as above.
unsafe impl lock_api::RawRwLockDowngrade for RawRwLock {
    #[track_caller]
    unsafe fn downgrade(&self) {
        self.model.convert(Mode::Exclusive, Mode::Shared, here());
        // SAFETY: the caller holds the lock.
        unsafe { self.inner.downgrade() };
    }
}

// SAFETY: as above.
unsafe impl lock_api::RawRwLockTimed for RawRwLock {
    type Duration = Duration;
    type Instant = Instant;

    #[track_caller]
    fn try_lock_shared_for(&self, timeout: Duration) -> bool {
        let granted = self.model.acquire_for(Mode::Shared, timeout, here());
        self.accept(granted, Mode::Shared, || self.inner.try_lock_shared())
            .unwrap_or_else(|| self.inner.try_lock_shared_for(timeout))
    }

    #[track_caller]
    fn try_lock_shared_until(&self, timeout: Instant) -> bool {
        self.try_lock_shared_for(until(timeout))
    }

    #[track_caller]
    fn try_lock_exclusive_for(&self, timeout: Duration) -> bool {
        let granted = self.model.acquire_for(Mode::Exclusive, timeout, here());
        self.accept(granted, Mode::Exclusive, || self.inner.try_lock_exclusive())
            .unwrap_or_else(|| self.inner.try_lock_exclusive_for(timeout))
    }

    #[track_caller]
    fn try_lock_exclusive_until(&self, timeout: Instant) -> bool {
        self.try_lock_exclusive_for(until(timeout))
    }
}

// SAFETY: as above.
unsafe impl lock_api::RawRwLockRecursive for RawRwLock {
    #[inline]
    #[track_caller]
    fn lock_shared_recursive(&self) {
        self.model.acquire_recursive(here());
        self.inner.lock_shared_recursive();
    }

    #[inline]
    #[track_caller]
    fn try_lock_shared_recursive(&self) -> bool {
        let granted = self.model.try_acquire_recursive(here());
        self.accept(granted, Mode::Shared, || self.inner.try_lock_shared_recursive())
            .unwrap_or_else(|| self.inner.try_lock_shared_recursive())
    }
}

// SAFETY: as above.
unsafe impl lock_api::RawRwLockRecursiveTimed for RawRwLock {
    #[track_caller]
    fn try_lock_shared_recursive_for(&self, timeout: Duration) -> bool {
        let granted = self.model.acquire_recursive_for(timeout, here());
        self.accept(granted, Mode::Shared, || self.inner.try_lock_shared_recursive())
            .unwrap_or_else(|| self.inner.try_lock_shared_recursive_for(timeout))
    }

    #[track_caller]
    fn try_lock_shared_recursive_until(&self, timeout: Instant) -> bool {
        self.try_lock_shared_recursive_for(until(timeout))
    }
}

// SAFETY: as above.
unsafe impl lock_api::RawRwLockUpgrade for RawRwLock {
    #[track_caller]
    fn lock_upgradable(&self) {
        self.model.acquire(Mode::Upgradable, here());
        self.inner.lock_upgradable();
    }

    #[track_caller]
    fn try_lock_upgradable(&self) -> bool {
        let granted = self.model.try_acquire(Mode::Upgradable, here());
        self.accept(granted, Mode::Upgradable, || self.inner.try_lock_upgradable())
            .unwrap_or_else(|| self.inner.try_lock_upgradable())
    }

    #[inline]
    unsafe fn unlock_upgradable(&self) {
        self.model.release(Mode::Upgradable, || {
            // SAFETY: the caller holds the lock.
            unsafe { self.inner.unlock_upgradable() };
        });
    }

    #[track_caller]
    unsafe fn upgrade(&self) {
        self.model.convert(Mode::Upgradable, Mode::Exclusive, here());
        // SAFETY: the caller holds the lock.
        unsafe { self.inner.upgrade() };
    }

    #[track_caller]
    unsafe fn try_upgrade(&self) -> bool {
        let granted = self.model.try_convert(Mode::Upgradable, Mode::Exclusive, here());
        // SAFETY: the caller holds the lock. The real lock admits what the model admits: its holders are the same.
        granted.unwrap_or(true) && unsafe { self.inner.try_upgrade() }
    }
}

// SAFETY: as above.
unsafe impl lock_api::RawRwLockUpgradeFair for RawRwLock {
    #[inline]
    unsafe fn unlock_upgradable_fair(&self) {
        self.model.release(Mode::Upgradable, || {
            // SAFETY: the caller holds the lock.
            unsafe { self.inner.unlock_upgradable_fair() };
        });
    }
}

// SAFETY: as above.
unsafe impl lock_api::RawRwLockUpgradeDowngrade for RawRwLock {
    #[track_caller]
    unsafe fn downgrade_upgradable(&self) {
        self.model.convert(Mode::Upgradable, Mode::Shared, here());
        // SAFETY: the caller holds the lock.
        unsafe { self.inner.downgrade_upgradable() };
    }

    #[track_caller]
    unsafe fn downgrade_to_upgradable(&self) {
        self.model.convert(Mode::Exclusive, Mode::Upgradable, here());
        // SAFETY: the caller holds the lock.
        unsafe { self.inner.downgrade_to_upgradable() };
    }
}

// SAFETY: as above.
unsafe impl lock_api::RawRwLockUpgradeTimed for RawRwLock {
    #[track_caller]
    fn try_lock_upgradable_for(&self, timeout: Duration) -> bool {
        let granted = self.model.acquire_for(Mode::Upgradable, timeout, here());
        self.accept(granted, Mode::Upgradable, || self.inner.try_lock_upgradable())
            .unwrap_or_else(|| self.inner.try_lock_upgradable_for(timeout))
    }

    #[track_caller]
    fn try_lock_upgradable_until(&self, timeout: Instant) -> bool {
        self.try_lock_upgradable_for(until(timeout))
    }

    #[track_caller]
    unsafe fn try_upgrade_for(&self, timeout: Duration) -> bool {
        let granted = self.model.convert_for(Mode::Upgradable, Mode::Exclusive, timeout, here());
        // SAFETY: the caller holds the lock. The real lock admits what the model admits: its holders are the same.
        granted.unwrap_or(true) && unsafe { self.inner.try_upgrade_for(timeout) }
    }

    #[track_caller]
    unsafe fn try_upgrade_until(&self, timeout: Instant) -> bool {
        // SAFETY: the caller promises what the call asks for.
        unsafe { self.try_upgrade_for(until(timeout)) }
    }
}
