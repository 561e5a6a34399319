//! The locks: those of `lock_api` with our raw locks.

use crate::{RawFairMutex, RawMutex, RawRwLock, RawThreadId};

/// Mirrors [`parking_lot::Mutex`].
pub type Mutex<T> = lock_api::Mutex<RawMutex, T>;
/// Mirrors [`parking_lot::MutexGuard`].
pub type MutexGuard<'a, T> = lock_api::MutexGuard<'a, RawMutex, T>;
/// Mirrors [`parking_lot::MappedMutexGuard`].
pub type MappedMutexGuard<'a, T> = lock_api::MappedMutexGuard<'a, RawMutex, T>;

/// Mirrors [`parking_lot::FairMutex`].
pub type FairMutex<T> = lock_api::Mutex<RawFairMutex, T>;
/// Mirrors [`parking_lot::FairMutexGuard`].
pub type FairMutexGuard<'a, T> = lock_api::MutexGuard<'a, RawFairMutex, T>;
/// Mirrors [`parking_lot::MappedFairMutexGuard`].
pub type MappedFairMutexGuard<'a, T> = lock_api::MappedMutexGuard<'a, RawFairMutex, T>;

/// Mirrors [`parking_lot::ReentrantMutex`].
pub type ReentrantMutex<T> = lock_api::ReentrantMutex<RawMutex, RawThreadId, T>;
/// Mirrors [`parking_lot::ReentrantMutexGuard`].
pub type ReentrantMutexGuard<'a, T> = lock_api::ReentrantMutexGuard<'a, RawMutex, RawThreadId, T>;
/// Mirrors [`parking_lot::MappedReentrantMutexGuard`].
pub type MappedReentrantMutexGuard<'a, T> = lock_api::MappedReentrantMutexGuard<'a, RawMutex, RawThreadId, T>;

/// Mirrors [`parking_lot::RwLock`].
pub type RwLock<T> = lock_api::RwLock<RawRwLock, T>;
/// Mirrors [`parking_lot::RwLockReadGuard`].
pub type RwLockReadGuard<'a, T> = lock_api::RwLockReadGuard<'a, RawRwLock, T>;
/// Mirrors [`parking_lot::RwLockWriteGuard`].
pub type RwLockWriteGuard<'a, T> = lock_api::RwLockWriteGuard<'a, RawRwLock, T>;
/// Mirrors [`parking_lot::RwLockUpgradableReadGuard`].
pub type RwLockUpgradableReadGuard<'a, T> = lock_api::RwLockUpgradableReadGuard<'a, RawRwLock, T>;
/// Mirrors [`parking_lot::MappedRwLockReadGuard`].
pub type MappedRwLockReadGuard<'a, T> = lock_api::MappedRwLockReadGuard<'a, RawRwLock, T>;
/// Mirrors [`parking_lot::MappedRwLockWriteGuard`].
pub type MappedRwLockWriteGuard<'a, T> = lock_api::MappedRwLockWriteGuard<'a, RawRwLock, T>;

/// As [`parking_lot::const_mutex`].
pub const fn const_mutex<T>(val: T) -> Mutex<T> {
    Mutex::const_new(<RawMutex as lock_api::RawMutex>::INIT, val)
}

/// As [`parking_lot::const_fair_mutex`].
pub const fn const_fair_mutex<T>(val: T) -> FairMutex<T> {
    FairMutex::const_new(<RawFairMutex as lock_api::RawMutex>::INIT, val)
}

/// As [`parking_lot::const_reentrant_mutex`].
pub const fn const_reentrant_mutex<T>(val: T) -> ReentrantMutex<T> {
    let id = <RawThreadId as lock_api::GetThreadId>::INIT;
    ReentrantMutex::const_new(<RawMutex as lock_api::RawMutex>::INIT, id, val)
}

/// As [`parking_lot::const_rwlock`].
pub const fn const_rwlock<T>(val: T) -> RwLock<T> {
    RwLock::const_new(<RawRwLock as lock_api::RawRwLock>::INIT, val)
}
