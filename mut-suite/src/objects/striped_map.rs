//! A map of two stripes with a lock each, and a counter that lags behind: `ConcurrentHashMap` in small.

use std::collections::BTreeMap;

use interloper::objects::{Object, type_named};
use interloper::sync::Mutex;
use interloper::sync::atomic::{AtomicI64, Ordering::SeqCst};

use super::java;

struct StripedMap {
    stripes: [Mutex<BTreeMap<i64, i64>>; 2],
    /// How many keys there are, once every task has counted its changes.
    count: AtomicI64,
}

impl StripedMap {
    fn new() -> StripedMap {
        StripedMap { stripes: [Mutex::new(BTreeMap::new()), Mutex::new(BTreeMap::new())], count: AtomicI64::new(0) }
    }

    /// Changes the stripe of a key, and counts afterwards.
    fn change<R>(&self, key: i64, change: impl FnOnce(&mut BTreeMap<i64, i64>) -> R) -> R {
        let stripe = &self.stripes[key.rem_euclid(2) as usize];
        let (result, more) = {
            let mut entries = stripe.lock().expect("no panic under the lock");
            let before = entries.len() as i64;
            (change(&mut entries), entries.len() as i64 - before)
        };
        if more != 0 {
            self.count.fetch_add(more, SeqCst);
        }
        result
    }

    fn put_if_absent(&self, key: i64, value: i64) -> Option<i64> {
        self.change(key, |entries| match entries.get(&key) {
            Some(there) => Some(*there),
            None => entries.insert(key, value),
        })
    }

    fn replace(&self, key: i64, value: i64) -> Option<i64> {
        self.change(key, |entries| entries.get_mut(&key).map(|there| std::mem::replace(there, value)))
    }

    fn clear(&self) {
        for stripe in 0..2 {
            self.change(stripe, BTreeMap::clear);
        }
    }

    fn size(&self) -> i64 {
        self.count.load(SeqCst).max(0)
    }

    /// The entries, one stripe after the other.
    fn entries(&self) -> BTreeMap<i64, i64> {
        let stripes = self.stripes.iter();
        stripes.flat_map(|stripe| stripe.lock().expect("no panic under the lock").clone()).collect()
    }

    fn contains_value(&self, value: i64) -> bool {
        let holds = |stripe: &Mutex<BTreeMap<i64, i64>>| {
            stripe.lock().expect("no panic under the lock").values().any(|other| *other == value)
        };
        self.stripes.iter().any(holds)
    }
}

pub(super) fn striped_map() -> Object {
    let keys = |map: &StripedMap| map.entries().into_keys().collect::<Vec<i64>>();
    let values = |map: &StripedMap| map.entries().into_values().collect::<Vec<i64>>();
    Object::describe("striped-map", StripedMap::new)
        .core("put", |map, (key, value)| map.change(key, |entries| entries.insert(key, value)))
        .core("get", |map, (key,)| map.change(key, |entries| entries.get(&key).copied()))
        .reads()
        .core("remove", |map, (key,)| map.change(key, |entries| entries.remove(&key)))
        .core("containsKey", |map, (key,)| map.change(key, |entries| entries.contains_key(&key)))
        .reads()
        .method("putIfAbsent", |map, (key, value)| map.put_if_absent(key, value))
        .method("replace", |map, (key, value)| map.replace(key, value))
        .method("putAll", |map, (entries,): (BTreeMap<i64, i64>,)| {
            for (key, value) in entries {
                map.change(key, |entries| entries.insert(key, value));
            }
        })
        .method("clear", |map, ()| map.clear())
        .method("contains", |map, (value,)| map.contains_value(value))
        .reads()
        .method("containsValue", |map, (value,)| map.contains_value(value))
        .reads()
        .method("isEmpty", |map, ()| map.size() == 0)
        .reads()
        .method("size", |map, ()| map.size())
        .reads()
        .method("mappingCount", |map, ()| map.size())
        .reads()
        .method("keys", move |map, ()| keys(map))
        .reads()
        .method("keySet", move |map, ()| keys(map))
        .reads()
        .method("values", move |map, ()| values(map))
        .reads()
        .method("elements", move |map, ()| values(map))
        .reads()
        .method("entrySet", |map, ()| map.entries().into_iter().collect::<Vec<_>>())
        .reads()
        .method("toString", |map, ()| java::map(&map.entries()))
        .reads()
        .model(type_named("map").expect("a reference type"))
        .build()
}
