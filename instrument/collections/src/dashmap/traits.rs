//! The traits of std for the map.

use std::fmt;
use std::hash::{BuildHasher, Hash};

use interloper_commutativity::ToValue;

use super::{DashMap, Iter, OwningIter, RefMulti};

impl<K: Eq + Hash, V, S: BuildHasher + Clone + Default> Default for DashMap<K, V, S> {
    fn default() -> Self {
        Self::with_hasher(S::default())
    }
}

/// *Not* one step: the original copies the shards one after the other. The clone belongs to no run.
impl<K: Eq + Hash + ToValue + Clone, V: ToValue + Clone, S: BuildHasher + Clone> Clone for DashMap<K, V, S> {
    #[track_caller]
    fn clone(&self) -> Self {
        if self.handle.reader_or_private().is_none() {
            return Self::wrap(self.inner.clone());
        }
        let copy = Self::with_hasher(self.hasher().clone());
        for entry in self.iter() {
            copy.insert(entry.key().clone(), entry.value().clone());
        }
        copy
    }
}

/// *Not* one step: as [`DashMap::iter`].
impl<K: Eq + Hash + ToValue + fmt::Debug, V: ToValue + fmt::Debug, S: BuildHasher + Clone> fmt::Debug
    for DashMap<K, V, S>
{
    #[track_caller]
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut map = out.debug_map();
        for entry in self.iter() {
            map.entry(entry.key(), entry.value());
        }
        map.finish()
    }
}

/// One step for each entry, as [`DashMap::insert`].
impl<K: Eq + Hash + ToValue, V: ToValue, S: BuildHasher + Clone> Extend<(K, V)> for DashMap<K, V, S> {
    #[track_caller]
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        for (key, value) in entries {
            self.insert(key, value);
        }
    }
}

impl<K: Eq + Hash, V, S: BuildHasher + Clone + Default> FromIterator<(K, V)> for DashMap<K, V, S> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let map = Self::default();
        for (key, value) in entries {
            map.inner.insert(key, value);
        }
        map
    }
}

/// No step: the map is owned.
impl<K: Eq + Hash, V, S: BuildHasher + Clone> IntoIterator for DashMap<K, V, S> {
    type Item = (K, V);
    type IntoIter = OwningIter<K, V, S>;

    fn into_iter(self) -> OwningIter<K, V, S> {
        self.inner.into_iter()
    }
}

impl<'a, K: Eq + Hash + ToValue, V: ToValue, S: BuildHasher + Clone> IntoIterator for &'a DashMap<K, V, S> {
    type Item = RefMulti<'a, K, V>;
    type IntoIter = Iter<'a, K, V, S>;

    #[track_caller]
    fn into_iter(self) -> Iter<'a, K, V, S> {
        self.iter()
    }
}
