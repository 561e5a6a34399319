//! Locks that spin, and a cell that is written once.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![mutex(), rw_lock(), once()]
}

fn mutex() -> Object {
    use ::spin::Mutex;
    Object::describe("spin::Mutex", || Mutex::new(0_i64))
        .core("add", |lock, (value,): (i64,)| {
            let mut guard = lock.lock();
            *guard += value;
            *guard
        })
        .core("read", |lock, ()| *lock.lock())
        .method("is_locked", |lock, ()| lock.is_locked())
        .build()
}

fn rw_lock() -> Object {
    use ::spin::RwLock;
    Object::describe("spin::RwLock", || RwLock::new(0_i64))
        .core("add", |lock, (value,): (i64,)| {
            let mut guard = lock.write();
            *guard += value;
            *guard
        })
        .core("read", |lock, ()| *lock.read())
        .method("add_upgraded", |lock, (value,): (i64,)| {
            let guard = lock.upgradeable_read();
            let seen = *guard;
            let mut guard = guard.upgrade();
            *guard = seen + value;
            *guard
        })
        .method("add_downgraded", |lock, (value,): (i64,)| {
            let mut guard = lock.write();
            *guard += value;
            *guard.downgrade_to_upgradeable().downgrade()
        })
        .build()
}

fn once() -> Object {
    use ::spin::Once;
    Object::describe("spin::Once", Once::<i64>::new)
        .core("call_once", |cell, (value,): (i64,)| *cell.call_once(|| value))
        .core("get", |cell, ()| cell.get().copied())
        .method("poll", |cell, ()| cell.poll().copied())
        .method("is_completed", |cell, ()| cell.is_completed())
        .build()
}
