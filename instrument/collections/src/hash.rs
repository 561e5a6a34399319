//! A hasher that is random outside a controlled run and fixed inside.

use std::hash::{BuildHasher, DefaultHasher, Hasher};

use crate::session::repeatable;

/// The default hasher of the wrappers: [`std::hash::RandomState`] when it is made outside a controlled run; inside a
/// run, a fixed cheap hash that is the same in every process, so that a run repeats exactly.
#[derive(Clone, Debug)]
pub struct RandomState(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Random(std::hash::RandomState),
    Fixed,
}

impl RandomState {
    /// A state that fits the place where it is made.
    pub fn new() -> RandomState {
        RandomState(if repeatable() { Kind::Fixed } else { Kind::Random(std::hash::RandomState::new()) })
    }
}

impl Default for RandomState {
    fn default() -> Self {
        RandomState::new()
    }
}

impl BuildHasher for RandomState {
    type Hasher = KeyHasher;

    #[inline]
    fn build_hasher(&self) -> KeyHasher {
        match &self.0 {
            Kind::Random(state) => KeyHasher::Random(state.build_hasher()),
            Kind::Fixed => KeyHasher::Fixed(FixedHasher::default()),
        }
    }
}

/// The hasher that a [`RandomState`] makes.
#[derive(Clone, Debug)]
pub enum KeyHasher {
    /// The hasher of std, with random keys.
    Random(DefaultHasher),
    /// The fixed hasher of a controlled run.
    Fixed(FixedHasher),
}

macro_rules! forward {
    ($($write:ident($type:ty)),*) => {$(
        #[inline]
        fn $write(&mut self, number: $type) {
            match self {
                KeyHasher::Random(hasher) => hasher.$write(number),
                KeyHasher::Fixed(hasher) => hasher.add(number as u64),
            }
        }
    )*};
}

impl Hasher for KeyHasher {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        match self {
            KeyHasher::Random(hasher) => hasher.write(bytes),
            KeyHasher::Fixed(hasher) => hasher.write(bytes),
        }
    }

    forward!(write_u8(u8), write_u16(u16), write_u32(u32), write_u64(u64), write_usize(usize));
    forward!(write_i8(i8), write_i16(i16), write_i32(i32), write_i64(i64), write_isize(isize));

    #[inline]
    fn finish(&self) -> u64 {
        match self {
            KeyHasher::Random(hasher) => hasher.finish(),
            KeyHasher::Fixed(hasher) => hasher.finish(),
        }
    }
}

/// A fixed hash in the manner of FNV and Fx: xor a word, multiply by an odd number.
///
/// The lowest four bits of the state depend only on the lowest four bits of each word, and change whenever those do.
/// They become the bits by which `DashMap` chooses one of 16 shards, so that small neighbouring keys (`1`, `2`, `3`;
/// `"a"`, `"b"`; `"user1"`, `"user2"`) are in different shards: a lock on one of them is not a lock on another.
#[derive(Clone, Copy, Debug, Default)]
pub struct FixedHasher(u64);

/// Odd; from rustc's Fx hash.
const MULTIPLIER: u64 = 0x517c_c1b7_2722_0a95;

/// `DashMap` leaves the highest 7 bits of a hash to the table of a shard and takes the number of the shard from the
/// bits below.
const SHARD_BITS_END: u32 = 64 - 7;

impl FixedHasher {
    #[inline]
    fn add(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(MULTIPLIER);
    }
}

impl Hasher for FixedHasher {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.add(u64::from(*byte));
        }
    }

    #[inline]
    fn finish(&self) -> u64 {
        let shard_bits = 0b1111 << (SHARD_BITS_END - 4);
        let mixed = (self.0 ^ (self.0 >> 32)).wrapping_mul(MULTIPLIER);
        (mixed & !shard_bits) | ((self.0 & 0b1111) << (SHARD_BITS_END - 4))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn shard_of(key: impl std::hash::Hash) -> usize {
        let state = RandomState(Kind::Fixed);
        let map: dashmap::DashMap<(), (), RandomState> = dashmap::DashMap::with_hasher_and_shard_amount(state, 16);
        map.determine_shard(map.hash_usize(&key))
    }

    #[test]
    fn neighbouring_keys_lie_in_different_shards() {
        let integers: BTreeSet<usize> = (-8i64..8).map(shard_of).collect();
        assert_eq!(integers.len(), 16);
        let letters: BTreeSet<usize> = ('a'..='o').map(|letter| shard_of(letter.to_string())).collect();
        assert_eq!(letters.len(), 15);
        let users: BTreeSet<usize> = (0..10).map(|number| shard_of(format!("user{number}"))).collect();
        assert_eq!(users.len(), 10);
        let pairs: BTreeSet<usize> = (0..16).map(|second| shard_of((3, second))).collect();
        assert_eq!(pairs.len(), 16);
    }

    #[test]
    fn the_fixed_hash_does_not_depend_on_the_process() {
        let hash = |key: &str| RandomState(Kind::Fixed).hash_one(key);
        assert_eq!(hash("a"), hash("a"));
        assert_eq!(RandomState(Kind::Fixed).hash_one(7u64), 0xc260_d3f9_0115_31e5);
    }

    #[test]
    fn outside_a_run_the_state_is_random() {
        let (one, other) = (RandomState::new(), RandomState::new());
        let differ = (0..64u64).any(|key| one.hash_one(key) != other.hash_one(key));
        assert!(differ, "two random states agree on 64 keys: probability 2^-4096");
    }
}
