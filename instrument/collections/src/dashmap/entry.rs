//! The place of a key, locked for writing, from [`DashMap::entry`](super::DashMap::entry).

use std::hash::Hash;

use ::dashmap::mapref::entry as real;
use interloper_commutativity::{ToValue, Value};

use super::guards::RefMut;
use super::watch::Watch;
use crate::session::Needs;
use crate::site::Site;

/// The place of a key. It keeps the shard's lock; together with all that is done to it, it is one step.
pub enum Entry<'a, K: Eq + Hash, V: ToValue> {
    /// There is a value.
    Occupied(OccupiedEntry<'a, K, V>),
    /// There is no value.
    Vacant(VacantEntry<'a, K, V>),
}

impl<'a, K: Eq + Hash, V: ToValue> Entry<'a, K, V> {
    #[inline]
    pub(super) fn original(entry: real::Entry<'a, K, V>) -> Self {
        match entry {
            real::Entry::Occupied(real) => Entry::Occupied(OccupiedEntry::new(real, None)),
            real::Entry::Vacant(real) => Entry::Vacant(VacantEntry { real, watch: None }),
        }
    }

    #[inline]
    pub(super) fn watched(entry: real::Entry<'a, K, V>, site: Site, needs: Needs, key: Value) -> Self {
        match entry {
            real::Entry::Occupied(real) => {
                let seen = Some(real.get().to_value());
                Entry::Occupied(OccupiedEntry::new(real, Some(Watch::pending(site, needs, key, seen))))
            }
            real::Entry::Vacant(real) => {
                Entry::Vacant(VacantEntry { real, watch: Some(Watch::pending(site, needs, key, None)) })
            }
        }
    }

    /// Changes the value if there is one. That is an `insert` if the value differs.
    pub fn and_modify(self, f: impl FnOnce(&mut V)) -> Self {
        match self {
            Entry::Occupied(mut entry) => {
                f(entry.get_mut());
                entry.report();
                Entry::Occupied(entry)
            }
            vacant => vacant,
        }
    }

    /// The key.
    pub fn key(&self) -> &K {
        match self {
            Entry::Occupied(entry) => entry.key(),
            Entry::Vacant(entry) => entry.key(),
        }
    }

    /// The key that the entry was asked for with. The step is a `get`.
    pub fn into_key(self) -> K {
        match self {
            Entry::Occupied(entry) => entry.into_key(),
            Entry::Vacant(entry) => entry.into_key(),
        }
    }

    /// The value, or the default one, inserted. The step is a `get` or an `insert_if_absent`.
    #[inline]
    pub fn or_default(self) -> RefMut<'a, K, V>
    where
        V: Default,
    {
        self.or_insert_with(V::default)
    }

    /// The value, or `value`, inserted. The step is a `get` or an `insert_if_absent`.
    #[inline]
    pub fn or_insert(self, value: V) -> RefMut<'a, K, V> {
        self.or_insert_with(|| value)
    }

    /// The value, or the result of `value`, inserted. The step is a `get` or an `insert_if_absent`; `value` runs under
    /// the lock.
    #[inline]
    pub fn or_insert_with(self, value: impl FnOnce() -> V) -> RefMut<'a, K, V> {
        match self {
            Entry::Occupied(entry) => entry.into_ref(),
            Entry::Vacant(entry) => {
                let value = value();
                entry.insert(value)
            }
        }
    }

    /// As [`Entry::or_insert_with`], with a function that can fail. If it fails, the step is a `get`.
    ///
    /// # Errors
    /// The error of `value`.
    pub fn or_try_insert_with<E>(self, value: impl FnOnce() -> Result<V, E>) -> Result<RefMut<'a, K, V>, E> {
        match self {
            Entry::Occupied(entry) => Ok(entry.into_ref()),
            Entry::Vacant(entry) => {
                let value = value()?;
                Ok(entry.insert(value))
            }
        }
    }

    /// Puts `value` there. The step is an `insert` or an `insert_if_absent`.
    pub fn insert(self, value: V) -> RefMut<'a, K, V> {
        match self {
            Entry::Occupied(mut entry) => {
                entry.insert(value);
                entry.into_ref()
            }
            Entry::Vacant(entry) => entry.insert(value),
        }
    }

    /// Puts `value` there and keeps the entry. The step is an `insert` or an `insert_if_absent`.
    pub fn insert_entry(self, value: V) -> OccupiedEntry<'a, K, V>
    where
        K: Clone,
    {
        match self {
            Entry::Occupied(mut entry) => {
                entry.insert(value);
                entry
            }
            Entry::Vacant(entry) => entry.insert_entry(value),
        }
    }
}

/// The place of a key that has no value.
pub struct VacantEntry<'a, K, V> {
    real: real::VacantEntry<'a, K, V>,
    /// After `real`, so that the real lock is free when the session hears of it.
    watch: Option<Watch>,
}

impl<'a, K: Eq + Hash, V: ToValue> VacantEntry<'a, K, V> {
    /// Puts `value` there. The step is an `insert_if_absent`.
    #[inline]
    pub fn insert(self, value: V) -> RefMut<'a, K, V> {
        let real = self.real.insert(value);
        match self.watch {
            None => RefMut::original(real),
            Some(mut watch) => {
                watch.filled(real.value().to_value());
                RefMut::watched(real, watch)
            }
        }
    }

    /// Puts `value` there and keeps the entry. The step is an `insert_if_absent`.
    pub fn insert_entry(self, value: V) -> OccupiedEntry<'a, K, V>
    where
        K: Clone,
    {
        let real = self.real.insert_entry(value);
        let watch = self.watch.map(|mut watch| {
            watch.filled(real.get().to_value());
            watch
        });
        OccupiedEntry::new(real, watch)
    }

    /// The key. The step is a `get`.
    pub fn into_key(self) -> K {
        self.real.into_key()
    }

    /// The key.
    pub fn key(&self) -> &K {
        self.real.key()
    }
}

/// The place of a key that has a value.
pub struct OccupiedEntry<'a, K: Eq + Hash, V: ToValue> {
    /// `None` only after the entry was moved out.
    real: Option<real::OccupiedEntry<'a, K, V>>,
    /// Whether the value was borrowed mutably since the last report.
    touched: bool,
    /// After `real`, so that the real lock is free when the session hears of it.
    watch: Option<Watch>,
}

impl<'a, K: Eq + Hash, V: ToValue> OccupiedEntry<'a, K, V> {
    #[inline]
    fn new(real: real::OccupiedEntry<'a, K, V>, watch: Option<Watch>) -> Self {
        OccupiedEntry { real: Some(real), touched: false, watch }
    }

    /// The real entry, and the watch, which has reported nothing for it.
    #[inline]
    fn into_parts(mut self) -> (real::OccupiedEntry<'a, K, V>, Option<Watch>) {
        self.touched = false;
        let watch = self.watch.take();
        (self.real.take().expect(LIVE), watch)
    }

    fn real(&self) -> &real::OccupiedEntry<'a, K, V> {
        self.real.as_ref().expect(LIVE)
    }

    /// The value.
    pub fn get(&self) -> &V {
        self.real().get()
    }

    /// The value, mutably.
    pub fn get_mut(&mut self) -> &mut V {
        self.touched = true;
        self.real.as_mut().expect(LIVE).get_mut()
    }

    /// Puts `value` there and returns the previous value. This is an `insert`.
    pub fn insert(&mut self, value: V) -> V {
        self.report();
        let old = self.real.as_mut().expect(LIVE).insert(value);
        if let (Some(watch), Some(real)) = (&mut self.watch, &self.real) {
            watch.inserted(real.get().to_value());
        }
        old
    }

    /// A write guard on the value. If nothing else was done, the step is a `get`.
    #[inline]
    pub fn into_ref(mut self) -> RefMut<'a, K, V> {
        self.report();
        let (real, watch) = self.into_parts();
        let real = real.into_ref();
        match watch {
            None => RefMut::original(real),
            Some(mut watch) => {
                watch.looked();
                RefMut::watched(real, watch)
            }
        }
    }

    /// The key that the entry was asked for with.
    pub fn into_key(mut self) -> K {
        self.report();
        let (real, _watch) = self.into_parts();
        real.into_key()
    }

    /// The key in the map.
    pub fn key(&self) -> &K {
        self.real().key()
    }

    /// Removes the value and returns it. The step is a `remove`.
    pub fn remove(self) -> V {
        self.remove_entry().1
    }

    /// Removes key and value and returns them. The step is a `remove`.
    pub fn remove_entry(self) -> (K, V) {
        let (real, mut watch) = self.into_parts();
        let removed = real.remove_entry();
        if let Some(watch) = &mut watch {
            watch.removed();
        }
        removed
    }

    /// Puts `value` there, and the key that the entry was asked for with; returns the previous pair. The step is an
    /// `insert`.
    pub fn replace_entry(mut self, value: V) -> (K, V) {
        self.report();
        let new = self.watch.is_some().then(|| value.to_value());
        let (real, mut watch) = self.into_parts();
        let replaced = real.replace_entry(value);
        if let (Some(watch), Some(new)) = (&mut watch, new) {
            watch.inserted(new);
        }
        replaced
    }

    /// Reports a change of the value.
    #[inline]
    fn report(&mut self) {
        if let (Some(watch), Some(real), true) = (&mut self.watch, &self.real, self.touched) {
            watch.touched(real.get().to_value());
            self.touched = false;
        }
    }
}

/// An entry is complete until it is consumed or dropped.
const LIVE: &str = "the entry was not used up";

impl<K: Eq + Hash, V: ToValue> Drop for OccupiedEntry<'_, K, V> {
    #[inline]
    fn drop(&mut self) {
        self.report();
    }
}
