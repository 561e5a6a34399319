//! Happens-before between the sequences of a schema.

use rand::RngExt;

/// A strict partial order on a few sequences.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Order {
    /// For each sequence the sequences that happen before it, as a set of bits. Transitive.
    before: Vec<u32>,
}

impl Order {
    /// No sequence happens before another.
    pub(super) fn none(sequences: usize) -> Order {
        Order { before: vec![0; sequences] }
    }

    pub(super) fn is_before(&self, first: usize, second: usize) -> bool {
        self.before[second] & 1 << first != 0
    }

    /// Every strict partial order on this many sequences.
    pub(super) fn all(sequences: usize) -> Vec<Order> {
        // Sequences are inserted one by one into the orders so far. The set before a new sequence must contain
        // everything before its members, the set after it everything after its members, and each sequence of the first
        // set comes before each of the second.
        let mut orders = vec![Order { before: vec![] }];
        for new in 0..sequences {
            orders = orders.iter().flat_map(|order| order.extensions(new)).collect();
        }
        orders
    }

    fn extensions(&self, new: usize) -> Vec<Order> {
        let sets = 0..1_u32 << new;
        let closed_down = |set: u32| (0..new).all(|member| set & 1 << member == 0 || self.before[member] & !set == 0);
        let mut extensions = Vec::new();
        for below in sets.clone().filter(|&set| closed_down(set)) {
            for above in sets.clone().filter(|&set| set & below == 0) {
                let is_above = |member: usize| above & 1 << member != 0;
                let closed_up = (0..new).all(|member| is_above(member) || self.before[member] & above == 0);
                let between = (0..new).all(|member| !is_above(member) || below & !self.before[member] == 0);
                if closed_up && between {
                    let mut before = self.before.clone();
                    for (member, before) in before.iter_mut().enumerate() {
                        *before |= u32::from(is_above(member)) << new;
                    }
                    before.push(below);
                    extensions.push(Order { before });
                }
            }
        }
        extensions
    }

    /// An order at random: each pair of sequences, in an order drawn at random, is constrained with a chance of 1 in 4.
    pub(super) fn random(sequences: usize, random: &mut impl RngExt) -> Order {
        let mut line: Vec<usize> = (0..sequences).collect();
        for last in (1..sequences).rev() {
            line.swap(last, random.random_range(0..=last));
        }
        let mut order = Order::none(sequences);
        for (place, &second) in line.iter().enumerate() {
            for &first in &line[..place] {
                if random.random_range(0..4) == 0 {
                    order.before[second] |= 1 << first | order.before[first];
                }
            }
        }
        order
    }

    /// The same order on sequences that have changed places: sequence `i` has become sequence `places[i]`.
    pub(super) fn permuted(&self, places: &[usize]) -> Order {
        let mut before = vec![0; places.len()];
        for (second, set) in self.before.iter().enumerate() {
            let moved = (0..places.len()).filter(|&first| set & 1 << first != 0);
            before[places[second]] = moved.fold(0, |moved, first| moved | 1 << places[first]);
        }
        Order { before }
    }

    /// The fewest pairs (first, second) that the others follow from.
    pub(super) fn constraints(&self) -> Vec<(usize, usize)> {
        let sequences = self.before.len();
        let pairs = (0..sequences).flat_map(|first| (0..sequences).map(move |second| (first, second)));
        let between = |first: usize, second: usize| {
            (0..sequences).any(|middle| self.is_before(first, middle) && self.is_before(middle, second))
        };
        pairs.filter(|&(first, second)| self.is_before(first, second) && !between(first, second)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All transitive, irreflexive relations, found among all relations.
    fn by_brute_force(sequences: usize) -> Vec<Order> {
        let pairs = sequences * sequences;
        let relation = |bits: u64| Order {
            before: (0..sequences).map(|row| (bits >> (row * sequences)) as u32 & ((1 << sequences) - 1)).collect(),
        };
        let is_order = |order: &Order| {
            let all = || 0..sequences;
            all().all(|one| !order.is_before(one, one))
                && all().all(|one| {
                    all().all(|two| {
                        all().all(|three| {
                            !(order.is_before(one, two) && order.is_before(two, three)) || order.is_before(one, three)
                        })
                    })
                })
        };
        (0..1 << pairs).map(relation).filter(is_order).collect()
    }

    #[test]
    fn all_orders_are_found_once() {
        // The number of partial orders on n labelled points: OEIS A001035.
        for (sequences, expected) in [(0, 1), (1, 1), (2, 3), (3, 19), (4, 219)] {
            let mut orders = Order::all(sequences);
            assert_eq!(orders.len(), expected);
            orders.sort();
            let mut all = by_brute_force(sequences);
            all.sort();
            assert_eq!(orders, all, "{sequences} sequences");
        }
    }

    #[test]
    fn constraints_are_the_fewest() {
        let chain = Order { before: vec![0, 0b001, 0b011] };
        assert_eq!(chain.constraints(), [(0, 1), (1, 2)]);
        assert_eq!(chain.permuted(&[2, 0, 1]).constraints(), [(0, 1), (2, 0)]);
        assert_eq!(Order::none(3).constraints(), []);
    }

    #[test]
    fn random_orders_are_orders() {
        let mut random = interloper_random::Stream::new(3, interloper_random::Purpose::Schemas, 0);
        let all = Order::all(3);
        let mut seen: Vec<Order> = (0..2_000).map(|_| Order::random(3, &mut random)).collect();
        seen.sort();
        seen.dedup();
        // The rarest are the six chains: (1/6) (1/4)^2 at least, one in 96. 2,000 draws miss one with odds of 10^-9.
        assert_eq!(seen.len(), all.len());
        assert!(seen.iter().all(|order| all.contains(order)));
    }
}
