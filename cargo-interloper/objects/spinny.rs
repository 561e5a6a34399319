//! A lock that spins.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![rw_lock()]
}

fn rw_lock() -> Object {
    #[allow(deprecated)]
    use ::spinny::{RwLock, RwLockUpgradableReadGuard, RwLockWriteGuard};
    Object::describe("spinny::RwLock", || RwLock::new(0_i64))
        .core("add", |lock, (value,): (i64,)| {
            let mut guard = lock.write();
            *guard += value;
            *guard
        })
        .core("read", |lock, ()| *lock.read())
        .method("add_upgraded", |lock, (value,): (i64,)| {
            let guard = lock.upgradable_read();
            let seen = *guard;
            let mut guard = RwLockUpgradableReadGuard::upgrade(guard);
            *guard = seen + value;
            *guard
        })
        .method("add_downgraded", |lock, (value,): (i64,)| {
            let mut guard = lock.write();
            *guard += value;
            *RwLockWriteGuard::downgrade(guard)
        })
        .build()
}
