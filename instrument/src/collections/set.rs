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

table! {
    "HashSet", HashSet, keys T,
    iterates T as IntoIter<T>, &'a T as Iter<'a, T>
}

impl<T, S> HashSet<T, S> {
    by_reference! {
        "HashSet":
        fn iter[]() -> Iter<'_, T> [];
    }

    by_mutable_reference! {
        "HashSet":
        fn drain[]() -> Drain<'_, T> [];
        fn extract_if[F](pred: F) -> ExtractIf<'_, T, F> [F: FnMut(&T) -> bool];
        fn retain[F](f: F) -> () [F: FnMut(&T) -> bool];
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
