//! A sorted map.

use std::borrow::Borrow;
use std::fmt;
use std::ops::{Bound, RangeBounds, RangeFull};
use std::sync::Arc;

use crossbeam_skiplist::map as real;
use interloper_commutativity::models::{SortedMapModel, sorted_map};
use interloper_commutativity::{Datum, Invocation, Model, ToValue, Value};

use super::core::{Core, Node, Within};
use super::words::Pairs;
use crate::environment::{argument, domain, maybe_later, pair_or_none, parse, unknown};
use crate::session::{DomainKind, Handle, Instrumented, Needs, Outcome};
use crate::task::Kind;

/// [`crossbeam_skiplist::SkipMap`], instrumented. See the [module](super) for what is one step.
pub struct SkipMap<K, V>(Core<K, V, Pairs>);

impl<K, V> SkipMap<K, V> {
    /// An empty map.
    pub fn new() -> Self {
        SkipMap(Core::of(Kind::SortedMap, crossbeam_skiplist::SkipMap::new()))
    }
}

impl<K: Ord + ToValue, V: ToValue> SkipMap<K, V> {
    /// Whether there is no entry. One step.
    #[track_caller]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many entries there are. One step.
    #[track_caller]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The entry with the smallest key. One step.
    #[track_caller]
    pub fn front(&self) -> Option<Entry<'_, K, V>> {
        self.0.front().map(Entry)
    }

    /// The entry with the largest key. One step.
    #[track_caller]
    pub fn back(&self) -> Option<Entry<'_, K, V>> {
        self.0.back().map(Entry)
    }

    /// Whether there is an entry at `key`. One step.
    #[track_caller]
    pub fn contains_key<Q>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
        Q: Ord + ToValue + ?Sized,
    {
        self.0.contains(key)
    }

    /// The entry at `key`. One step.
    #[track_caller]
    pub fn get<Q>(&self, key: &Q) -> Option<Entry<'_, K, V>>
    where
        K: Borrow<Q>,
        Q: Ord + ToValue + ?Sized,
    {
        self.0.get(key).map(Entry)
    }

    /// The first entry within a lower bound. One step.
    #[track_caller]
    pub fn lower_bound<'a, Q>(&'a self, bound: Bound<&Q>) -> Option<Entry<'a, K, V>>
    where
        K: Borrow<Q>,
        Q: Ord + ToValue + ?Sized,
    {
        self.0.lower_bound(bound).map(Entry)
    }

    /// The last entry within an upper bound. One step.
    #[track_caller]
    pub fn upper_bound<'a, Q>(&'a self, bound: Bound<&Q>) -> Option<Entry<'a, K, V>>
    where
        K: Borrow<Q>,
        Q: Ord + ToValue + ?Sized,
    {
        self.0.upper_bound(bound).map(Entry)
    }

    /// The entry at `key`, or a new one with `value`. One step.
    #[track_caller]
    pub fn get_or_insert(&self, key: K, value: V) -> Entry<'_, K, V> {
        Entry(self.0.get_or_insert(key, value))
    }

    /// The entry at `key`, or a new one with what `make` gives. *Not* one step when there is none: it is looked for,
    /// `make` runs, and then the new entry is inserted if there still is none.
    #[track_caller]
    pub fn get_or_insert_with<F>(&self, key: K, make: F) -> Entry<'_, K, V>
    where
        F: FnOnce() -> V,
    {
        Entry(self.0.get_or_insert_with(key, make))
    }

    /// The entries in the order of keys. *Not* one step: one for each entry and one that finds that there is no further
    /// entry.
    #[track_caller]
    pub fn iter(&self) -> Iter<'_, K, V> {
        Iter(Within::new(&self.0, ..))
    }

    /// The entries within `range` in the order of keys. *Not* one step: as [`SkipMap::iter`].
    #[track_caller]
    pub fn range<Q, R>(&self, range: R) -> Range<'_, Q, R, K, V>
    where
        K: Borrow<Q>,
        R: RangeBounds<Q>,
        Q: Ord + ToValue + ?Sized,
    {
        Range(Within::new(&self.0, range))
    }
}

impl<K: Ord + ToValue + Send + 'static, V: ToValue + Send + 'static> SkipMap<K, V> {
    /// Puts `value` at `key`, in a new entry. One step.
    #[track_caller]
    pub fn insert(&self, key: K, value: V) -> Entry<'_, K, V> {
        Entry(self.0.insert(key, value))
    }

    /// Puts `value` at `key` unless there is a value that `compare` does not want replaced. One step, `compare` included.
    #[track_caller]
    pub fn compare_insert<F>(&self, key: K, value: V, compare: F) -> Entry<'_, K, V>
    where
        F: Fn(&V) -> bool,
    {
        Entry(self.0.compare_insert(key, value, compare))
    }

    /// Removes the entry at `key` and gives it. One step.
    #[track_caller]
    pub fn remove<Q>(&self, key: &Q) -> Option<Entry<'_, K, V>>
    where
        K: Borrow<Q>,
        Q: Ord + ToValue + ?Sized,
    {
        self.0.remove(key).map(Entry)
    }

    /// Removes the entry with the smallest key and gives it. One step.
    #[track_caller]
    pub fn pop_front(&self) -> Option<Entry<'_, K, V>> {
        self.0.pop_front().map(Entry)
    }

    /// Removes the entry with the largest key and gives it. One step.
    #[track_caller]
    pub fn pop_back(&self) -> Option<Entry<'_, K, V>> {
        self.0.pop_back().map(Entry)
    }

    /// Removes all entries. *Not* one step: each is found in one and removed in another, after the next was found.
    #[track_caller]
    pub fn clear(&self) {
        self.0.clear();
    }
}

impl<K, V> Default for SkipMap<K, V> {
    fn default() -> Self {
        SkipMap::new()
    }
}

impl<K, V> fmt::Debug for SkipMap<K, V> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad("SkipMap { .. }")
    }
}

/// No step: the map is owned.
impl<K, V> IntoIterator for SkipMap<K, V> {
    type Item = (K, V);
    type IntoIter = crossbeam_skiplist::map::IntoIter<K, V>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.inner.into_iter()
    }
}

impl<'a, K: Ord + ToValue, V: ToValue> IntoIterator for &'a SkipMap<K, V> {
    type Item = Entry<'a, K, V>;
    type IntoIter = Iter<'a, K, V>;

    #[track_caller]
    fn into_iter(self) -> Iter<'a, K, V> {
        self.iter()
    }
}

impl<K: Ord, V> FromIterator<(K, V)> for SkipMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        SkipMap(Core::of(Kind::SortedMap, entries.into_iter().collect()))
    }
}

/// An entry of a [`SkipMap`]. It can still be read when it was removed.
pub struct Entry<'a, K, V>(Node<'a, K, V, Pairs>);

impl<K, V> Entry<'_, K, V> {
    /// The key.
    pub fn key(&self) -> &K {
        self.0.key()
    }

    /// The value.
    pub fn value(&self) -> &V {
        self.0.value()
    }
}

impl<'a, K: Ord + ToValue, V: ToValue> Entry<'a, K, V> {
    /// Whether the entry was removed, by anybody. One step.
    #[track_caller]
    pub fn is_removed(&self) -> bool {
        self.0.is_removed()
    }

    /// Goes to the next entry, if there is one. One step.
    #[track_caller]
    pub fn move_next(&mut self) -> bool {
        let next = self.0.next();
        self.0.move_to(next)
    }

    /// Goes to the previous entry, if there is one. One step.
    #[track_caller]
    pub fn move_prev(&mut self) -> bool {
        let prev = self.0.prev();
        self.0.move_to(prev)
    }

    /// The next entry in the order of keys, also of one that was removed. One step.
    #[track_caller]
    pub fn next(&self) -> Option<Entry<'a, K, V>> {
        self.0.next().map(Entry)
    }

    /// The previous entry in the order of keys, also of one that was removed. One step.
    #[track_caller]
    pub fn prev(&self) -> Option<Entry<'a, K, V>> {
        self.0.prev().map(Entry)
    }
}

impl<K: Ord + ToValue + Send + 'static, V: ToValue + Send + 'static> Entry<'_, K, V> {
    /// Removes the entry from the map; gives whether it was this call that did. One step: a `remove`, or a `get` when
    /// the entry was removed before.
    #[track_caller]
    pub fn remove(&self) -> bool {
        self.0.remove()
    }
}

impl<K, V> Clone for Entry<'_, K, V> {
    fn clone(&self) -> Self {
        Entry(self.0.clone())
    }
}

impl<K: fmt::Debug, V: fmt::Debug> fmt::Debug for Entry<'_, K, V> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("Entry").field(self.key()).field(self.value()).finish()
    }
}

/// The iterator of [`SkipMap::iter`].
pub struct Iter<'a, K, V>(Within<'a, K, RangeFull, K, V, Pairs>)
where
    K: Ord;

impl<'a, K: Ord + ToValue, V: ToValue> Iterator for Iter<'a, K, V> {
    type Item = Entry<'a, K, V>;

    fn next(&mut self) -> Option<Entry<'a, K, V>> {
        self.0.next().map(Entry)
    }
}

impl<K: Ord + ToValue, V: ToValue> DoubleEndedIterator for Iter<'_, K, V> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.next_back().map(Entry)
    }
}

impl<K, V> fmt::Debug for Iter<'_, K, V>
where
    K: Ord,
{
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad("Iter { .. }")
    }
}

/// The iterator of [`SkipMap::range`].
pub struct Range<'a, Q, R, K, V>(Within<'a, Q, R, K, V, Pairs>)
where
    K: Ord + Borrow<Q>,
    R: RangeBounds<Q>,
    Q: Ord + ?Sized;

impl<'a, Q, R, K, V> Iterator for Range<'a, Q, R, K, V>
where
    K: Ord + ToValue + Borrow<Q>,
    R: RangeBounds<Q>,
    Q: Ord + ToValue + ?Sized,
    V: ToValue,
{
    type Item = Entry<'a, K, V>;

    fn next(&mut self) -> Option<Entry<'a, K, V>> {
        self.0.next().map(Entry)
    }
}

impl<Q, R, K, V> DoubleEndedIterator for Range<'_, Q, R, K, V>
where
    K: Ord + ToValue + Borrow<Q>,
    R: RangeBounds<Q>,
    Q: Ord + ToValue + ?Sized,
    V: ToValue,
{
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.next_back().map(Entry)
    }
}

impl<Q, R, K, V> fmt::Debug for Range<'_, Q, R, K, V>
where
    K: Ord + Borrow<Q>,
    R: RangeBounds<Q>,
    Q: Ord + ?Sized,
{
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad("Range { .. }")
    }
}

impl<K, V> Instrumented for SkipMap<K, V>
where
    K: Datum + Ord + Send,
    V: Datum + Send,
{
    fn handle(&self) -> &Handle {
        &self.0.handle
    }

    fn model(&self) -> Arc<dyn Model> {
        Arc::new(SortedMapModel)
    }

    fn snapshot(&self) -> Value {
        Value::map(self.0.inner.iter().map(|entry| (entry.key().to_value(), entry.value().to_value())))
    }

    fn restore(&self, state: &Value) -> Result<(), Value> {
        let Value::Map(wanted) = state else { return Err(state.clone()) };
        for entry in &self.0.inner {
            // A value that can change through a shared reference may be in other hands: it is made anew.
            let same = |wanted: &Value| !V::INTERIOR && *wanted == entry.value().to_value();
            if !wanted.get(&entry.key().to_value()).is_some_and(same) {
                entry.remove();
            }
        }
        if self.0.inner.len() < wanted.len() {
            for (key, value) in wanted.iter() {
                self.0.inner.get_or_insert(parse(key)?, parse(value)?);
            }
        }
        Ok(())
    }

    fn restore_from(&self, from: &Value, to: &Value) -> Result<(), Value> {
        let (Value::Map(present), Value::Map(wanted), false) = (from, to, V::INTERIOR) else {
            return self.restore(to);
        };
        for key in present.keys().filter(|key| !wanted.contains_key(key)) {
            self.0.inner.remove(&parse::<K>(key)?);
        }
        for (key, value) in wanted.iter().filter(|(key, value)| present.get(key) != Some(value)) {
            self.0.inner.insert(parse(key)?, parse(value)?);
        }
        Ok(())
    }

    fn apply(&self, call: &Invocation) -> Result<Outcome, Value> {
        let map = &self.0.inner;
        let key = || argument::<K>(call, 0);
        let value = |index| argument::<V>(call, index);
        let fixed = |value| Ok(Outcome::fixed(value));
        let held = |entry: Option<&real::Entry<'_, K, V>>| Ok(maybe_later(entry.map(real::Entry::value)));
        let pair = |entry: Option<real::Entry<'_, K, V>>| {
            Ok(pair_or_none(entry.map(|entry| (entry.key().to_value(), entry.value().clone()))))
        };
        match call.method {
            sorted_map::GET => held(map.get(&key()?).as_ref()),
            sorted_map::INSERT => {
                let (key, value) = (key()?, value(1)?);
                let old = map.get(&key);
                map.insert(key, value);
                held(old.as_ref())
            }
            sorted_map::INSERT_IF_ABSENT => {
                let (key, value) = (key()?, value(1)?);
                let old = map.get(&key);
                map.get_or_insert(key, value);
                held(old.as_ref())
            }
            sorted_map::REMOVE => held(map.remove(&key()?).as_ref()),
            sorted_map::CONTAINS_KEY => fixed(Value::Bool(map.contains_key(&key()?))),
            sorted_map::REPLACE => {
                let (key, value) = (key()?, value(1)?);
                let old = map.get(&key);
                if old.is_some() {
                    map.insert(key, value);
                }
                held(old.as_ref())
            }
            sorted_map::REPLACE_IF_EQUAL => {
                let (key, old, new) = (key()?, value(1)?.to_value(), value(2)?);
                let hit = map.get(&key).is_some_and(|entry| entry.value().to_value() == old);
                if hit {
                    map.insert(key, new);
                }
                fixed(Value::Bool(hit))
            }
            sorted_map::REMOVE_IF_EQUAL => {
                let (key, old) = (key()?, value(1)?.to_value());
                let hit = map.get(&key).filter(|entry| entry.value().to_value() == old);
                fixed(Value::Bool(hit.is_some_and(|entry| entry.remove())))
            }
            sorted_map::NEXT_AFTER => match call.arguments.first().ok_or(Value::None)?.content() {
                None => pair(map.front()),
                Some(cursor) => pair(map.lower_bound(Bound::Excluded(&parse::<K>(cursor)?))),
            },
            sorted_map::LEN => fixed(map.len().to_value()),
            sorted_map::IS_EMPTY => fixed(Value::Bool(map.is_empty())),
            sorted_map::CLEAR => {
                map.clear();
                fixed(Value::Unit)
            }
            sorted_map::FIRST => pair(map.front()),
            sorted_map::LAST => pair(map.back()),
            sorted_map::POP_FIRST => pair(map.pop_front()),
            sorted_map::POP_LAST => pair(map.pop_back()),
            sorted_map::LOWER_BOUND => pair(map.lower_bound(Bound::Included(&key()?))),
            sorted_map::UPPER_BOUND => pair(map.upper_bound(Bound::Included(&key()?))),
            _ => Err(unknown()),
        }
    }

    fn needs(&self, _call: &Invocation) -> Needs {
        Needs::Nothing
    }

    fn domain(&self) -> DomainKind {
        domain::<K, V>()
    }
}
