//! Sets of small numbers as words of bits.

use std::hash::Hash;

/// A set of numbers below a bound that is fixed when the set is made.
pub(super) trait Mask: Clone + Eq + Hash {
    /// The empty set of numbers below `bound`.
    fn empty(bound: usize) -> Self;
    fn insert(&mut self, number: usize);
    fn remove(&mut self, number: usize);

    /// How many bytes it takes besides its own size.
    fn heap_bytes(&self) -> usize {
        0
    }
}

impl<const WORDS: usize> Mask for [u64; WORDS] {
    fn empty(bound: usize) -> Self {
        debug_assert!(bound <= 64 * WORDS);
        [0; WORDS]
    }

    fn insert(&mut self, number: usize) {
        self[number / 64] |= 1 << (number % 64);
    }

    fn remove(&mut self, number: usize) {
        self[number / 64] &= !(1 << (number % 64));
    }
}

impl Mask for Vec<u64> {
    fn empty(bound: usize) -> Self {
        vec![0; bound.div_ceil(64)]
    }

    fn insert(&mut self, number: usize) {
        self[number / 64] |= 1 << (number % 64);
    }

    fn remove(&mut self, number: usize) {
        self[number / 64] &= !(1 << (number % 64));
    }

    fn heap_bytes(&self) -> usize {
        size_of::<u64>() * self.capacity()
    }
}
