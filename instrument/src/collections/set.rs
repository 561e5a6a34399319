//! `HashSet`.

use std::borrow::Borrow;
use std::collections::HashSet as Inner;
use std::collections::TryReserveError;
use std::collections::hash_set::{
    Difference, Drain, ExtractIf, Intersection, IntoIter, Iter, SymmetricDifference, Union,
};
use std::fmt;
use std::hash::{BuildHasher, Hash};
use std::ops::{BitAnd, BitOr, BitXor, Deref, DerefMut, Sub};

use crate::hash::RandomState;

/// Mirrors [`std::collections::HashSet`]: the original, whose hasher is seeded from the run unless another one is given.
#[derive(Clone)]
pub struct HashSet<T, S = RandomState>(Inner<T, S>);

constructors!("HashSet", HashSet, Inner, T);

impl<T, S> HashSet<T, S> {
    by_reference! {
        "HashSet":
        fn capacity[]() -> usize [];
        fn iter[]() -> Iter<'_, T> [];
        fn len[]() -> usize [];
        fn is_empty[]() -> bool [];
        fn hasher[]() -> &S [];
    }

    by_mutable_reference! {
        "HashSet":
        fn drain[]() -> Drain<'_, T> [];
        fn extract_if[F](pred: F) -> ExtractIf<'_, T, F> [F: FnMut(&T) -> bool];
        fn retain[F](f: F) -> () [F: FnMut(&T) -> bool];
        fn clear[]() -> () [];
    }
}

impl<T: Eq + Hash, S: BuildHasher> HashSet<T, S> {
    by_reference! {
        "HashSet":
        fn contains[Q](value: &Q) -> bool [T: Borrow<Q>, Q: ?Sized + Hash + Eq];
        fn get[Q](value: &Q) -> Option<&T> [T: Borrow<Q>, Q: ?Sized + Hash + Eq];
        fn is_disjoint[](other: &HashSet<T, S>) -> bool [];
        fn is_subset[](other: &HashSet<T, S>) -> bool [];
        fn is_superset[](other: &HashSet<T, S>) -> bool [];
    }

    by_mutable_reference! {
        "HashSet":
        fn reserve[](additional: usize) -> () [];
        fn try_reserve[](additional: usize) -> Result<(), TryReserveError> [];
        fn shrink_to_fit[]() -> () [];
        fn shrink_to[](min_capacity: usize) -> () [];
        fn insert[](value: T) -> bool [];
        fn replace[](value: T) -> Option<T> [];
        fn remove[Q](value: &Q) -> bool [T: Borrow<Q>, Q: ?Sized + Hash + Eq];
        fn take[Q](value: &Q) -> Option<T> [T: Borrow<Q>, Q: ?Sized + Hash + Eq];
    }

    /// As [`std::collections::HashSet::difference`].
    #[inline]
    pub fn difference<'a>(&'a self, other: &'a HashSet<T, S>) -> Difference<'a, T, S> {
        self.0.difference(&other.0)
    }

    /// As [`std::collections::HashSet::symmetric_difference`].
    #[inline]
    pub fn symmetric_difference<'a>(&'a self, other: &'a HashSet<T, S>) -> SymmetricDifference<'a, T, S> {
        self.0.symmetric_difference(&other.0)
    }

    /// As [`std::collections::HashSet::intersection`].
    #[inline]
    pub fn intersection<'a>(&'a self, other: &'a HashSet<T, S>) -> Intersection<'a, T, S> {
        self.0.intersection(&other.0)
    }

    /// As [`std::collections::HashSet::union`].
    #[inline]
    pub fn union<'a>(&'a self, other: &'a HashSet<T, S>) -> Union<'a, T, S> {
        self.0.union(&other.0)
    }
}

impl<T, S> Deref for HashSet<T, S> {
    type Target = Inner<T, S>;

    #[inline]
    fn deref(&self) -> &Inner<T, S> {
        &self.0
    }
}

impl<T, S> DerefMut for HashSet<T, S> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Inner<T, S> {
        &mut self.0
    }
}

impl<T, S> From<Inner<T, S>> for HashSet<T, S> {
    fn from(set: Inner<T, S>) -> Self {
        HashSet(set)
    }
}

impl<T, S> From<HashSet<T, S>> for Inner<T, S> {
    fn from(set: HashSet<T, S>) -> Self {
        set.0
    }
}

impl<T: Eq + Hash, const N: usize> From<[T; N]> for HashSet<T, RandomState> {
    fn from(values: [T; N]) -> Self {
        values.into_iter().collect()
    }
}

impl<T, S: Default> Default for HashSet<T, S> {
    #[inline]
    fn default() -> Self {
        HashSet(Inner::default())
    }
}

impl<T: Eq + Hash, S: BuildHasher> PartialEq for HashSet<T, S> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<T: Eq + Hash, S: BuildHasher> Eq for HashSet<T, S> {}

impl<T: fmt::Debug, S> fmt::Debug for HashSet<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T: Eq + Hash, S: BuildHasher + Default> FromIterator<T> for HashSet<T, S> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        HashSet(Inner::from_iter(values))
    }
}

impl<T: Eq + Hash, S: BuildHasher> Extend<T> for HashSet<T, S> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, values: I) {
        self.0.extend(values);
    }
}

impl<'a, T: Eq + Hash + Copy + 'a, S: BuildHasher> Extend<&'a T> for HashSet<T, S> {
    fn extend<I: IntoIterator<Item = &'a T>>(&mut self, values: I) {
        self.0.extend(values);
    }
}

impl<T, S> IntoIterator for HashSet<T, S> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    #[inline]
    fn into_iter(self) -> IntoIter<T> {
        self.0.into_iter()
    }
}

impl<'a, T, S> IntoIterator for &'a HashSet<T, S> {
    type Item = &'a T;
    type IntoIter = Iter<'a, T>;

    #[inline]
    fn into_iter(self) -> Iter<'a, T> {
        self.0.iter()
    }
}

macro_rules! operator {
    ($trait:ident, $method:ident) => {
        impl<T: Eq + Hash + Clone, S: BuildHasher + Default> $trait<&HashSet<T, S>> for &HashSet<T, S> {
            type Output = HashSet<T, S>;

            fn $method(self, other: &HashSet<T, S>) -> HashSet<T, S> {
                HashSet($trait::$method(&self.0, &other.0))
            }
        }
    };
}

operator!(BitAnd, bitand);
operator!(BitOr, bitor);
operator!(BitXor, bitxor);
operator!(Sub, sub);
