//! A sorted map.

use std::borrow::Borrow;
use std::cell::Cell;
use std::fmt;
use std::ops::Bound;
use std::sync::Arc;

use crossbeam_skiplist::map as real;
use interloper_commutativity::models::sorted_map;
use interloper_commutativity::{Datum, Invocation, Model, ToValue, Value};

use super::core::SkipList;
use super::words::Pairs;
use super::{entry, iterate};
use crate::environment::{
    argument, as_it_was_published, as_its_original, change, domain, has_entry, maybe_later, pair_or_none, parse,
    sorted_map_model, unknown,
};
use crate::session::{DomainKind, Handle, Instrumented, Needs, Outcome};

/// [`crossbeam_skiplist::SkipMap`], instrumented. See the [module](super) for what is one step.
pub type SkipMap<K, V> = SkipList<K, V, Pairs>;

/// An entry of a [`SkipMap`]. It can still be read after it was removed.
pub type Entry<'a, K, V> = entry::Entry<'a, K, V, Pairs>;

/// The iterator of `SkipMap::iter`.
pub type Iter<'a, K, V> = iterate::Iter<'a, K, V, Pairs>;

/// The iterator of `SkipMap::range`.
pub type Range<'a, Q, R, K, V> = iterate::Range<'a, Q, R, K, V, Pairs>;

impl<K: Ord + ToValue, V: ToValue> SkipMap<K, V> {
    /// Whether there is an entry at `key`. One step.
    #[track_caller]
    pub fn contains_key<Q>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
        Q: Ord + ToValue + ?Sized,
    {
        self.has(key)
    }

    /// The entry at `key`, or a new one with `value`. One step.
    #[track_caller]
    pub fn get_or_insert(&self, key: K, value: V) -> Entry<'_, K, V> {
        self.entry_or_insert(key, value)
    }

    /// The entry at `key`, or a new one with what `make` returns. *Not* one step when there is no entry: one step looks for
    /// the entry, `make` runs, and another step inserts the new entry if there is still no other.
    #[track_caller]
    pub fn get_or_insert_with<F>(&self, key: K, make: F) -> Entry<'_, K, V>
    where
        F: FnOnce() -> V,
    {
        if self.handle.site().is_none() {
            return Entry { real: self.inner.get_or_insert_with(key, make), list: self };
        }
        match self.get(&key) {
            Some(found) => found,
            None => self.get_or_insert(key, make()),
        }
    }
}

impl<K: Ord + ToValue + Send + 'static, V: ToValue + Send + 'static> SkipMap<K, V> {
    /// Puts `value` at `key`, in a new entry. One step.
    #[track_caller]
    pub fn insert(&self, key: K, value: V) -> Entry<'_, K, V> {
        self.insert_entry(key, value)
    }

    /// Puts `value` at `key` unless `compare` keeps the value that is there. One step, which includes `compare`.
    #[track_caller]
    pub fn compare_insert<F>(&self, key: K, value: V, compare: F) -> Entry<'_, K, V>
    where
        F: Fn(&V) -> bool,
    {
        let Some(site) = self.handle.site() else {
            return Entry { real: self.inner.compare_insert(key, value, compare), list: self };
        };
        let arguments = [key.to_value(), value.to_value()];
        site.before(sorted_map::INSERT, &arguments, Needs::Nothing);
        let old = self.inner.get(&key);
        let kept = Cell::new(false);
        let real = self.inner.compare_insert(key, value, |old| {
            let replace = compare(old);
            kept.set(!replace);
            replace
        });
        let old = old.as_ref().map(real::Entry::value).to_value();
        if kept.get() {
            site.only_read();
            site.after(sorted_map::GET, &arguments[..1], &old);
        } else {
            site.after(sorted_map::INSERT, &arguments, &old);
        }
        Entry { real, list: self }
    }
}

/// No step: the map is owned.
impl<K, V> IntoIterator for SkipMap<K, V> {
    type Item = (K, V);
    type IntoIter = real::IntoIter<K, V>;

    fn into_iter(self) -> Self::IntoIter {
        self.inner.into_iter()
    }
}

impl<K: Ord, V> FromIterator<(K, V)> for SkipMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        SkipList::of(entries.into_iter().collect())
    }
}

impl<K, V> Entry<'_, K, V> {
    /// The key.
    pub fn key(&self) -> &K {
        self.real.key()
    }

    /// The value.
    pub fn value(&self) -> &V {
        self.real.value()
    }
}

impl<K: fmt::Debug, V: fmt::Debug> fmt::Debug for Entry<'_, K, V> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("Entry").field(self.key()).field(self.value()).finish()
    }
}

/// The original as it was published. Its calls are heard where the crate is under control.
impl<K, V> Instrumented for crossbeam_skiplist::SkipMap<K, V>
where
    K: Datum + Ord + Send,
    V: Datum + Send,
{
    as_it_was_published!(std::any::type_name::<Self>());

    fn model(&self) -> Arc<dyn Model> {
        sorted_map_model()
    }

    fn snapshot(&self) -> Value {
        Value::map(self.iter().map(|entry| (entry.key().to_value(), entry.value().to_value())))
    }

    fn restore(&self, state: &Value) -> Result<(), Value> {
        let Value::Map(wanted) = state else { return Err(state.clone()) };
        for entry in self {
            // A value that can change through a shared reference may be shared: it is made anew.
            if V::INTERIOR || !has_entry(wanted, &entry.key().to_value(), &entry.value().to_value()) {
                entry.remove();
            }
        }
        if self.len() < wanted.len() {
            for (key, value) in wanted.iter() {
                self.get_or_insert(parse(key)?, parse(value)?);
            }
        }
        Ok(())
    }

    fn restore_from(&self, from: &Value, to: &Value) -> Result<(), Value> {
        let (Value::Map(present), Value::Map(wanted), false) = (from, to, V::INTERIOR) else {
            return self.restore(to);
        };
        let remove = &mut |key: &Value| parse::<K>(key).map(|key| drop(self.remove(&key)));
        let insert = &mut |key: &Value, value: &Value| {
            self.insert(parse(key)?, parse(value)?);
            Ok(())
        };
        change((present, wanted), remove, insert)
    }

    fn apply(&self, call: &Invocation) -> Result<Outcome, Value> {
        let map = self;
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

    fn domain(&self) -> DomainKind {
        domain::<K, V>()
    }
}

as_its_original!([K: Datum + Ord + Send, V: Datum + Send] SkipMap<K, V>);
