//! Seeded numbers.

/// SplitMix64 (Steele, Lea and Flood, *Fast splittable pseudorandom number generators*, 2014): the same numbers for the
/// same seed, everywhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Random(pub(crate) u64);

impl Random {
    /// Numbers that depend on `seed` alone.
    pub fn seeded(seed: u64) -> Random {
        Random(seed)
    }

    /// The next number, below `bound`.
    ///
    /// # Panics
    /// When `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((bits ^ (bits >> 31)) % bound as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first outputs of the reference implementation for the seed 1234567.
    #[test]
    fn the_numbers_are_those_of_splitmix64() {
        let mut random = Random::seeded(1_234_567);
        let expected = [6_457_827_717_110_365_317u64, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        for number in expected {
            assert_eq!(random.clone().below(1 << 32), (number % (1 << 32)) as usize);
            assert_eq!(random.below(1_000_003), (number % 1_000_003) as usize);
        }
    }
}
