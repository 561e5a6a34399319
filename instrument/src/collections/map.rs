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

table! {
    "HashMap", HashMap, keys K: values V,
    iterates (K, V) as IntoIter<K, V>, (&'a K, &'a V) as Iter<'a, K, V>
}

impl<K, V, S> HashMap<K, V, S> {
    by_reference! {
        "HashMap":
        fn keys[]() -> Keys<'_, K, V> [];
        fn values[]() -> Values<'_, K, V> [];
        fn iter[]() -> Iter<'_, K, V> [];
    }

    by_mutable_reference! {
        "HashMap":
        fn values_mut[]() -> ValuesMut<'_, K, V> [];
        fn iter_mut[]() -> IterMut<'_, K, V> [];
        fn drain[]() -> Drain<'_, K, V> [];
        fn extract_if[F](pred: F) -> ExtractIf<'_, K, V, F> [F: FnMut(&K, &mut V) -> bool];
        fn retain[F](f: F) -> () [F: FnMut(&K, &mut V) -> bool];
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
        fn entry[](key: K) -> Entry<'_, K, V> [];
        fn get_disjoint_mut[Q, const N: usize](ks: [&Q; N]) -> [Option<&'_ mut V>; N] [K: Borrow<Q>, Q: ?Sized + Hash + Eq];
        fn get_mut[Q](k: &Q) -> Option<&mut V> [K: Borrow<Q>, Q: ?Sized + Hash + Eq];
        fn insert[](k: K, v: V) -> Option<V> [];
        fn remove[Q](k: &Q) -> Option<V> [K: Borrow<Q>, Q: ?Sized + Hash + Eq];
        fn remove_entry[Q](k: &Q) -> Option<(K, V)> [K: Borrow<Q>, Q: ?Sized + Hash + Eq];
    }
}

impl<K: Eq + Hash + Borrow<Q>, Q: Eq + Hash + ?Sized, V, S: BuildHasher> Index<&Q> for HashMap<K, V, S> {
    type Output = V;

    #[inline]
    fn index(&self, key: &Q) -> &V {
        &self.0[key]
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
