//! `HashMap`.

use std::borrow::Borrow;
use std::collections::HashMap as Inner;
use std::collections::TryReserveError;
use std::collections::hash_map::{
    Drain, Entry, ExtractIf, IntoIter, IntoKeys, IntoValues, Iter, IterMut, Keys, Values, ValuesMut,
};
use std::fmt;
use std::hash::{BuildHasher, Hash};
use std::ops::{Deref, DerefMut, Index};

use crate::hash::RandomState;

/// Mirrors [`std::collections::HashMap`]: the original, whose hasher is seeded from the run unless another one is given.
#[derive(Clone)]
pub struct HashMap<K, V, S = RandomState>(Inner<K, V, S>);

constructors!("HashMap", HashMap, Inner, K, V);

impl<K, V, S> HashMap<K, V, S> {
    by_reference! {
        "HashMap":
        fn capacity[]() -> usize [];
        fn keys[]() -> Keys<'_, K, V> [];
        fn values[]() -> Values<'_, K, V> [];
        fn iter[]() -> Iter<'_, K, V> [];
        fn len[]() -> usize [];
        fn is_empty[]() -> bool [];
        fn hasher[]() -> &S [];
    }

    by_mutable_reference! {
        "HashMap":
        fn values_mut[]() -> ValuesMut<'_, K, V> [];
        fn iter_mut[]() -> IterMut<'_, K, V> [];
        fn drain[]() -> Drain<'_, K, V> [];
        fn extract_if[F](pred: F) -> ExtractIf<'_, K, V, F> [F: FnMut(&K, &mut V) -> bool];
        fn retain[F](f: F) -> () [F: FnMut(&K, &mut V) -> bool];
        fn clear[]() -> () [];
    }

    /// As [`std::collections::HashMap::into_keys`].
    #[inline]
    pub fn into_keys(self) -> IntoKeys<K, V> {
        self.0.into_keys()
    }

    /// As [`std::collections::HashMap::into_values`].
    #[inline]
    pub fn into_values(self) -> IntoValues<K, V> {
        self.0.into_values()
    }
}

impl<K: Eq + Hash, V, S: BuildHasher> HashMap<K, V, S> {
    by_reference! {
        "HashMap":
        fn get[Q](k: &Q) -> Option<&V> [K: Borrow<Q>, Q: ?Sized + Hash + Eq];
        fn get_key_value[Q](k: &Q) -> Option<(&K, &V)> [K: Borrow<Q>, Q: ?Sized + Hash + Eq];
        fn contains_key[Q](k: &Q) -> bool [K: Borrow<Q>, Q: ?Sized + Hash + Eq];
    }

    by_mutable_reference! {
        "HashMap":
        fn reserve[](additional: usize) -> () [];
        fn try_reserve[](additional: usize) -> Result<(), TryReserveError> [];
        fn shrink_to_fit[]() -> () [];
        fn shrink_to[](min_capacity: usize) -> () [];
        fn entry[](key: K) -> Entry<'_, K, V> [];
        fn get_disjoint_mut[Q, const N: usize](ks: [&Q; N]) -> [Option<&'_ mut V>; N] [K: Borrow<Q>, Q: ?Sized + Hash + Eq];
        fn get_mut[Q](k: &Q) -> Option<&mut V> [K: Borrow<Q>, Q: ?Sized + Hash + Eq];
        fn insert[](k: K, v: V) -> Option<V> [];
        fn remove[Q](k: &Q) -> Option<V> [K: Borrow<Q>, Q: ?Sized + Hash + Eq];
        fn remove_entry[Q](k: &Q) -> Option<(K, V)> [K: Borrow<Q>, Q: ?Sized + Hash + Eq];
    }
}

impl<K, V, S> Deref for HashMap<K, V, S> {
    type Target = Inner<K, V, S>;

    #[inline]
    fn deref(&self) -> &Inner<K, V, S> {
        &self.0
    }
}

impl<K, V, S> DerefMut for HashMap<K, V, S> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Inner<K, V, S> {
        &mut self.0
    }
}

impl<K, V, S> From<Inner<K, V, S>> for HashMap<K, V, S> {
    fn from(map: Inner<K, V, S>) -> Self {
        HashMap(map)
    }
}

impl<K, V, S> From<HashMap<K, V, S>> for Inner<K, V, S> {
    fn from(map: HashMap<K, V, S>) -> Self {
        map.0
    }
}

impl<K: Eq + Hash, V, const N: usize> From<[(K, V); N]> for HashMap<K, V, RandomState> {
    fn from(pairs: [(K, V); N]) -> Self {
        pairs.into_iter().collect()
    }
}

impl<K, V, S: Default> Default for HashMap<K, V, S> {
    #[inline]
    fn default() -> Self {
        HashMap(Inner::default())
    }
}

impl<K: Eq + Hash, V: PartialEq, S: BuildHasher> PartialEq for HashMap<K, V, S> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<K: Eq + Hash, V: Eq, S: BuildHasher> Eq for HashMap<K, V, S> {}

impl<K: fmt::Debug, V: fmt::Debug, S> fmt::Debug for HashMap<K, V, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<K: Eq + Hash + Borrow<Q>, Q: Eq + Hash + ?Sized, V, S: BuildHasher> Index<&Q> for HashMap<K, V, S> {
    type Output = V;

    #[inline]
    fn index(&self, key: &Q) -> &V {
        &self.0[key]
    }
}

impl<K: Eq + Hash, V, S: BuildHasher + Default> FromIterator<(K, V)> for HashMap<K, V, S> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        HashMap(Inner::from_iter(pairs))
    }
}

impl<K: Eq + Hash, V, S: BuildHasher> Extend<(K, V)> for HashMap<K, V, S> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, pairs: I) {
        self.0.extend(pairs);
    }
}

impl<'a, K: Eq + Hash + Copy, V: Copy, S: BuildHasher> Extend<(&'a K, &'a V)> for HashMap<K, V, S> {
    fn extend<I: IntoIterator<Item = (&'a K, &'a V)>>(&mut self, pairs: I) {
        self.0.extend(pairs);
    }
}

impl<K, V, S> IntoIterator for HashMap<K, V, S> {
    type Item = (K, V);
    type IntoIter = IntoIter<K, V>;

    #[inline]
    fn into_iter(self) -> IntoIter<K, V> {
        self.0.into_iter()
    }
}

impl<'a, K, V, S> IntoIterator for &'a HashMap<K, V, S> {
    type Item = (&'a K, &'a V);
    type IntoIter = Iter<'a, K, V>;

    #[inline]
    fn into_iter(self) -> Iter<'a, K, V> {
        self.0.iter()
    }
}

impl<'a, K, V, S> IntoIterator for &'a mut HashMap<K, V, S> {
    type Item = (&'a K, &'a mut V);
    type IntoIter = IterMut<'a, K, V>;

    #[inline]
    fn into_iter(self) -> IterMut<'a, K, V> {
        self.0.iter_mut()
    }
}
