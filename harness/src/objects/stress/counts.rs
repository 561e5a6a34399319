//! How often each outcome was seen.

use rustc_hash::FxHashMap;

/// The bits of an index into the flat array: above this, it would no longer stay in a cache.
const FLAT_BITS: u32 = 18;

/// Counts by outcome: for each sequence the number of its combination of results.
///
/// The counts are a flat array. Only outcomes with numbers too large for it go through a hashed map.
pub(super) struct Counts {
    /// How many bits of the index belong to each sequence.
    bits: Vec<u32>,
    flat: Vec<u64>,
    spilled: FxHashMap<Box<[u32]>, u64>,
    /// The outcomes seen for the first time since [`Counts::fresh`] was last asked.
    fresh: Vec<Box<[u32]>>,
}

impl Counts {
    pub(super) fn new(sequences: usize) -> Counts {
        Counts { bits: vec![0; sequences], flat: vec![0], spilled: FxHashMap::default(), fresh: Vec::new() }
    }

    /// Counts one execution.
    #[inline]
    pub(super) fn add(&mut self, outcome: &[u32]) {
        let Some(index) = self.index(outcome) else { return self.add_outside(outcome) };
        if self.flat[index] == 0 {
            self.fresh.push(outcome.into());
        }
        self.flat[index] += 1;
    }

    #[cold]
    fn add_outside(&mut self, outcome: &[u32]) {
        let needed = |number: u32| u32::BITS - number.leading_zeros();
        let bits: Vec<u32> = outcome.iter().zip(&self.bits).map(|(&number, &bits)| bits.max(needed(number))).collect();
        if bits.iter().sum::<u32>() <= FLAT_BITS {
            let old = self.iter().collect::<Vec<_>>();
            self.flat = vec![0; 1 << bits.iter().sum::<u32>()];
            self.bits = bits;
            self.spilled.clear();
            for (outcome, count) in old {
                match self.index(&outcome) {
                    Some(index) => self.flat[index] = count,
                    None => drop(self.spilled.insert(outcome, count)),
                }
            }
            return self.add(outcome);
        }
        let count = self.spilled.entry(outcome.into()).or_insert(0);
        if *count == 0 {
            self.fresh.push(outcome.into());
        }
        *count += 1;
    }

    /// The place of an outcome in the flat array, if it has one.
    #[inline]
    fn index(&self, outcome: &[u32]) -> Option<usize> {
        let (mut index, mut shift) = (0, 0);
        for (&number, &bits) in outcome.iter().zip(&self.bits) {
            if number >> bits != 0 {
                return None;
            }
            index |= (number as usize) << shift;
            shift += bits;
        }
        Some(index)
    }

    /// Every outcome that was seen, with its count.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Box<[u32]>, u64)> {
        let outcome = |index: usize| {
            let mut rest = index;
            let numbers = self.bits.iter().map(|&bits| {
                let number = rest & ((1 << bits) - 1);
                rest >>= bits;
                number as u32
            });
            numbers.collect::<Box<[u32]>>()
        };
        let flat = self.flat.iter().enumerate().filter(|&(_, &count)| count > 0);
        let flat = flat.map(move |(index, &count)| (outcome(index), count));
        flat.chain(self.spilled.iter().map(|(outcome, &count)| (outcome.clone(), count)))
    }

    /// The outcomes that are new since this was last asked.
    pub(super) fn fresh(&mut self) -> Vec<Box<[u32]>> {
        std::mem::take(&mut self.fresh)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(outcomes: &[&[u32]]) {
        let mut counts = Counts::new(outcomes[0].len());
        let mut expected = std::collections::BTreeMap::new();
        let mut fresh = Vec::new();
        for outcome in outcomes {
            counts.add(outcome);
            *expected.entry(outcome.to_vec()).or_insert(0) += 1;
            fresh.extend(counts.fresh().iter().map(|outcome| outcome.to_vec()));
        }
        let mut counted: Vec<(Vec<u32>, u64)> = counts.iter().map(|(outcome, n)| (outcome.to_vec(), n)).collect();
        counted.sort();
        assert_eq!(counted, expected.clone().into_iter().collect::<Vec<_>>());
        fresh.sort();
        assert_eq!(fresh, expected.into_keys().collect::<Vec<_>>());
    }

    #[test]
    fn every_outcome_is_counted_and_new_once() {
        check(&[&[0, 0], &[1, 0], &[0, 0], &[2, 5], &[0, 1], &[2, 5], &[0, 0]]);
        check(&[&[0], &[7], &[0]]);
        check(&[&[3, 0, 0], &[0, 3, 0], &[0, 0, 3], &[3, 3, 3], &[0, 3, 0]]);
    }

    #[test]
    fn outcomes_beyond_the_flat_array_are_counted_too() {
        check(&[&[0, 0], &[1 << 17, 1], &[1 << 17, 1], &[1 << 18, 1], &[1, 1 << 20], &[1 << 18, 1], &[0, 0], &[3, 3]]);
        check(&[&[1; 30], &[0; 30], &[1; 30], &[2; 30]]);
    }
}
