//! Iteration: a sequence of steps under control, the original's iterators otherwise.

use std::hash::{BuildHasher, Hash};
use std::sync::{Arc, Weak};

use ::dashmap::{RwLockReadGuard, RwLockWriteGuard, SharedValue, iter as real};
use hashbrown::raw::{Bucket, RawTable};
use interloper_commutativity::models::map;
use interloper_commutativity::{ToValue, Value};

use super::shards::{Original, begin, shard};
use crate::RandomState;
use crate::session::{Mode, Needs};
use crate::site::{Hold, Site, TAKEN};

pub use ::dashmap::iter::OwningIter;

type Pair<K, V> = Bucket<(K, SharedValue<V>)>;
type Table<K, V> = RawTable<(K, SharedValue<V>)>;

/// A walk over the entries in the order of their keys' forms.
///
/// The original goes from shard to shard: it misses a key that is inserted in a shard it has left, and does not find a
/// key that is removed before it comes there. So each entry takes two steps: one finds which key is next, without its
/// lock, and one locks that key's shard and looks whether the entry is still there; a last step finds no further key.
pub(super) struct Walk<'a, K, V, S> {
    map: &'a Original<K, V, S>,
    site: Site,
    mode: Mode,
    /// The last key of the walk, as the map model's cursor.
    cursor: Value,
    /// The shard of the last entry that an iterator returned: locked until the next entry is known.
    current: Option<Arc<Locked<'a, K, V>>>,
    /// Shards that entries of an iterator may still keep locked.
    kept: Vec<(usize, Weak<Locked<'a, K, V>>)>,
    finished: bool,
}

/// What a walk does with the entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// It returns them.
    Give,
    /// It counts them.
    Count,
    /// It changes or removes them, as a function of the program decides.
    Change,
    /// It removes them.
    Clear,
}

impl<'a, K, V, S> Walk<'a, K, V, S>
where
    K: Eq + Hash + ToValue,
    V: ToValue,
    S: BuildHasher + Clone,
{
    pub(super) fn new(map: &'a Original<K, V, S>, site: Site, mode: Mode) -> Self {
        Walk { map, site, mode, cursor: Value::None, current: None, kept: Vec::new(), finished: false }
    }

    /// Goes on to the next entry; `None` when there is no further one.
    pub(super) fn step(&mut self, purpose: Purpose) -> Option<Visit<'a, K, V>> {
        while !self.finished {
            let next = self.next_key();
            self.current = None;
            let Some((index, key)) = next else {
                self.finished = true;
                break;
            };
            self.cursor = Value::option(Some(key.clone()));
            if let Some(visit) = self.visit(purpose, index, key) {
                return Some(visit);
            }
        }
        None
    }

    /// The step that finds the next key and its shard. It is announced again for a shard that turns out to be locked.
    fn next_key(&self) -> Option<(usize, Value)> {
        let mut blocked = None;
        let found = loop {
            let needs = blocked.map_or(Needs::Nothing, |index| shard(index, Mode::Shared));
            begin(self.map, self.site, map::NEXT_AFTER, std::slice::from_ref(&self.cursor), needs);
            match self.look() {
                Ok(found) => break found,
                Err(index) => {
                    assert!(blocked != Some(index), "{TAKEN}");
                    blocked = Some(index);
                }
            }
        };
        let result = match &found {
            None => Value::None,
            Some((_, key, value)) => Value::tuple([key.clone(), value.clone()]),
        };
        self.site.after(map::NEXT_AFTER, std::slice::from_ref(&self.cursor), &result);
        found.map(|(index, key, _)| (index, key))
    }

    /// The first key after the cursor with its shard and value; or the first shard that another task has locked for
    /// writing: its keys cannot be seen.
    fn look(&self) -> Result<Option<(usize, Value, Value)>, usize> {
        let after = self.cursor.content();
        let mut first: Option<(usize, Value, Value)> = None;
        for (index, lock) in self.map.shards().iter().enumerate() {
            let bound = |key: &Value| {
                after.is_none_or(|after| key > after) && first.as_ref().is_none_or(|(_, best, _)| key < best)
            };
            let found = match self.own(index) {
                Some(locked) => smallest(locked.guard.table(), bound),
                None => smallest(&*lock.try_read().ok_or(index)?, bound),
            };
            if let Some((key, bucket)) = found {
                // SAFETY: nothing has run since the bucket was found. Its value was not returned: a walk's own entries
                // are not after its cursor, and the write lock of another task would have kept the shard from being
                // read.
                first = Some((index, key, unsafe { &*value_of(&bucket) }.to_value()));
            }
        }
        Ok(first)
    }

    /// The lock of this shard, if the walk's own entries keep it.
    fn own(&self, index: usize) -> Option<Arc<Locked<'a, K, V>>> {
        self.kept.iter().find(|(kept, _)| *kept == index).and_then(|(_, locked)| locked.upgrade())
    }

    /// The step that locks the key's shard and finds the entry, if it is still there.
    fn visit(&self, purpose: Purpose, index: usize, key: Value) -> Option<Visit<'a, K, V>> {
        let announced = match purpose {
            // A runtime must know beforehand whether the entry may be written to.
            Purpose::Give if self.site.is_task() && self.mode == Mode::Exclusive => map::MODIFY,
            Purpose::Give => map::GET,
            Purpose::Count => map::CONTAINS_KEY,
            Purpose::Change => map::MODIFY,
            Purpose::Clear => map::REMOVE,
        };
        let own = self.own(index);
        let needs = if own.is_some() { Needs::Nothing } else { shard(index, self.mode) };
        begin(self.map, self.site, announced, std::slice::from_ref(&key), needs);
        let locked = own.unwrap_or_else(|| self.lock(index));
        let found = smallest(locked.guard.table(), |other| *other == key);
        // SAFETY: the bucket belongs to the table that `locked` keeps from changing, and its value was not returned
        // before: a walk comes to each key once.
        let value = found.as_ref().map(|(_, bucket)| unsafe { &*value_of(bucket) }.to_value());
        let name = std::slice::from_ref(&key);
        match purpose {
            Purpose::Give | Purpose::Change => self.site.after(map::GET, name, &Value::option(value.clone())),
            Purpose::Count => self.site.after(map::CONTAINS_KEY, name, &Value::Bool(value.is_some())),
            // The removal of an existing entry is reported when it happens.
            Purpose::Clear if value.is_none() => self.site.after(map::REMOVE, name, &Value::None),
            Purpose::Clear => {}
        }
        let ((_, bucket), value) = found.zip(value)?;
        Some(Visit { locked, index, bucket, site: self.site, key, value })
    }

    fn lock(&self, index: usize) -> Arc<Locked<'a, K, V>> {
        let lock = &self.map.shards()[index];
        let guard = match self.mode {
            Mode::Shared => Guard::Read(lock.try_read().expect(TAKEN)),
            Mode::Exclusive => Guard::Write(lock.try_write().expect(TAKEN)),
        };
        Arc::new(Locked { guard, _hold: self.site.hold(shard(index, self.mode)) })
    }

    /// Goes on to the next entry of an iterator.
    fn advance(&mut self) -> Option<Visit<'a, K, V>> {
        let visit = self.step(Purpose::Give)?;
        self.kept.retain(|(_, locked)| locked.strong_count() > 0);
        self.kept.push((visit.index, Arc::downgrade(&visit.locked)));
        self.current = Some(Arc::clone(&visit.locked));
        Some(visit)
    }
}

/// The entry with the smallest key among those that `within` accepts.
fn smallest<K: ToValue, V>(table: &Table<K, V>, within: impl Fn(&Value) -> bool) -> Option<(Value, Pair<K, V>)> {
    if table.is_empty() {
        return None;
    }
    let mut best: Option<(Value, Pair<K, V>)> = None;
    // SAFETY: the iterator does not outlive the borrow of the table.
    for bucket in unsafe { table.iter() } {
        // SAFETY: the bucket is full and the table is borrowed, so its key stays in place. Keys are never borrowed
        // mutably.
        let key = unsafe { &*key_of(&bucket) }.to_value();
        if within(&key) && best.as_ref().is_none_or(|(smallest, _)| key < *smallest) {
            best = Some((key, bucket));
        }
    }
    best
}

/// Where the key of a full bucket is. No reference to the value is made: it may be borrowed mutably.
fn key_of<K, V>(bucket: &Pair<K, V>) -> *const K {
    // SAFETY: a full bucket points to a pair; only the address of a field is taken.
    unsafe { &raw const (*bucket.as_ptr()).0 }
}

/// Where the value of a full bucket is.
fn value_of<K, V>(bucket: &Pair<K, V>) -> *mut V {
    // SAFETY: as in `key_of`. `SharedValue` is a transparent cell around the value.
    unsafe { &raw mut (*bucket.as_ptr()).1 }.cast()
}

/// A locked shard. The real lock is released first, then the session hears of it.
pub(super) struct Locked<'a, K, V> {
    guard: Guard<'a, K, V>,
    _hold: Hold,
}

enum Guard<'a, K, V> {
    Read(RwLockReadGuard<'a, Table<K, V>>),
    Write(RwLockWriteGuard<'a, Table<K, V>>),
}

impl<K, V> Guard<'_, K, V> {
    fn table(&self) -> &Table<K, V> {
        match self {
            Guard::Read(guard) => guard,
            Guard::Write(guard) => guard,
        }
    }
}

/// An entry that a [`Walk`] has reached.
pub(super) struct Visit<'a, K, V> {
    locked: Arc<Locked<'a, K, V>>,
    index: usize,
    bucket: Pair<K, V>,
    site: Site,
    key: Value,
    value: Value,
}

impl<'a, K, V> Visit<'a, K, V> {
    fn into_reference(self) -> RefMulti<'a, K, V> {
        let (key, value) = (key_of(&self.bucket), value_of(&self.bucket));
        RefMulti { key, value, _keep: Keep::Stepwise(self.locked) }
    }

    /// For a walk with exclusive locks.
    pub(super) fn into_reference_mut(self) -> RefMutMulti<'a, K, V>
    where
        V: ToValue,
    {
        RefMutMulti {
            key: key_of(&self.bucket),
            value: value_of(&self.bucket),
            touched: false,
            watch: Some(Change { site: self.site, key: self.key, seen: self.value, bucket: self.bucket }),
            keep: Keep::Stepwise(self.locked),
        }
    }
}

/// What keeps the lock of an entry: the original's guard or a step's.
enum Keep<'a, K, V, O> {
    Original { _guard: O },
    Stepwise(Arc<Locked<'a, K, V>>),
}

/// The iterator of [`DashMap::iter`](super::DashMap::iter).
pub struct Iter<'a, K, V, S = RandomState>(Kind<'a, K, V, S, real::Iter<'a, K, V, S>>);

/// The iterator of [`DashMap::iter_mut`](super::DashMap::iter_mut).
pub struct IterMut<'a, K, V, S = RandomState>(Kind<'a, K, V, S, real::IterMut<'a, K, V, S>>);

enum Kind<'a, K, V, S, O> {
    Original(O),
    Stepwise(Walk<'a, K, V, S>),
}

impl<'a, K, V, S> Iter<'a, K, V, S> {
    pub(super) fn original(iter: real::Iter<'a, K, V, S>) -> Self {
        Iter(Kind::Original(iter))
    }

    pub(super) fn stepwise(walk: Walk<'a, K, V, S>) -> Self {
        Iter(Kind::Stepwise(walk))
    }
}

impl<'a, K, V, S> IterMut<'a, K, V, S> {
    pub(super) fn original(iter: real::IterMut<'a, K, V, S>) -> Self {
        IterMut(Kind::Original(iter))
    }

    pub(super) fn stepwise(walk: Walk<'a, K, V, S>) -> Self {
        IterMut(Kind::Stepwise(walk))
    }
}

impl<'a, K, V, S> Iterator for Iter<'a, K, V, S>
where
    K: Eq + Hash + ToValue,
    V: ToValue,
    S: BuildHasher + Clone,
{
    type Item = RefMulti<'a, K, V>;

    fn next(&mut self) -> Option<RefMulti<'a, K, V>> {
        match &mut self.0 {
            Kind::Original(iter) => iter.next().map(RefMulti::original),
            Kind::Stepwise(walk) => walk.advance().map(Visit::into_reference),
        }
    }
}

impl<'a, K, V, S> Iterator for IterMut<'a, K, V, S>
where
    K: Eq + Hash + ToValue,
    V: ToValue,
    S: BuildHasher + Clone,
{
    type Item = RefMutMulti<'a, K, V>;

    fn next(&mut self) -> Option<RefMutMulti<'a, K, V>> {
        match &mut self.0 {
            Kind::Original(iter) => iter.next().map(RefMutMulti::original),
            Kind::Stepwise(walk) => walk.advance().map(Visit::into_reference_mut),
        }
    }
}

/// An entry behind a read guard, from [`DashMap::iter`](super::DashMap::iter).
pub struct RefMulti<'a, K, V> {
    key: *const K,
    value: *const V,
    _keep: Keep<'a, K, V, ::dashmap::mapref::multiple::RefMulti<'a, K, V>>,
}

impl<'a, K: Eq + Hash, V> RefMulti<'a, K, V> {
    fn original(guard: ::dashmap::mapref::multiple::RefMulti<'a, K, V>) -> Self {
        let (key, value): (*const K, *const V) = (guard.key(), guard.value());
        RefMulti { key, value, _keep: Keep::Original { _guard: guard } }
    }

    /// The key.
    pub fn key(&self) -> &K {
        // SAFETY: `_keep` keeps the entry in its place and locked against writing.
        unsafe { &*self.key }
    }

    /// The value.
    pub fn value(&self) -> &V {
        // SAFETY: as in `key`.
        unsafe { &*self.value }
    }

    /// Key and value.
    pub fn pair(&self) -> (&K, &V) {
        (self.key(), self.value())
    }
}

// SAFETY: as for the original's guard, which also is a lock and two pointers. Another thread than the one that took the
// lock may release it: `dashmap` sends its own guards as well.
unsafe impl<K: Eq + Hash + Sync, V: Sync> Send for RefMulti<'_, K, V> {}
// SAFETY: a shared reference to the guard gives shared references to key and value.
unsafe impl<K: Eq + Hash + Sync, V: Sync> Sync for RefMulti<'_, K, V> {}

derefs!([K: Eq + Hash, V] RefMulti<'_, K, V> => V);

/// An entry behind a write guard, from [`DashMap::iter_mut`](super::DashMap::iter_mut).
pub struct RefMutMulti<'a, K, V: ToValue> {
    key: *const K,
    value: *mut V,
    /// Whether the value was borrowed mutably.
    touched: bool,
    /// Under control: how the change is reported.
    watch: Option<Change<K, V>>,
    keep: Keep<'a, K, V, ::dashmap::mapref::multiple::RefMutMulti<'a, K, V>>,
}

/// What is needed to report that an entry of an iteration was changed.
struct Change<K, V> {
    site: Site,
    key: Value,
    /// The value's form when it was visited.
    seen: Value,
    bucket: Pair<K, V>,
}

impl<'a, K: Eq + Hash, V: ToValue> RefMutMulti<'a, K, V> {
    fn original(mut guard: ::dashmap::mapref::multiple::RefMutMulti<'a, K, V>) -> Self {
        let (key, value) = guard.pair_mut();
        let (key, value): (*const K, *mut V) = (key, value);
        RefMutMulti { key, value, touched: false, watch: None, keep: Keep::Original { _guard: guard } }
    }

    /// The key.
    pub fn key(&self) -> &K {
        // SAFETY: `keep` keeps the entry in its place and locked.
        unsafe { &*self.key }
    }

    /// The value.
    pub fn value(&self) -> &V {
        // SAFETY: as in `key`; only this guard reaches the value.
        unsafe { &*self.value }
    }

    /// The value, mutably.
    pub fn value_mut(&mut self) -> &mut V {
        self.pair_mut().1
    }

    /// Key and value.
    pub fn pair(&self) -> (&K, &V) {
        (self.key(), self.value())
    }

    /// Key and value, the value mutably.
    pub fn pair_mut(&mut self) -> (&K, &mut V) {
        self.touched = true;
        // SAFETY: as in `key` and `value`; the borrow of `self` is exclusive.
        unsafe { (&*self.key, &mut *self.value) }
    }

    /// Removes the entry from the map.
    ///
    /// # Panics
    /// For a guard that is not under control or shares its lock with another.
    pub(super) fn remove(mut self) {
        let change = self.watch.take().expect(ALONE);
        let Keep::Stepwise(locked) = &mut self.keep else { unreachable!("{ALONE}") };
        let Guard::Write(table) = &mut Arc::get_mut(locked).expect(ALONE).guard else { unreachable!("{ALONE}") };
        // SAFETY: the bucket belongs to this table, which was locked since the bucket was found. No reference into it
        // is left, since `self` is consumed, and its drop looks at nothing without `watch`.
        unsafe { table.erase(change.bucket) };
        change.site.after(map::REMOVE, &[change.key], &Value::option(Some(change.seen)));
    }
}

/// Only such a guard may remove an entry.
const ALONE: &str = "the guard is under control and alone with its lock";

impl<K, V: ToValue> Drop for RefMutMulti<'_, K, V> {
    fn drop(&mut self) {
        let (Some(change), true) = (self.watch.take(), self.touched) else { return };
        // SAFETY: `keep` is dropped after this; only this guard reaches the value.
        let new = unsafe { &*self.value }.to_value();
        if new != change.seen {
            change.site.after(map::INSERT, &[change.key, new], &Value::option(Some(change.seen)));
        }
    }
}

// SAFETY: as for `RefMulti`; an exclusive reference to the value goes with it.
unsafe impl<K: Eq + Hash + Sync, V: Send + Sync + ToValue> Send for RefMutMulti<'_, K, V> {}
// SAFETY: a shared reference to the guard gives shared references to key and value.
unsafe impl<K: Eq + Hash + Sync, V: Sync + ToValue> Sync for RefMutMulti<'_, K, V> {}

derefs!(mut [K: Eq + Hash, V: ToValue] RefMutMulti<'_, K, V> => V);
