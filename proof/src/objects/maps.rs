//! Maps and caches.

use std::collections::BTreeMap;
use std::ptr::NonNull;

use allocator_api2::alloc::{AllocError, Allocator, Global, Layout};
use interloper_harness::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![dashmap(), skiplist(), leapfrog(), quick_cache()]
}

pub fn dashmap() -> Object {
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
    use std::collections::hash_map::DefaultHasher;
    use std::hash::BuildHasherDefault;
    type Hasher = BuildHasherDefault<DefaultHasher>;
    // An insertion may read a key that nobody has written. So that each run reads the same, the memory has zeros in it.
    Object::describe("leapfrog::LeapMap", || LeapMap::<i64, i64, Hasher, _>::new_in(Zeroed))
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

/// Gives memory that has zeros in it, and not what it was used for before.
#[derive(Clone, Copy)]
struct Zeroed;

// SAFETY: all memory is that of `Global`.
unsafe impl Allocator for Zeroed {
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        Global.allocate_zeroed(layout)
    }

    unsafe fn deallocate(&self, pointer: NonNull<u8>, layout: Layout) {
        // SAFETY: the caller has the pointer from `allocate`, which has it from `Global`.
        unsafe { Global.deallocate(pointer, layout) }
    }
}
