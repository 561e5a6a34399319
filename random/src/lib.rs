//! All random numbers: a stream of them for each seed, purpose and number.
//!
//! A user gives one seed. Searches, generators and delays each take streams of their own from it, so that none of them
//! repeats the numbers of another.
//!
//! ```
//! use interloper_random::{Purpose, Stream};
//!
//! let mut first = Stream::new(42, Purpose::Schedule, 0);
//! let mut second = Stream::new(42, Purpose::Schedule, 1);
//! assert_ne!(first.word(), second.word());
//! ```
//!
//! # Limits
//! The numbers are not for secrets.

use std::convert::Infallible;

use rand::{Rng, SeedableRng, TryRng};
use rand_pcg::Pcg64Mcg;

/// What the numbers of a stream decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Purpose {
    /// The choices of an execution, by the number of the execution.
    Schedule,
    /// Which schemas are tried.
    Schemas,
    /// How long threads wait before an execution, by team and lane.
    Delays,
    /// The calls of a generated history.
    History,
}

impl Purpose {
    /// Every purpose.
    pub const ALL: [Purpose; 4] = [Purpose::Schedule, Purpose::Schemas, Purpose::Delays, Purpose::History];

    /// What sets the seeds of a purpose apart. Schedules have the seed itself: a replay from a seed gives the same run as
    /// in versions that had no other purposes.
    fn salt(self) -> u64 {
        match self {
            Purpose::Schedule => 0,
            other => mix(0, other as u64),
        }
    }
}

/// The numbers of a seed, a purpose and a number: the same numbers everywhere (PCG MCG 128/64, O'Neill 2014).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream(Pcg64Mcg);

impl Stream {
    /// The beginning of a stream.
    pub fn new(seed: u64, purpose: Purpose, number: u64) -> Stream {
        if purpose == Purpose::Schemas && number == 0 {
            // The schemas of the published tables (docs/FINDINGS.md) were drawn from this stream.
            return Stream(Pcg64Mcg::seed_from_u64(seed));
        }
        let seed = seed ^ purpose.salt();
        let low = mix(seed, number);
        let high = mix(low, seed);
        Stream(Pcg64Mcg::new(u128::from(high) << 64 | u128::from(low)))
    }

    /// The next 64 bits.
    #[inline]
    pub fn word(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// The next number below `bound`, uniform up to a bias of `bound` / 2^64; 0 where the bound is 0.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.word()) * u128::from(bound)) >> 64) as u64
    }

    /// The next index into something of this length; 0 where the length is 0.
    #[inline]
    pub fn index(&mut self, length: usize) -> usize {
        self.below(length as u64) as usize
    }
}

/// For the distributions of `rand`.
impl TryRng for Stream {
    type Error = Infallible;

    #[inline]
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.0.try_next_u32()
    }

    #[inline]
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.0.try_next_u64()
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.0.try_fill_bytes(bytes)
    }
}

/// A permutation of the numbers in which neighbours have unrelated images.
#[inline]
pub fn scramble(number: u64) -> u64 {
    finalize(number.wrapping_add(GOLDEN))
}

/// One number out of two such that neighbouring pairs give unrelated numbers.
#[inline]
pub fn mix(a: u64, b: u64) -> u64 {
    stir(scramble(a).wrapping_add(GOLDEN), b)
}

/// As [`mix`], at half the cost, where all bits of `hash` are as good as random: what came out of `mix` or `stir`.
#[inline]
pub fn stir(hash: u64, b: u64) -> u64 {
    finalize(hash.wrapping_add(b.wrapping_mul(GOLDEN)))
}

const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// The finalizer of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014).
#[inline]
fn finalize(number: u64) -> u64 {
    let number = (number ^ number >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let number = (number ^ number >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ number >> 31
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn beginning(seed: u64, purpose: Purpose, number: u64) -> [u64; 4] {
        let mut stream = Stream::new(seed, purpose, number);
        [(); 4].map(|()| stream.word())
    }

    #[test]
    fn seed_purpose_and_number_each_make_another_stream() {
        let mut streams = BTreeSet::new();
        for seed in [0, 1, 2, 42, u64::MAX] {
            for purpose in Purpose::ALL {
                streams.extend([0, 1, 2, 3, 1 << 32].map(|number| beginning(seed, purpose, number)));
            }
        }
        assert_eq!(streams.len(), 5 * 4 * 5);
        assert_eq!(beginning(7, Purpose::Delays, 3), beginning(7, Purpose::Delays, 3));
    }

    /// A seed that a user has noted gives the same numbers in the next version, too.
    #[test]
    fn the_streams_are_pinned() {
        let first = Purpose::ALL.map(|purpose| Stream::new(42, purpose, 0).below(1000));
        assert_eq!(first, [368, 573, 935, 531]);
    }

    #[test]
    fn numbers_below_a_bound() {
        let mut stream = Stream::new(0, Purpose::History, 0);
        let mut seen = [0_u32; 5];
        (0..5_000).for_each(|_| seen[stream.index(5)] += 1);
        // The standard deviation is 28.
        assert!(seen.iter().all(|&count| count.abs_diff(1_000) < 200), "{seen:?}");
        assert_eq!((stream.below(1), stream.index(0)), (0, 0));
    }
}
