//! Maps of published crates, each with the methods that a map has, whatever they are called there.

use std::collections::BTreeMap;

use crossbeam_skiplist::SkipMap;
use dashmap::DashMap;
use interloper::objects::{Description, Object};
use interloper::{ToValue, Value};

/// A map that several threads may use.
trait Map: Default + Send + Sync + 'static {
    /// What `put` and `take` return about the entry before: its content, or only whether it existed.
    type Before: ToValue + PartialEq + Send + 'static;

    fn put(&self, key: i64, value: i64) -> Self::Before;
    fn take(&self, key: i64) -> Self::Before;
    fn look(&self, key: i64) -> Option<i64>;
    fn has(&self, key: i64) -> bool;
    fn count(&self) -> usize;
    fn none(&self) -> bool;
    fn wipe(&self);
    /// The entries as an iteration meets them.
    fn walk(&self, meet: &mut dyn FnMut(i64, i64));

    /// The entries, sorted: the order of a hash map means nothing.
    fn entries(&self) -> Vec<(i64, i64)> {
        let mut entries = Vec::new();
        self.walk(&mut |key, value| entries.push((key, value)));
        entries.sort_unstable();
        entries
    }
}

/// A map, and the call that each method of [`Map`] is there.
macro_rules! map {
    (
        $map:ty, before: $before:ty;
        put: |$put_in:ident, $put_key:ident, $put_value:ident| $put:expr;
        take: |$take_from:ident, $take_key:ident| $take:expr;
        look: |$look_in:ident, $look_key:ident| $look:expr;
        has: |$has_in:ident, $has_key:ident| $has:expr;
        count: |$count_of:ident| $count:expr;
        none: |$none_in:ident| $none:expr;
        wipe: |$wiped:ident| $wipe:expr;
        walk: |$walked:ident, $meet:ident| $walk:expr;
    ) => {
        impl Map for $map {
            type Before = $before;

            fn put(&self, $put_key: i64, $put_value: i64) -> $before {
                let $put_in = self;
                $put
            }
            fn take(&self, $take_key: i64) -> $before {
                let $take_from = self;
                $take
            }
            fn look(&self, $look_key: i64) -> Option<i64> {
                let $look_in = self;
                $look
            }
            fn has(&self, $has_key: i64) -> bool {
                let $has_in = self;
                $has
            }
            fn count(&self) -> usize {
                let $count_of = self;
                $count
            }
            fn none(&self) -> bool {
                let $none_in = self;
                $none
            }
            fn wipe(&self) {
                let $wiped = self;
                $wipe;
            }
            fn walk(&self, $meet: &mut dyn FnMut(i64, i64)) {
                let $walked = self;
                $walk;
            }
        }
    };
}

// After the macro, which it uses.
#[cfg(feature = "study")]
pub(super) mod study;

/// The methods that all maps have, for a map that is made in its own way.
fn with_core<M: Map>(description: Description<M>) -> Description<M> {
    let description = description
        .core("put", |map: &M, (key, value)| map.put(key, value))
        .core("remove", |map, (key,)| map.take(key));
    others(description)
}

/// All methods except those that change an entry.
fn others<M: Map>(description: Description<M>) -> Description<M> {
    description
        .core("get", |map: &M, (key,)| map.look(key))
        .reads()
        .core("containsKey", |map, (key,)| map.has(key))
        .reads()
        .method("putAll", |map, (entries,): (BTreeMap<i64, i64>,)| {
            for (key, value) in entries {
                map.put(key, value);
            }
        })
        .method("clear", |map, ()| map.wipe())
        .method("size", |map, ()| map.count())
        .reads()
        .method("isEmpty", |map, ()| map.none())
        .reads()
        .method("containsValue", |map, (value,): (i64,)| map.entries().iter().any(|entry| entry.1 == value))
        .reads()
        .method("keySet", |map, ()| map.entries().into_iter().map(|entry| entry.0).collect::<Vec<i64>>())
        .reads()
        .method("values", |map, ()| map.entries().into_iter().map(|entry| entry.1).collect::<Vec<i64>>())
        .reads()
        .method("entrySet", |map, ()| map.entries())
        .reads()
}

map! {
    DashMap<i64, i64>, before: Option<i64>;
    put: |map, key, value| map.insert(key, value);
    take: |map, key| map.remove(&key).map(|entry| entry.1);
    look: |map, key| map.get(&key).map(|value| *value);
    has: |map, key| map.contains_key(&key);
    count: |map| map.len();
    none: |map| map.is_empty();
    wipe: |map| map.clear();
    walk: |map, meet| map.iter().for_each(|entry| meet(*entry.key(), *entry.value()));
}

/// The number of shards that `new` makes on two processors, on all machines.
const SHARDS: usize = 8;

pub(super) fn dashmap() -> Object {
    let make = || DashMap::with_shard_amount(SHARDS);
    with_core(Object::describe("dashmap", make))
        .method("putIfAbsent", |map, (key, value): (i64, i64)| *map.entry(key).or_insert(value))
        .method("retain", |map, (value,): (i64,)| map.retain(|_, other| *other == value))
        .build()
}

map! {
    SkipMap<i64, i64>, before: Option<i64>;
    // `insert` does not return the entry before.
    put: |map, key, value| {
        map.insert(key, value);
        None
    };
    take: |map, key| map.remove(&key).map(|entry| *entry.value());
    look: |map, key| map.get(&key).map(|entry| *entry.value());
    has: |map, key| map.contains_key(&key);
    count: |map| map.len();
    none: |map| map.is_empty();
    wipe: |map| map.clear();
    walk: |map, meet| map.iter().for_each(|entry| meet(*entry.key(), *entry.value()));
}

pub(super) fn skip_map() -> Object {
    use std::ops::Bound::{Excluded, Included};
    fn key(entry: Option<crossbeam_skiplist::map::Entry<'_, i64, i64>>) -> Option<i64> {
        entry.map(|entry| *entry.key())
    }
    fn range(map: &SkipMap<i64, i64>, range: impl std::ops::RangeBounds<i64>) -> Value {
        map.range(range).map(|entry| (*entry.key(), *entry.value())).collect::<Vec<_>>().to_value()
    }
    #[derive(PartialEq)]
    struct Entries(Value);
    impl ToValue for Entries {
        fn to_value(&self) -> Value {
            self.0.clone()
        }
    }
    // `insert` and `remove` of the map are under test: the first removes the old entry before it inserts the new one,
    // and the second returns an entry to every task that found it. An entry knows which task has removed it.
    let core = Object::describe("skip-map", SkipMap::<i64, i64>::default)
        .core("putIfAbsent", |map, (key, value): (i64, i64)| *map.get_or_insert(key, value).value())
        .core("removeEntry", |map, (key,): (i64,)| {
            map.get(&key).filter(|entry| entry.remove()).map(|entry| *entry.value())
        });
    others(core)
        .method("put", |map, (key, value)| map.put(key, value))
        .method("remove", |map, (key,)| map.take(key))
        .method("firstKey", |map, ()| key(map.front()))
        .reads()
        .method("lastKey", |map, ()| key(map.back()))
        .reads()
        .method("ceilingKey", |map, (from,): (i64,)| key(map.lower_bound(Included(&from))))
        .reads()
        .method("higherKey", |map, (from,): (i64,)| key(map.lower_bound(Excluded(&from))))
        .reads()
        .method("floorKey", |map, (to,): (i64,)| key(map.upper_bound(Included(&to))))
        .reads()
        .method("lowerKey", |map, (to,): (i64,)| key(map.upper_bound(Excluded(&to))))
        .reads()
        .method("headMap", |map, (end,): (i64,)| Entries(range(map, ..end)))
        .reads()
        .method("tailMap", |map, (start,): (i64,)| Entries(range(map, start..)))
        .reads()
        .method("pollFirstEntry", |map, ()| key(map.pop_front()))
        .method("pollLastEntry", |map, ()| key(map.pop_back()))
        .build()
}
