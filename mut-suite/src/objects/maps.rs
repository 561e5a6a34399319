//! Maps of published crates, each with the methods that a map has, whatever they are called there.

use std::collections::BTreeMap;

use crossbeam_skiplist::SkipMap;
use dashmap::DashMap;
use interloper::objects::{Description, Object};
use interloper::{ToValue, Value};
use scc::Guard;

/// A map that several threads may use.
trait Map: Default + Send + Sync + 'static {
    /// What putting and removing say of the entry before: its content, or only whether there was one.
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

    /// The same, sorted: the order of a hash map means nothing.
    fn entries(&self) -> Vec<(i64, i64)> {
        let mut entries = Vec::new();
        self.walk(&mut |key, value| entries.push((key, value)));
        entries.sort_unstable();
        entries
    }
}

/// The methods that all of them have.
fn map<M: Map>(name: &str) -> Description<M> {
    with_core(Object::describe(name, M::default))
}

/// The same for a map that is made in another way.
fn with_core<M: Map>(description: Description<M>) -> Description<M> {
    let description = description
        .core("put", |map: &M, (key, value)| map.put(key, value))
        .core("remove", |map, (key,)| map.take(key));
    others(description)
}

/// All but what changes an entry.
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

impl Map for DashMap<i64, i64> {
    type Before = Option<i64>;

    fn put(&self, key: i64, value: i64) -> Option<i64> {
        self.insert(key, value)
    }
    fn take(&self, key: i64) -> Option<i64> {
        self.remove(&key).map(|entry| entry.1)
    }
    fn look(&self, key: i64) -> Option<i64> {
        self.get(&key).map(|value| *value)
    }
    fn has(&self, key: i64) -> bool {
        self.contains_key(&key)
    }
    fn count(&self) -> usize {
        self.len()
    }
    fn none(&self) -> bool {
        self.is_empty()
    }
    fn wipe(&self) {
        self.clear();
    }
    fn walk(&self, meet: &mut dyn FnMut(i64, i64)) {
        self.iter().for_each(|entry| meet(*entry.key(), *entry.value()));
    }
}

/// As many shards as `new` makes on two processors, on all machines.
const SHARDS: usize = 8;

pub(super) fn dashmap() -> Object {
    let make = || DashMap::with_shard_amount(SHARDS);
    with_core(Object::describe("dashmap", make))
        .method("putIfAbsent", |map, (key, value): (i64, i64)| *map.entry(key).or_insert(value))
        .method("retain", |map, (value,): (i64,)| map.retain(|_, other| *other == value))
        .build()
}

#[derive(Default)]
struct Papaya(papaya::HashMap<i64, i64>);

impl Map for Papaya {
    type Before = Option<i64>;

    fn put(&self, key: i64, value: i64) -> Option<i64> {
        self.0.pin().insert(key, value).copied()
    }
    fn take(&self, key: i64) -> Option<i64> {
        self.0.pin().remove(&key).copied()
    }
    fn look(&self, key: i64) -> Option<i64> {
        self.0.pin().get(&key).copied()
    }
    fn has(&self, key: i64) -> bool {
        self.0.pin().contains_key(&key)
    }
    fn count(&self) -> usize {
        self.0.len()
    }
    fn none(&self) -> bool {
        self.0.is_empty()
    }
    fn wipe(&self) {
        self.0.pin().clear();
    }
    fn walk(&self, meet: &mut dyn FnMut(i64, i64)) {
        self.0.pin().iter().for_each(|(key, value)| meet(*key, *value));
    }
}

pub(super) fn papaya() -> Object {
    map::<Papaya>("papaya")
        .method("putIfAbsent", |map, (key, value): (i64, i64)| *map.0.pin().get_or_insert(key, value))
        .build()
}

impl Map for scc::HashMap<i64, i64> {
    type Before = Option<i64>;

    fn put(&self, key: i64, value: i64) -> Option<i64> {
        self.upsert_sync(key, value)
    }
    fn take(&self, key: i64) -> Option<i64> {
        self.remove_sync(&key).map(|entry| entry.1)
    }
    fn look(&self, key: i64) -> Option<i64> {
        self.read_sync(&key, |_, value| *value)
    }
    fn has(&self, key: i64) -> bool {
        self.contains_sync(&key)
    }
    fn count(&self) -> usize {
        self.len()
    }
    fn none(&self) -> bool {
        self.is_empty()
    }
    fn wipe(&self) {
        self.clear_sync();
    }
    fn walk(&self, meet: &mut dyn FnMut(i64, i64)) {
        self.iter_sync(|key, value| {
            meet(*key, *value);
            true
        });
    }
}

pub(super) fn scc_hash_map() -> Object {
    map::<scc::HashMap<i64, i64>>("scc-hash-map")
        .method("putIfAbsent", |map, (key, value): (i64, i64)| map.insert_sync(key, value).is_ok())
        .build()
}

impl Map for scc::HashIndex<i64, i64> {
    /// Whether it was put or removed: an index keeps what is there.
    type Before = bool;

    fn put(&self, key: i64, value: i64) -> bool {
        self.insert_sync(key, value).is_ok()
    }
    fn take(&self, key: i64) -> bool {
        self.remove_sync(&key)
    }
    fn look(&self, key: i64) -> Option<i64> {
        self.peek_with(&key, |_, value| *value)
    }
    fn has(&self, key: i64) -> bool {
        self.contains(&key)
    }
    fn count(&self) -> usize {
        self.len()
    }
    fn none(&self) -> bool {
        self.is_empty()
    }
    fn wipe(&self) {
        self.clear_sync();
    }
    fn walk(&self, meet: &mut dyn FnMut(i64, i64)) {
        self.iter(&Guard::new()).for_each(|(key, value)| meet(*key, *value));
    }
}

pub(super) fn scc_hash_index() -> Object {
    map::<scc::HashIndex<i64, i64>>("scc-hash-index").build()
}

impl Map for scc::TreeIndex<i64, i64> {
    type Before = bool;

    fn put(&self, key: i64, value: i64) -> bool {
        self.insert_sync(key, value).is_ok()
    }
    fn take(&self, key: i64) -> bool {
        self.remove_sync(&key)
    }
    fn look(&self, key: i64) -> Option<i64> {
        self.peek_with(&key, |_, value| *value)
    }
    fn has(&self, key: i64) -> bool {
        self.contains(&key)
    }
    fn count(&self) -> usize {
        self.len()
    }
    fn none(&self) -> bool {
        self.is_empty()
    }
    fn wipe(&self) {
        self.clear();
    }
    fn walk(&self, meet: &mut dyn FnMut(i64, i64)) {
        self.iter(&Guard::new()).for_each(|(key, value)| meet(*key, *value));
    }
}

pub(super) fn scc_tree_index() -> Object {
    map::<scc::TreeIndex<i64, i64>>("scc-tree-index")
        .method("removeRange", |map, (start, end): (i64, i64)| map.remove_range_sync(start..=end))
        .build()
}

struct Moka(moka::sync::Cache<i64, i64>);

impl Default for Moka {
    /// Room for more than any harness puts in, so that nothing is evicted.
    fn default() -> Moka {
        Moka(moka::sync::Cache::new(1_000))
    }
}

impl Map for Moka {
    type Before = Option<i64>;

    /// Putting says nothing of the entry before.
    fn put(&self, key: i64, value: i64) -> Option<i64> {
        self.0.insert(key, value);
        None
    }
    fn take(&self, key: i64) -> Option<i64> {
        self.0.remove(&key)
    }
    fn look(&self, key: i64) -> Option<i64> {
        self.0.get(&key)
    }
    fn has(&self, key: i64) -> bool {
        self.0.contains_key(&key)
    }
    fn count(&self) -> usize {
        self.0.iter().count()
    }
    fn none(&self) -> bool {
        self.0.iter().next().is_none()
    }
    /// `invalidate_all` goes by the clock; this goes from entry to entry.
    fn wipe(&self) {
        self.0.iter().for_each(|(key, _)| self.0.invalidate(&*key));
    }
    fn walk(&self, meet: &mut dyn FnMut(i64, i64)) {
        self.0.iter().for_each(|(key, value)| meet(*key, value));
    }
}

pub(super) fn moka() -> Object {
    map::<Moka>("moka").method("putIfAbsent", |map, (key, value): (i64, i64)| map.0.get_with(key, || value)).build()
}

impl Map for SkipMap<i64, i64> {
    type Before = Option<i64>;

    /// Putting says nothing of the entry before.
    fn put(&self, key: i64, value: i64) -> Option<i64> {
        self.insert(key, value);
        None
    }
    fn take(&self, key: i64) -> Option<i64> {
        self.remove(&key).map(|entry| *entry.value())
    }
    fn look(&self, key: i64) -> Option<i64> {
        self.get(&key).map(|entry| *entry.value())
    }
    fn has(&self, key: i64) -> bool {
        self.contains_key(&key)
    }
    fn count(&self) -> usize {
        self.len()
    }
    fn none(&self) -> bool {
        self.is_empty()
    }
    fn wipe(&self) {
        self.clear();
    }
    fn walk(&self, meet: &mut dyn FnMut(i64, i64)) {
        self.iter().for_each(|entry| meet(*entry.key(), *entry.value()));
    }
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
    // `insert` and `remove` of the map are under test: one takes an entry away before it puts in another, and the other
    // gives the entry to everybody who came upon it. An entry knows who has removed it.
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
