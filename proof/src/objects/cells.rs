//! Cells, slots and locks.

use interloper_harness::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![sharded_slab(), boxcar(), epoch(), arc_swap(), once_cell(), parking_lot()]
}

fn sharded_slab() -> Object {
    use sharded_slab::Slab;
    // Keys depend on the thread that inserts, so the calls are about two values that are there from the beginning.
    Object::describe("sharded_slab::Slab", || {
        let slab = Slab::<i64>::new();
        let keys = [0, 1].map(|value| slab.insert(value).expect("there is room"));
        (slab, keys)
    })
    .core("get", |(slab, keys), (index,): (i64,)| slab.get(keys[index as usize % 2]).map(|found| *found))
    .reads()
    .core("take", |(slab, keys), (index,): (i64,)| slab.take(keys[index as usize % 2]))
    .method("remove", |(slab, keys), (index,): (i64,)| slab.remove(keys[index as usize % 2]))
    .method("contains", |(slab, keys), (index,): (i64,)| slab.contains(keys[index as usize % 2]))
    .reads()
    .build()
}

fn boxcar() -> Object {
    Object::describe("boxcar::Vec", boxcar::Vec::<i64>::new)
        .core("push", |all, (value,): (i64,)| all.push(value) as i64)
        .core("get", |all, ()| all.get(0).copied())
        .method("count", |all, ()| all.count() as i64)
        .method("iter", |all, ()| all.iter().map(|(_, value)| *value).collect::<Vec<i64>>())
        .build()
}

fn epoch() -> Object {
    use crossbeam::epoch::{self, Atomic, Owned};
    use std::sync::atomic::Ordering::SeqCst;
    Object::describe("crossbeam_epoch::Atomic", || Atomic::new(0_i64))
        .core("swap", |cell, (value,): (i64,)| {
            let guard = epoch::pin();
            let old = cell.swap(Owned::new(value), SeqCst, &guard);
            // SAFETY: nothing else gives the value back, and it lives as long as somebody may look at it.
            unsafe {
                guard.defer_destroy(old);
                *old.deref()
            }
        })
        .core("load", |cell, ()| {
            let guard = epoch::pin();
            // SAFETY: what is loaded while pinned is not destroyed.
            unsafe { *cell.load(SeqCst, &guard).deref() }
        })
        .build()
}

fn arc_swap() -> Object {
    use ::arc_swap::ArcSwap;
    use std::sync::Arc;
    Object::describe("arc_swap::ArcSwap", || ArcSwap::from_pointee(0_i64))
        .core("store", |cell, (value,): (i64,)| cell.store(Arc::new(value)))
        .core("load", |cell, ()| **cell.load())
        .core("swap", |cell, (value,): (i64,)| *cell.swap(Arc::new(value)))
        .method("rcu_add", |cell, (value,): (i64,)| *cell.rcu(|old| Arc::new(**old + value)))
        .build()
}

fn once_cell() -> Object {
    use ::once_cell::sync::OnceCell;
    Object::describe("once_cell::sync::OnceCell", OnceCell::<i64>::new)
        .core("set", |cell, (value,): (i64,)| cell.set(value).is_ok())
        .core("get", |cell, ()| cell.get().copied())
        .method("get_or_init", |cell, (value,): (i64,)| *cell.get_or_init(|| value))
        .build()
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
