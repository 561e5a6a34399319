//! Collections of std behind one lock, as programs have them: what holds the lock once is atomic, and what takes it
//! several times is not. In Java these are `ArrayBlockingQueue`, `PriorityBlockingQueue` and the synchronized wrappers.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, VecDeque};

use interloper::objects::{Object, type_named};
use interloper::sync::{Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::java::{self, any};

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no panic under the lock")
}

fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().expect("no panic under the lock")
}

fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().expect("no panic under the lock")
}

pub(super) fn mutex_map() -> Object {
    Object::describe("mutex-map", Mutex::<BTreeMap<i64, i64>>::default)
        .core("put", |map, (key, value)| lock(map).insert(key, value))
        .core("get", |map, (key,): (i64,)| lock(map).get(&key).copied())
        .reads()
        .core("remove", |map, (key,): (i64,)| lock(map).remove(&key))
        .core("containsKey", |map, (key,): (i64,)| lock(map).contains_key(&key))
        .reads()
        .method("size", |map, ()| lock(map).len())
        .reads()
        .method("isEmpty", |map, ()| lock(map).is_empty())
        .reads()
        .method("containsValue", |map, (value,): (i64,)| lock(map).values().any(|other| *other == value))
        .reads()
        .method("entrySet", |map, ()| lock(map).clone().into_iter().collect::<Vec<_>>())
        .reads()
        .method("clear", |map, ()| lock(map).clear())
        // Looks first, and takes the lock again to act on what it saw.
        .method("putIfAbsent", |map, (key, value): (i64, i64)| {
            let there = lock(map).get(&key).copied();
            there.or_else(|| lock(map).insert(key, value))
        })
        .method("replace", |map, (key, value): (i64, i64)| {
            let there = lock(map).contains_key(&key);
            there.then(|| lock(map).insert(key, value)).flatten()
        })
        .method("putAll", |map, (entries,): (BTreeMap<i64, i64>,)| {
            for (key, value) in entries {
                lock(map).insert(key, value);
            }
        })
        .model(type_named("map").expect("a reference type"))
        .build()
}

pub(super) fn rwlock_map() -> Object {
    Object::describe("rwlock-map", RwLock::<BTreeMap<i64, i64>>::default)
        .core("put", |map, (key, value)| write(map).insert(key, value))
        .core("get", |map, (key,): (i64,)| read(map).get(&key).copied())
        .reads()
        .core("remove", |map, (key,): (i64,)| write(map).remove(&key))
        .core("containsKey", |map, (key,): (i64,)| read(map).contains_key(&key))
        .reads()
        .method("size", |map, ()| read(map).len())
        .reads()
        .method("values", |map, ()| read(map).values().copied().collect::<Vec<i64>>())
        .reads()
        // A shared lock cannot become an exclusive one.
        .method("putIfAbsent", |map, (key, value): (i64, i64)| {
            let there = read(map).get(&key).copied();
            there.or_else(|| write(map).insert(key, value))
        })
        .method("replace", |map, (key, value): (i64, i64)| {
            let there = read(map).contains_key(&key);
            there.then(|| write(map).insert(key, value)).flatten()
        })
        .method("putAll", |map, (entries,): (BTreeMap<i64, i64>,)| {
            for (key, value) in entries {
                write(map).insert(key, value);
            }
        })
        .method("clear", |map, ()| {
            let keys: Vec<i64> = read(map).keys().copied().collect();
            for key in keys {
                write(map).remove(&key);
            }
        })
        .model(type_named("map").expect("a reference type"))
        .build()
}

pub(super) fn mutex_queue() -> Object {
    Object::describe("mutex-queue", Mutex::<VecDeque<i64>>::default)
        .core("offer", |queue, (item,)| {
            lock(queue).push_back(item);
            true
        })
        .core("poll", |queue, ()| lock(queue).pop_front())
        .core("peek", |queue, ()| lock(queue).front().copied())
        .reads()
        .method("size", |queue, ()| lock(queue).len())
        .reads()
        .method("isEmpty", |queue, ()| lock(queue).is_empty())
        .reads()
        .method("contains", |queue, (item,): (i64,)| lock(queue).contains(&item))
        .reads()
        .method("toArray", |queue, ()| Vec::from(lock(queue).clone()))
        .reads()
        .method("clear", |queue, ()| lock(queue).clear())
        .method("addAll", |queue, (items,)| {
            any(items, |item| {
                lock(queue).push_back(item);
                true
            })
        })
        // Finds the place of each item, and takes the lock again to remove the item at that place.
        .method("removeAll", |queue, (items,): (Vec<i64>,)| {
            let there = lock(queue).iter().copied().collect();
            any(there, |item| items.contains(&item) && take(queue, item))
        })
        .method("retainAll", |queue, (items,): (Vec<i64>,)| {
            let there = lock(queue).iter().copied().collect();
            any(there, |item| !items.contains(&item) && take(queue, item))
        })
        .method("containsAll", |queue, (items,): (Vec<i64>,)| items.iter().all(|item| lock(queue).contains(item)))
        .reads()
        .data_independent()
        .model(type_named("queue").expect("a reference type"))
        .build()
}

fn take(queue: &Mutex<VecDeque<i64>>, item: i64) -> bool {
    let mut queue = lock(queue);
    let place = queue.iter().position(|other| *other == item);
    place.and_then(|place| queue.remove(place)).is_some()
}

pub(super) fn rwlock_set() -> Object {
    Object::describe("rwlock-set", RwLock::<BTreeSet<i64>>::default)
        .core("add", |set, (item,)| write(set).insert(item))
        .core("remove", |set, (item,): (i64,)| write(set).remove(&item))
        .core("contains", |set, (item,): (i64,)| read(set).contains(&item))
        .reads()
        .method("size", |set, ()| read(set).len())
        .reads()
        .method("first", |set, ()| java::or_empty(read(set).first().copied()))
        .reads()
        .method("toArray", |set, ()| read(set).iter().copied().collect::<Vec<i64>>())
        .reads()
        .method("addAll", |set, (items,)| any(items, |item| write(set).insert(item)))
        .method("removeAll", |set, (items,)| any(items, |item| write(set).remove(&item)))
        .method("retainAll", |set, (items,): (Vec<i64>,)| {
            let there = read(set).iter().copied().collect();
            any(there, |item| !items.contains(&item) && write(set).remove(&item))
        })
        .method("containsAll", |set, (items,): (Vec<i64>,)| items.iter().all(|item| read(set).contains(item)))
        .reads()
        // Looks with the shared lock, and removes what it saw with the other.
        .method("pollFirst", |set, ()| poll(set, BTreeSet::first))
        .method("pollLast", |set, ()| poll(set, BTreeSet::last))
        .model(type_named("sorted-set").expect("a reference type"))
        .build()
}

fn poll(set: &RwLock<BTreeSet<i64>>, choose: fn(&BTreeSet<i64>) -> Option<&i64>) -> Option<i64> {
    loop {
        let item = choose(&read(set)).copied()?;
        if write(set).remove(&item) {
            return Some(item);
        }
    }
}

pub(super) fn mutex_priority_queue() -> Object {
    type Heap = Mutex<BinaryHeap<Reverse<i64>>>;
    let sorted = |heap: &Heap| -> Vec<i64> {
        let mut items: Vec<i64> = lock(heap).iter().map(|Reverse(item)| *item).collect();
        items.sort_unstable();
        items
    };
    let take = |heap: &Heap, item: i64| {
        let mut heap = lock(heap);
        let before = heap.len();
        let mut found = false;
        heap.retain(|Reverse(other)| *other != item || std::mem::replace(&mut found, true));
        heap.len() < before
    };
    Object::describe("mutex-priority-queue", Heap::default)
        .core("offer", |heap, (item,)| {
            lock(heap).push(Reverse(item));
            true
        })
        .core("poll", |heap, ()| lock(heap).pop().map(|Reverse(item)| item))
        .core("peek", |heap, ()| lock(heap).peek().map(|Reverse(item)| *item))
        .reads()
        .method("size", |heap, ()| lock(heap).len())
        .reads()
        .method("toArray", move |heap, ()| sorted(heap))
        .reads()
        .method("addAll", |heap, (items,)| {
            any(items, |item| {
                lock(heap).push(Reverse(item));
                true
            })
        })
        .method("removeAll", move |heap, (items,): (Vec<i64>,)| {
            any(sorted(heap), |item| items.contains(&item) && take(heap, item))
        })
        .method("retainAll", move |heap, (items,): (Vec<i64>,)| {
            any(sorted(heap), |item| !items.contains(&item) && take(heap, item))
        })
        .method("containsAll", |heap, (items,): (Vec<i64>,)| {
            items.iter().all(|item| lock(heap).iter().any(|Reverse(other)| other == item))
        })
        .reads()
        .model(type_named("priority-queue").expect("a reference type"))
        .build()
}
