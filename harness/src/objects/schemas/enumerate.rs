//! Schemas by rank (*Exposing non-atomic methods*, section 4).

use std::ops::Range;

use interloper_linearize::schema::Schema;
use interloper_random::scramble;

use super::alphabet::Call;
use super::order::Order;
use super::{Bounds, Harness, Pool, sequence_of};
use crate::object::{MethodId, Object};

/// How large the schemas of an enumeration are. Smaller ranks come first: by invocations, then sequences, then values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank {
    /// How many invocations.
    pub invocations: usize,
    /// How many sequences.
    pub sequences: usize,
    /// The number n of values: the arguments use exactly the first n values.
    pub values: u8,
}

/// The ranks within bounds that schemas of a pool can have, smallest first. If no argument is about a value, as with a counter, the ranks
/// have no values. If all methods only read, the list is empty: no schema can fail, and a type can have too many calls to look at each
/// schema.
pub fn ranks(object: &Object, pool: &Pool, bounds: &Bounds) -> Vec<Rank> {
    let methods = || pool.beside(object).into_iter().chain(pool.under_test().iter().copied());
    if methods().all(|method| object.method(method).reads) {
        return Vec::new();
    }
    let has_values = methods().any(|method| Call::all(object, method, 1).iter().any(|call| call.atoms() > 0));
    let values = if has_values { bounds.values.clone() } else { 0..=0 };
    let mut ranks = Vec::new();
    for invocations in bounds.invocations.clone() {
        for sequences in bounds.sequences.clone().filter(|&sequences| sequences <= invocations) {
            ranks.extend(values.clone().map(|values| Rank { invocations, sequences, values }));
        }
    }
    ranks
}

/// The schemas of a rank that call the methods under test as their pool says, and otherwise core methods, each up to symmetry: two schemas
/// are the same if swapping sequences or, for data-independent objects, renaming values turns one into the other. Schemas in which nothing
/// can go wrong are left out.
///
/// The method of [`Pool::One`] is called once, that of [`Pool::Repeated`] twice or more, and those of [`Pool::Pair`] once each, in
/// different sequences. Other pools have no enumeration.
///
/// A *candidate* is a schema before symmetry: a number tells everything about it. So an enumeration needs no memory, and
/// can go through the candidates in any order.
///
/// # Deviation
/// `methods(h) = Core ∪ {m}` in the paper is read as ⊆, as in its own example (Figure 8).
#[derive(Clone, Debug)]
pub struct Enumeration {
    object: Object,
    pool: Pool,
    values: u8,
    /// The calls of the methods under test, then those of core methods.
    calls: Vec<Call>,
    core: Range<usize>,
    /// The call that each renaming turns each call into.
    renamed: Vec<Vec<usize>>,
    blocks: Vec<Block>,
    candidates: u64,
    next: u64,
    shuffle: Option<Shuffle>,
}

/// Candidates that differ in their calls only.
#[derive(Clone, Debug)]
struct Block {
    /// The lengths of the sequences, longest first.
    lengths: Vec<usize>,
    order: Order,
    /// The places of the calls under test in text order, each with the calls that can stand there.
    tested: Vec<(usize, Range<usize>)>,
    first: u64,
}

impl Enumeration {
    /// The schemas of a rank. Without `constraints` no sequence happens before another.
    ///
    /// # Panics
    /// When there are more candidates than a `u64` can count.
    pub fn new(object: &Object, pool: &Pool, rank: Rank, constraints: bool) -> Enumeration {
        let Rank { invocations, sequences, values } = rank;
        let (mut calls, mut tested) = (Vec::new(), Vec::new());
        for &method in pool.under_test() {
            let first = calls.len();
            calls.extend(Call::all(object, method, values));
            tested.push(first..calls.len());
        }
        let is_tested = |method: &MethodId| pool.under_test().contains(method);
        let others = pool.beside(object).into_iter().filter(|method| !is_tested(method));
        let first = calls.len();
        calls.extend(others.flat_map(|method| Call::all(object, method, values)));
        let core = first..calls.len();
        let renamings = if object.data_independent() {
            permutations(usize::from(values))
        } else {
            vec![(0..usize::from(values)).collect()]
        };
        let number_of = |call: Call| calls.iter().position(|other| *other == call);
        let renamed = renamings.iter().map(|renaming| {
            let renaming: Vec<u8> = renaming.iter().map(|&atom| atom as u8).collect();
            let renamed = calls.iter().map(|call| number_of(call.renamed(&renaming)));
            renamed.map(|number| number.expect("renaming permutes the calls of a method")).collect()
        });
        let renamed = renamed.collect();

        let mut blocks = Vec::new();
        let mut candidates = Some(0_u64);
        let orders = if constraints { Order::all(sequences) } else { vec![Order::none(sequences)] };
        for lengths in partitions(invocations, sequences, invocations) {
            let placed = placed(pool, &tested, &lengths);
            for (order, tested) in orders.iter().flat_map(|order| placed.iter().map(move |tested| (order, tested))) {
                let first = candidates.unwrap_or(0);
                blocks.push(Block { lengths: lengths.clone(), order: order.clone(), tested: tested.clone(), first });
                let words = (core.len() as u64).checked_pow((invocations - tested.len()) as u32);
                let words = tested.iter().fold(words, |words, (_, calls)| words?.checked_mul(calls.len() as u64));
                candidates = candidates.zip(words).and_then(|(candidates, words)| candidates.checked_add(words));
            }
        }
        let candidates = candidates.expect("there are too many schemas of this rank to count them");
        let (object, pool) = (object.clone(), pool.clone());
        Enumeration { object, pool, values, calls, core, renamed, blocks, candidates, next: 0, shuffle: None }
    }

    /// The same schemas in an order that the seed determines. Neighbouring schemas are similar, so in the original
    /// order many in a row would all fail or all pass (section 5).
    pub fn shuffled(mut self, seed: u64) -> Enumeration {
        self.shuffle = Some(Shuffle::new(self.candidates, seed));
        self
    }

    /// How many candidates there are.
    pub fn candidates(&self) -> u64 {
        self.candidates
    }

    /// How many candidates have been enumerated.
    pub fn seen(&self) -> u64 {
        self.next
    }

    fn schema(&self, candidate: u64) -> Option<Schema> {
        let block = &self.blocks[self.blocks.partition_point(|block| block.first <= candidate) - 1];
        let word = self.word(block, candidate - block.first);
        if self.atoms(&word) != (1 << self.values) - 1 || !self.is_least(block, &word) {
            return None;
        }
        let mut rest = word.iter().map(|&call| &self.calls[call]);
        let sequences = block.lengths.iter().map(|&length| rest.by_ref().take(length).collect()).collect();
        let tested = self.pool.under_test();
        let harness = Harness { object: &self.object, tested, sequences, order: block.order.clone() };
        harness.can_fail().then(|| harness.schema())
    }

    /// The calls of a candidate, in text order.
    fn word(&self, block: &Block, mut number: u64) -> Vec<usize> {
        let mut digit = |base: usize| {
            let digit = number % base as u64;
            number /= base as u64;
            digit as usize
        };
        let tested: Vec<(usize, usize)> =
            block.tested.iter().map(|(place, calls)| (*place, calls.start + digit(calls.len()))).collect();
        let call = |place: usize| match tested.iter().find(|(tested, _)| *tested == place) {
            Some((_, call)) => *call,
            None => self.core.start + digit(self.core.len()),
        };
        (0..block.lengths.iter().sum()).map(call).collect()
    }

    fn atoms(&self, word: &[usize]) -> u64 {
        word.iter().fold(0, |set, &call| set | self.calls[call].atoms())
    }

    /// Whether a candidate comes before all others that are the same.
    fn is_least(&self, block: &Block, word: &[usize]) -> bool {
        let mut starts = vec![0];
        for length in &block.lengths {
            starts.push(starts[starts.len() - 1] + length);
        }
        let sequences = block.lengths.len();
        let keeps_lengths =
            |places: &Vec<usize>| (0..sequences).all(|place| block.lengths[places[place]] == block.lengths[place]);
        let mut image = vec![0; word.len()];
        permutations(sequences).iter().filter(|places| keeps_lengths(places)).all(|places| {
            let order = block.order.permuted(places);
            self.renamed.iter().all(|renamed| {
                for (sequence, &place) in places.iter().enumerate() {
                    let moved = word[starts[sequence]..starts[sequence + 1]].iter().map(|&call| renamed[call]);
                    image[starts[place]..].iter_mut().zip(moved).for_each(|(image, call)| *image = call);
                }
                (word, &block.order) <= (&image[..], &order)
            })
        })
    }
}

impl Iterator for Enumeration {
    type Item = Schema;

    fn next(&mut self) -> Option<Schema> {
        while self.next < self.candidates {
            let candidate = self.shuffle.as_ref().map_or(self.next, |shuffle| shuffle.place(self.next));
            self.next += 1;
            if let Some(schema) = self.schema(candidate) {
                return Some(schema);
            }
        }
        None
    }
}

/// The ways to place the calls under test among sequences of these lengths: each with the calls that can stand there.
fn placed(pool: &Pool, tested: &[Range<usize>], lengths: &[usize]) -> Vec<Vec<(usize, Range<usize>)>> {
    let places = || 0..lengths.iter().sum::<usize>();
    match pool {
        Pool::One(_) => places().map(|place| vec![(place, tested[0].clone())]).collect(),
        Pool::Repeated(_) => {
            let calls =
                |set: u64| places().filter(move |place| set & 1 << place != 0).map(|place| (place, tested[0].clone()));
            let sets = (0..1 << places().len()).filter(|set: &u64| set.count_ones() >= 2);
            sets.map(|set| calls(set).collect()).collect()
        }
        Pool::Pair(_) => {
            let two = places().flat_map(|one| places().map(move |other| (one, other)));
            let apart = two.filter(|&(one, other)| sequence_of(one, lengths) != sequence_of(other, lengths));
            apart.map(|(one, other)| vec![(one, tested[0].clone()), (other, tested[1].clone())]).collect()
        }
        Pool::Together(_) | Pool::Only(_) => Vec::new(),
    }
}

/// The ways to write `sum` as a sum of `parts` numbers from 1 to `most`, each with the largest first.
fn partitions(sum: usize, parts: usize, most: usize) -> Vec<Vec<usize>> {
    if parts == 0 {
        return if sum == 0 { vec![vec![]] } else { vec![] };
    }
    let with_first = |first: usize| {
        let rest = partitions(sum - first, parts - 1, first);
        rest.into_iter().map(move |rest| [&[first][..], &rest].concat())
    };
    (1..=most.min(sum)).rev().flat_map(with_first).collect()
}

/// All permutations, in lexicographic order.
pub(super) fn permutations(length: usize) -> Vec<Vec<usize>> {
    let mut all = vec![vec![]];
    for _ in 0..length {
        let longer = |start: &Vec<usize>| {
            let start = start.clone();
            let left = (0..length).filter({
                let start = start.clone();
                move |next| !start.contains(next)
            });
            left.map(move |next| [&start[..], &[next]].concat()).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

/// A permutation of the numbers below a bound, without a table: a Feistel network on the least even number of bits that
/// is enough, applied until the result is below the bound.
#[derive(Clone, Debug)]
struct Shuffle {
    bound: u64,
    half: u32,
    keys: [u64; 4],
}

impl Shuffle {
    fn new(bound: u64, seed: u64) -> Shuffle {
        let bits = u64::BITS - bound.saturating_sub(1).leading_zeros();
        let keys = [1, 2, 3, 4].map(|round| scramble(seed.wrapping_add(round)));
        Shuffle { bound, half: bits.div_ceil(2).max(1), keys }
    }

    /// Where a number below the bound goes.
    fn place(&self, number: u64) -> u64 {
        let mask = (1_u64 << self.half) - 1;
        let mut at = number;
        loop {
            let (mut left, mut right) = (at >> self.half, at & mask);
            for key in self.keys {
                (left, right) = (right, left ^ scramble(right ^ key) & mask);
            }
            at = left << self.half | right;
            if at < self.bound {
                return at;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shuffle_is_a_permutation() {
        for bound in [1, 2, 3, 17, 64, 1000] {
            let shuffle = Shuffle::new(bound, 5);
            let mut places: Vec<u64> = (0..bound).map(|number| shuffle.place(number)).collect();
            assert!(bound < 17 || !places.is_sorted());
            places.sort_unstable();
            assert_eq!(places, (0..bound).collect::<Vec<u64>>());
        }
    }

    #[test]
    fn partitions_and_permutations() {
        assert_eq!(partitions(5, 2, 5), [[4, 1], [3, 2]]);
        assert_eq!(partitions(6, 3, 6), [[4, 1, 1], [3, 2, 1], [2, 2, 2]]);
        assert_eq!(partitions(2, 3, 2), Vec::<Vec<usize>>::new());
        assert_eq!(permutations(3), [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]);
    }
}
