//! A semaphore, a cell that is written once, and a lock whose readers can become writers.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![semaphore(), once_cell(), rw_lock()]
}

fn semaphore() -> Object {
    use async_lock::Semaphore;
    Object::describe("async_lock::Semaphore", || Semaphore::new(1))
        .core("try_acquire", |permits, ()| permits.try_acquire().map(|one| one.forget()).is_some())
        .core("add_permits", |permits, ()| permits.add_permits(1))
        .method("available_permits", |permits, ()| permits.available_permits() as i64)
        .build()
}

fn once_cell() -> Object {
    use async_lock::OnceCell;
    Object::describe("async_lock::OnceCell", OnceCell::<i64>::new)
        .core("set_blocking", |cell, (value,): (i64,)| cell.set_blocking(value).is_ok())
        .core("get", |cell, ()| cell.get().copied())
        .method("get_or_init_blocking", |cell, (value,): (i64,)| *cell.get_or_init_blocking(|| value))
        .method("is_initialized", |cell, ()| cell.is_initialized())
        .build()
}

fn rw_lock() -> Object {
    use async_lock::{RwLock, RwLockUpgradableReadGuard};
    Object::describe("async_lock::RwLock", || RwLock::new(0_i64))
        .core("add", |lock, (value,): (i64,)| {
            let mut guard = lock.write_blocking();
            *guard += value;
            *guard
        })
        .core("read", |lock, ()| *lock.read_blocking())
        .method("add_upgraded", |lock, (value,): (i64,)| {
            let guard = lock.upgradable_read_blocking();
            let seen = *guard;
            let mut guard = RwLockUpgradableReadGuard::upgrade_blocking(guard);
            *guard = seen + value;
            *guard
        })
        .build()
}
