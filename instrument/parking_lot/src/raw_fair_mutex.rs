//! `RawFairMutex`.

use std::time::Duration;

use interloper_std::time::Instant;
use lock_api::RawMutexFair as _;

use crate::raw_mutex::RawMutex;

/// Mirrors [`parking_lot::RawFairMutex`]. Under control it is granted like any other.
pub struct RawFairMutex(RawMutex);

// SAFETY: the inner mutex excludes.
unsafe impl lock_api::RawMutex for RawFairMutex {
    const INIT: RawFairMutex = RawFairMutex(RawMutex::INIT);

    type GuardMarker = <RawMutex as lock_api::RawMutex>::GuardMarker;

    #[inline]
    #[track_caller]
    fn lock(&self) {
        self.0.lock();
    }

    #[inline]
    #[track_caller]
    fn try_lock(&self) -> bool {
        self.0.try_lock()
    }

    #[inline]
    unsafe fn unlock(&self) {
        // SAFETY: the caller promises what the call asks for.
        unsafe { self.0.unlock_fair() };
    }

    #[track_caller]
    fn is_locked(&self) -> bool {
        self.0.is_locked()
    }
}

// SAFETY: as above.
unsafe impl lock_api::RawMutexFair for RawFairMutex {
    #[inline]
    unsafe fn unlock_fair(&self) {
        // SAFETY: the caller promises what the call asks for.
        unsafe { self.0.unlock_fair() };
    }
}

// SAFETY: as above.
unsafe impl lock_api::RawMutexTimed for RawFairMutex {
    type Duration = Duration;
    type Instant = Instant;

    #[track_caller]
    fn try_lock_for(&self, timeout: Duration) -> bool {
        self.0.try_lock_for(timeout)
    }

    #[track_caller]
    fn try_lock_until(&self, timeout: Instant) -> bool {
        self.0.try_lock_until(timeout)
    }
}
