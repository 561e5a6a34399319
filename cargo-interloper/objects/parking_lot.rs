//! A lock whose readers can become writers.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![parking_lot()]
}

fn parking_lot() -> Object {
    use ::parking_lot::RwLock;
    Object::describe("parking_lot::RwLock", || RwLock::new(0_i64))
        .core("add", |lock, (value,): (i64,)| {
            let mut guard = lock.write();
            *guard += value;
            *guard
        })
        .core("read", |lock, ()| *lock.read())
        .method("add_upgraded", |lock, (value,): (i64,)| {
            let guard = lock.upgradable_read();
            let seen = *guard;
            let mut guard = ::parking_lot::RwLockUpgradableReadGuard::upgrade(guard);
            *guard = seen + value;
            *guard
        })
        .method("read_then_write", |lock, (value,): (i64,)| {
            let seen = *lock.read();
            *lock.write() = seen + value;
        })
        .build()
}
