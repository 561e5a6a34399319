//! The real types, described by their constructors and methods.

use std::collections::BTreeMap;

use interloper_harness::Object;

/// All objects, by the names of their crates.
pub fn all() -> Vec<Object> {
    vec![
        dashmap(),
        skiplist(),
        leapfrog(),
        quick_cache(),
        sharded_slab(),
        seg_queue(),
        array_queue(),
        injector(),
        channel(),
        concurrent_queue(),
        flume(),
        thingbuf(),
        boxcar(),
        epoch(),
        arc_swap(),
        once_cell(),
        parking_lot(),
    ]
}

fn dashmap() -> Object {
    use dashmap::DashMap;
    Object::describe("dashmap::DashMap", || DashMap::<i64, i64>::with_shard_amount(2))
        .core("insert", |map, (key, value): (i64, i64)| map.insert(key, value))
        .core("get", |map, (key,): (i64,)| map.get(&key).map(|found| *found))
        .core("remove", |map, (key,): (i64,)| map.remove(&key).map(|(_, value)| value))
        .method("contains_key", |map, (key,): (i64,)| map.contains_key(&key))
        .method("entry_or_insert", |map, (key, value): (i64, i64)| *map.entry(key).or_insert(value))
        .method("len", |map, ()| map.len() as i64)
        .method("clear", |map, ()| map.clear())
        .method("iter", |map, ()| map.iter().map(|entry| (*entry.key(), *entry.value())).collect::<BTreeMap<_, _>>())
        .build()
}

fn skiplist() -> Object {
    use crossbeam_skiplist::SkipMap;
    Object::describe("crossbeam_skiplist::SkipMap", SkipMap::<i64, i64>::new)
        .core("insert", |map, (key, value): (i64, i64)| *map.insert(key, value).value())
        .core("get", |map, (key,): (i64,)| map.get(&key).map(|entry| *entry.value()))
        .core("remove", |map, (key,): (i64,)| map.remove(&key).map(|entry| *entry.value()))
        .method("get_or_insert", |map, (key, value): (i64, i64)| *map.get_or_insert(key, value).value())
        .method("len", |map, ()| map.len() as i64)
        .method("pop_front", |map, ()| map.pop_front().map(|entry| *entry.key()))
        .method("iter", |map, ()| map.iter().map(|entry| (*entry.key(), *entry.value())).collect::<BTreeMap<_, _>>())
        .build()
}

fn leapfrog() -> Object {
    use leapfrog::LeapMap;
    Object::describe("leapfrog::LeapMap", LeapMap::<i64, i64>::new)
        .core("insert", |map, (key, value): (i64, i64)| map.insert(key, value))
        .core("get", |map, (key,): (i64,)| map.get(&key).and_then(|mut found| found.value()))
        .core("remove", |map, (key,): (i64,)| map.remove(&key))
        .method("len", |map, ()| map.len() as i64)
        .build()
}

fn quick_cache() -> Object {
    use quick_cache::sync::Cache;
    Object::describe("quick_cache::sync::Cache", || Cache::<i64, i64>::new(100))
        .core("insert", |cache, (key, value): (i64, i64)| cache.insert(key, value))
        .core("get", |cache, (key,): (i64,)| cache.get(&key))
        .core("remove", |cache, (key,): (i64,)| cache.remove(&key).map(|(_, value)| value))
        .method("len", |cache, ()| cache.len() as i64)
        .method("clear", |cache, ()| cache.clear())
        .build()
}

fn sharded_slab() -> Object {
    use sharded_slab::Slab;
    Object::describe("sharded_slab::Slab", || {
        let slab = Slab::<i64>::new();
        let key = slab.insert(0).expect("there is room");
        (slab, key)
    })
    .core("get", |(slab, key), ()| slab.get(*key).map(|found| *found))
    .core("take", |(slab, key), ()| slab.take(*key))
    .method("remove", |(slab, key), ()| slab.remove(*key))
    .method("contains", |(slab, key), ()| slab.contains(*key))
    .build()
}

fn seg_queue() -> Object {
    use crossbeam::queue::SegQueue;
    Object::describe("crossbeam_queue::SegQueue", SegQueue::<i64>::new)
        .core("push", |queue, (value,): (i64,)| queue.push(value))
        .core("pop", |queue, ()| queue.pop())
        .method("len", |queue, ()| queue.len() as i64)
        .method("is_empty", |queue, ()| queue.is_empty())
        .build()
}

fn array_queue() -> Object {
    use crossbeam::queue::ArrayQueue;
    Object::describe("crossbeam_queue::ArrayQueue", || ArrayQueue::<i64>::new(2))
        .core("push", |queue, (value,): (i64,)| queue.push(value).is_ok())
        .core("pop", |queue, ()| queue.pop())
        .method("force_push", |queue, (value,): (i64,)| queue.force_push(value))
        .method("len", |queue, ()| queue.len() as i64)
        .method("is_full", |queue, ()| queue.is_full())
        .build()
}

fn injector() -> Object {
    use crossbeam::deque::{Injector, Steal};
    // A steal that is to be tried again is, since nothing else is said of it.
    Object::describe("crossbeam_deque::Injector", Injector::<i64>::new)
        .core("push", |queue, (value,): (i64,)| queue.push(value))
        .core("steal", |queue, ()| {
            loop {
                match queue.steal() {
                    Steal::Success(value) => return Some(value),
                    Steal::Empty => return None,
                    Steal::Retry => std::thread::yield_now(),
                }
            }
        })
        .method("len", |queue, ()| queue.len() as i64)
        .method("is_empty", |queue, ()| queue.is_empty())
        .build()
}

fn channel() -> Object {
    use crossbeam::channel::bounded;
    Object::describe("crossbeam_channel::bounded", || bounded::<i64>(2))
        .core("try_send", |(sender, _), (value,): (i64,)| sender.try_send(value).is_ok())
        .core("try_recv", |(_, receiver), ()| receiver.try_recv().ok())
        .method("len", |(_, receiver), ()| receiver.len() as i64)
        .method("is_full", |(sender, _), ()| sender.is_full())
        .build()
}

fn concurrent_queue() -> Object {
    use concurrent_queue::ConcurrentQueue;
    Object::describe("concurrent_queue::ConcurrentQueue", || ConcurrentQueue::<i64>::bounded(2))
        .core("push", |queue, (value,): (i64,)| queue.push(value).is_ok())
        .core("pop", |queue, ()| queue.pop().ok())
        .method("len", |queue, ()| queue.len() as i64)
        .method("is_full", |queue, ()| queue.is_full())
        .method("close", |queue, ()| queue.close())
        .build()
}

fn flume() -> Object {
    Object::describe("flume::bounded", || flume::bounded::<i64>(2))
        .core("try_send", |(sender, _), (value,): (i64,)| sender.try_send(value).is_ok())
        .core("try_recv", |(_, receiver), ()| receiver.try_recv().ok())
        .method("len", |(_, receiver), ()| receiver.len() as i64)
        .method("drain", |(_, receiver), ()| receiver.drain().collect::<Vec<i64>>())
        .build()
}

fn thingbuf() -> Object {
    use thingbuf::ThingBuf;
    Object::describe("thingbuf::ThingBuf", || ThingBuf::<i64>::new(2))
        .core("push", |queue, (value,): (i64,)| queue.push(value).is_ok())
        .core("pop", |queue, ()| queue.pop())
        .method("len", |queue, ()| queue.len() as i64)
        .method("is_empty", |queue, ()| queue.is_empty())
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
