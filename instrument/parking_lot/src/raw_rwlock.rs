//! `RawRwLock`.

use std::time::Duration;

use interloper_std::runtime::calls::{self, Release};
use interloper_std::runtime::{Mode, ObjectKind};
use interloper_std::time::Instant;
use lock_api::{RawRwLock as _, RawRwLockRecursive as _, RawRwLockUpgrade as _};

use crate::marker::GuardMarker;
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

/// Methods that take the lock in a mode, and methods that try to.
macro_rules! take {
    ($($mode:ident: $lock:ident $name:literal, $try_lock:ident $try_name:literal;)*) => {$(
        #[inline]
        #[track_caller]
        fn $lock(&self) {
            let _call = calls::enter_object($name, self);
            self.model.acquire(Mode::$mode, here());
            self.inner.$lock();
        }

        #[inline]
        #[track_caller]
        fn $try_lock(&self) -> bool {
            let _call = calls::enter_object($try_name, self);
            let granted = self.model.try_acquire(Mode::$mode, here());
            self.accept(granted, Mode::$mode, || self.inner.$try_lock()).unwrap_or_else(|| self.inner.$try_lock())
        }
    )*};
}

/// Methods that try to take the lock in a mode for some time; `$try_lock` tries at once.
macro_rules! take_in_time {
    ($($mode:ident: $try_for:ident $name:literal, $try_until:ident, $try_lock:ident;)*) => {$(
        #[track_caller]
        fn $try_for(&self, timeout: Duration) -> bool {
            let _call = calls::enter_object($name, self);
            let granted = self.model.acquire_for(Mode::$mode, timeout, here());
            self.accept(granted, Mode::$mode, || self.inner.$try_lock())
                .unwrap_or_else(|| self.inner.$try_for(timeout))
        }

        #[track_caller]
        fn $try_until(&self, timeout: Instant) -> bool {
            self.$try_for(until(timeout))
        }
    )*};
}

/// Methods that release the lock.
macro_rules! release {
    ($($mode:ident: $unlock:ident;)*) => {$(
        #[inline]
        unsafe fn $unlock(&self) {
            let _free = Release::of(self);
            self.model.release(Mode::$mode, || {
                // SAFETY: the caller holds the lock.
                unsafe { self.inner.$unlock() };
            });
        }
    )*};
}

/// Methods that change the mode of the lock.
macro_rules! convert {
    ($($from:ident to $to:ident: $convert:ident;)*) => {$(
        #[track_caller]
        unsafe fn $convert(&self) {
            self.model.convert(Mode::$from, Mode::$to, here());
            // SAFETY: the caller holds the lock.
            unsafe { self.inner.$convert() };
        }
    )*};
}

// SAFETY: the inner lock excludes, and it is held between locking and unlocking.
unsafe impl lock_api::RawRwLock for RawRwLock {
    const INIT: RawRwLock = RawRwLock {
        model: Model::new(ObjectKind::RwLock),
        inner: <parking_lot::RawRwLock as lock_api::RawRwLock>::INIT,
    };

    type GuardMarker = GuardMarker;

    take! {
        Shared: lock_shared "read", try_lock_shared "try_read";
        Exclusive: lock_exclusive "write", try_lock_exclusive "try_write";
    }

    release! {
        Shared: unlock_shared;
        Exclusive: unlock_exclusive;
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
    release! {
        Shared: unlock_shared_fair;
        Exclusive: unlock_exclusive_fair;
    }
}

// SAFETY: as above.
unsafe impl lock_api::RawRwLockDowngrade for RawRwLock {
    convert! { Exclusive to Shared: downgrade; }
}

// SAFETY: as above.
unsafe impl lock_api::RawRwLockTimed for RawRwLock {
    type Duration = Duration;
    type Instant = Instant;

    take_in_time! {
        Shared: try_lock_shared_for "try_read_for", try_lock_shared_until, try_lock_shared;
        Exclusive: try_lock_exclusive_for "try_write_for", try_lock_exclusive_until, try_lock_exclusive;
    }
}

// SAFETY: as above.
unsafe impl lock_api::RawRwLockRecursive for RawRwLock {
    #[inline]
    #[track_caller]
    fn lock_shared_recursive(&self) {
        let _call = calls::enter_object("read_recursive", self);
        self.model.acquire_recursive(here());
        self.inner.lock_shared_recursive();
    }

    #[inline]
    #[track_caller]
    fn try_lock_shared_recursive(&self) -> bool {
        let _call = calls::enter_object("try_read_recursive", self);
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
    take! { Upgradable: lock_upgradable "upgradable_read", try_lock_upgradable "try_upgradable_read"; }

    release! { Upgradable: unlock_upgradable; }

    convert! { Upgradable to Exclusive: upgrade; }

    #[track_caller]
    unsafe fn try_upgrade(&self) -> bool {
        let granted = self.model.try_convert(Mode::Upgradable, Mode::Exclusive, here());
        // SAFETY: the caller holds the lock. The real lock admits what the model admits: its holders are the same.
        granted.unwrap_or(true) && unsafe { self.inner.try_upgrade() }
    }
}

// SAFETY: as above.
unsafe impl lock_api::RawRwLockUpgradeFair for RawRwLock {
    release! { Upgradable: unlock_upgradable_fair; }
}

// SAFETY: as above.
unsafe impl lock_api::RawRwLockUpgradeDowngrade for RawRwLock {
    convert! {
        Upgradable to Shared: downgrade_upgradable;
        Exclusive to Upgradable: downgrade_to_upgradable;
    }
}

// SAFETY: as above.
unsafe impl lock_api::RawRwLockUpgradeTimed for RawRwLock {
    take_in_time! { Upgradable: try_lock_upgradable_for "try_upgradable_read_for", try_lock_upgradable_until, try_lock_upgradable; }

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
