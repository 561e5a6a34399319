//! The abstract schedules that are worth changing further, and how they are changed.

use std::collections::BTreeMap;

use super::behaviour::hash_of;
use super::events::{EventId, Map, Set};
use super::obligations::{Constraint, Pair};
use crate::decisions::{RandomSource, mix};
use crate::strategy::Novelty;

/// What the executions so far have shown.
#[derive(Clone, Debug, Default)]
pub(super) struct Corpus {
    pub(super) entries: Vec<Entry>,
    /// How often each set of pairs came.
    pub(super) sets: BTreeMap<u64, u64>,
    /// The pairs of a write and a read on one object.
    pub(super) pairs: Map<Pair, Counts>,
    /// The pairs that no execution has shown, in the order in which they became known.
    pub(super) unseen: Vec<Pair>,
    /// The pairs that no execution had shown or required when last looked at.
    pub(super) untried: Vec<Pair>,
    /// How often a pair was required alone for the first time, and showed.
    pub(super) alone: Alone,
    /// The pairs that some execution has shown, in the order of their first execution.
    pub(super) seen: Vec<Pair>,
    /// The sets of writes and reads of one object whose pairs are known.
    pub(super) known: Set<u64>,
}

#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) constraints: Vec<Constraint>,
    /// The set of pairs that its execution showed.
    pub(super) set: u64,
    /// How often it was changed.
    pub(super) chosen: u64,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    /// The executions that showed the pair.
    pub(super) seen: u64,
    /// The executions that required it.
    pub(super) required: u64,
}

/// Executions that each required one pair, which none had shown or required before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Alone {
    pub(super) required: u64,
    /// Those that showed it; never more.
    pub(super) shown: u64,
}

impl Alone {
    /// How many of 256 executions are to be such: as many as have shown their pair so far. Where most pairs cannot come, they are
    /// tried seldom, and where they can, at once.
    fn share(self) -> u32 {
        let share = 256 * (u128::from(self.shown) + 1) / (u128::from(self.required) + 1);
        (share as u32).clamp(16, 230)
    }
}

/// The most constraints of an abstract schedule: a bug that needs more is found by chance as well.
pub(super) const MOST_CONSTRAINTS: usize = 6;
pub(super) const MOST_ENTRIES: usize = 1 << 12;
/// How many are drawn at random, of which the rarest is taken.
const DRAWN: u32 = 3;

impl Corpus {
    /// The constraints of the next execution.
    pub(super) fn next(&mut self, source: &mut RandomSource) -> Vec<Constraint> {
        // Some executions have no constraint, so that nothing is out of reach.
        if self.entries.is_empty() || source.below(8) == 0 {
            return Vec::new();
        }
        if source.below(256) < self.alone.share()
            && let Some(pair) = self.untried(source)
        {
            return vec![Constraint { pair, required: true }];
        }
        let rarity = |corpus: &Corpus, index: usize| {
            let entry = &corpus.entries[index];
            corpus.sets[&entry.set] + entry.chosen
        };
        let entries = self.entries.len() as u32;
        let drawn = (0..DRAWN).map(|_| source.below(entries) as usize);
        let index = drawn.min_by_key(|&index| rarity(self, index)).expect("some are drawn");
        self.entries[index].chosen += 1;
        let mut constraints = self.entries[index].constraints.clone();
        for _ in 0..1 + u32::from(source.below(4) == 0) {
            self.mutate(&mut constraints, source);
        }
        while constraints.len() > MOST_CONSTRAINTS {
            constraints.remove(source.below(constraints.len() as u32) as usize);
        }
        constraints
    }

    /// A pair that no execution has shown, and none was to show.
    fn untried(&mut self, source: &mut RandomSource) -> Option<Pair> {
        while !self.untried.is_empty() {
            let pair = self.untried.swap_remove(source.below(self.untried.len() as u32) as usize);
            let Counts { seen, required } = self.pairs[&pair];
            if seen == 0 && required == 0 {
                return Some(pair);
            }
        }
        None
    }

    /// Inserts, deletes, swaps or negates a constraint, or leaves all as they are, for another random schedule.
    fn mutate(&self, constraints: &mut Vec<Constraint>, source: &mut RandomSource) {
        let at = |source: &mut RandomSource| source.below(constraints.len() as u32) as usize;
        match source.below(8) {
            _ if constraints.is_empty() => self.insert(constraints, source),
            0..=3 => self.insert(constraints, source),
            4 => drop(constraints.remove(at(source))),
            5 => {
                constraints.remove(at(source));
                self.insert(constraints, source);
            }
            6 => {
                let at = at(source);
                let Constraint { pair, required } = &mut constraints[at];
                // To forbid what no execution shows changes nothing.
                if self.pairs[pair].seen == 0 {
                    return self.insert(constraints, source);
                }
                *required = !*required;
            }
            _ => {}
        }
    }

    fn insert(&self, constraints: &mut Vec<Constraint>, source: &mut RandomSource) {
        let fresh = !self.unseen.is_empty() && source.below(2) == 0;
        let pairs = if fresh { &self.unseen } else { &self.seen };
        if pairs.is_empty() {
            return;
        }
        let drawn = (0..DRAWN).map(|_| pairs[source.below(pairs.len() as u32) as usize]);
        let drawn: Vec<Pair> = drawn.collect();
        let rarity = |pair: &Pair| {
            let counts = self.pairs[pair];
            counts.seen + counts.required
        };
        let pair = drawn.into_iter().min_by_key(rarity).expect("some are drawn");
        if constraints.iter().all(|constraint| constraint.pair != pair) {
            let required = fresh || source.below(3) > 0;
            constraints.push(Constraint { pair, required });
        }
    }

    /// The other writes whose values the read of a pair may see.
    pub(super) fn rivals(&self, pair: Pair) -> Set<EventId> {
        let of_read = |other: &Pair| other.read == pair.read && other.write != pair.write;
        self.pairs.keys().filter(|other| of_read(other)).filter_map(|other| other.write).collect()
    }

    /// An object was written and read by these steps.
    pub(super) fn note_object(&mut self, writes: &[EventId], reads: &[EventId]) {
        let sum =
            |steps: &[EventId], salt| steps.iter().fold(0u64, |sum, step| sum.wrapping_add(mix(salt, step.0.into())));
        if !self.known.insert(mix(sum(writes, 1), sum(reads, 2))) {
            return;
        }
        for &read in reads {
            for write in std::iter::once(None).chain(writes.iter().copied().map(Some)) {
                let pair = Pair { write, read };
                self.pairs.entry(pair).or_insert_with(|| {
                    self.unseen.push(pair);
                    self.untried.push(pair);
                    Counts::default()
                });
            }
        }
    }

    /// An execution with these constraints showed these pairs. Call [`Corpus::note_object`] before. Says what is new about it.
    pub(super) fn note(&mut self, constraints: Vec<Constraint>, pairs: &Set<Pair>) -> Novelty {
        if let [Constraint { pair, required: true }] = constraints[..]
            && self.pairs.get(&pair).is_some_and(|counts| counts.seen + counts.required == 0)
        {
            self.alone.required += 1;
            self.alone.shown += u64::from(pairs.contains(&pair));
        }
        for constraint in constraints.iter().filter(|constraint| constraint.required) {
            self.pairs.entry(constraint.pair).or_default().required += 1;
        }
        let mut fresh: Vec<Pair> = Vec::new();
        for pair in pairs {
            let counts = self.pairs.entry(*pair).or_default();
            counts.seen += 1;
            if counts.seen == 1 {
                fresh.push(*pair);
            }
        }
        let is_new = !fresh.is_empty();
        if is_new {
            self.unseen.retain(|pair| !pairs.contains(pair));
            fresh.sort_unstable();
            self.seen.append(&mut fresh);
        }
        let set = hash_of(pairs);
        let times = self.sets.entry(set).or_default();
        *times += 1;
        let times = *times;
        if times == 1 && self.entries.len() < MOST_ENTRIES {
            self.entries.push(Entry { constraints, set, chosen: 0 });
        }
        match (is_new, times) {
            (true, _) => Novelty::Pair,
            (false, 1) => Novelty::Set,
            (false, _) => Novelty::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(write: u32, read: u32) -> Pair {
        Pair { write: write.checked_sub(1).map(EventId), read: EventId(read) }
    }

    fn set(pairs: &[Pair]) -> Set<Pair> {
        pairs.iter().copied().collect()
    }

    /// Two writes and two reads, and the first value: six pairs.
    #[test]
    fn the_pairs_that_may_exist_are_known_before_they_are_seen() {
        let mut corpus = Corpus::default();
        let [a, b, c, d] = [0, 1, 2, 3].map(EventId);
        corpus.note_object(&[a, b], &[c, d]);
        corpus.note_object(&[b, a], &[d, c]);
        assert_eq!((corpus.pairs.len(), corpus.unseen.len(), corpus.seen.len()), (6, 6, 0));
        corpus.note(Vec::new(), &set(&[pair(0, 2), pair(1, 3)]));
        assert_eq!((corpus.pairs.len(), corpus.unseen.len(), corpus.seen.len()), (6, 4, 2));
        let rivals: Vec<EventId> = corpus.rivals(pair(0, 2)).into_iter().collect();
        assert!(rivals.len() == 2 && rivals.contains(&a) && rivals.contains(&b));
    }

    /// Two writes and one read: three pairs, one of which is shown at once, and another one once it is required.
    #[test]
    fn each_unseen_pair_is_required_once_alone() {
        let mut corpus = Corpus::default();
        let mut source = RandomSource::new(1, 0);
        let note = |corpus: &mut Corpus, constraints: Vec<Constraint>| {
            let shown = [(1, 9), (2, 9)].map(|(write, read)| pair(write, read));
            let shows = |shown: &Pair| {
                shown.write == Some(EventId(0)) || constraints.iter().any(|constraint| constraint.pair == *shown)
            };
            let shown = shown.into_iter().filter(shows).collect();
            corpus.note(constraints, &shown);
        };
        corpus.note_object(&[EventId(0), EventId(1)], &[EventId(9)]);
        note(&mut corpus, Vec::new());
        let mut alone: Vec<Pair> = std::iter::from_fn(|| {
            let pair = corpus.untried(&mut source)?;
            note(&mut corpus, vec![Constraint { pair, required: true }]);
            Some(pair)
        })
        .collect();
        alone.sort_unstable();
        assert_eq!(alone, [pair(0, 9), pair(2, 9)]);
        assert_eq!(corpus.alone, Alone { required: 2, shown: 1 });
        assert_eq!(corpus.unseen, [pair(0, 9)]);
    }

    #[test]
    fn unseen_pairs_are_tried_as_often_as_they_show() {
        let share = |required, shown| Alone { required, shown }.share();
        assert_eq!([share(0, 0), share(1, 1), share(9, 9)], [230; 3], "at first, and as long as all show");
        assert_eq!([share(1, 0), share(3, 1), share(7, 1)], [128, 128, 64]);
        assert_eq!([share(100, 0), share(u64::MAX, 0)], [16; 2]);
        assert_eq!(share(u64::MAX, u64::MAX), 230);
    }

    #[test]
    fn an_entry_is_kept_where_its_set_is_new() {
        let mut corpus = Corpus::default();
        let sets = [set(&[pair(0, 2)]), set(&[pair(1, 2)]), set(&[pair(0, 2)]), set(&[pair(0, 2), pair(1, 2)])];
        let news: Vec<Novelty> = sets.iter().map(|set| corpus.note(Vec::new(), set)).collect();
        assert_eq!(news, [Novelty::Pair, Novelty::Pair, Novelty::Nothing, Novelty::Set]);
        assert_eq!((corpus.entries.len(), corpus.sets.len()), (3, 3));
        assert_eq!(corpus.sets.values().sum::<u64>(), 4);
    }

    /// Each kind of change comes, and no schedule has more constraints than it may or one pair twice.
    #[test]
    fn schedules_grow_and_shrink() {
        let mut corpus = Corpus::default();
        let steps: Vec<EventId> = (0..8).map(EventId).collect();
        corpus.note_object(&steps[..4], &steps[4..]);
        let mut source = RandomSource::new(3, 0);
        let mut lengths = [0; MOST_CONSTRAINTS + 1];
        let (mut required, mut forbidden) = (0, 0);
        for number in 0..2_000 {
            let constraints = corpus.next(&mut source);
            let different: Set<Pair> = constraints.iter().map(|constraint| constraint.pair).collect();
            assert_eq!(different.len(), constraints.len());
            lengths[constraints.len()] += 1;
            required += constraints.iter().filter(|constraint| constraint.required).count();
            let to_avoid = || constraints.iter().filter(|constraint| !constraint.required);
            assert!(to_avoid().all(|constraint| corpus.pairs[&constraint.pair].seen > 0), "what nothing shows");
            forbidden += to_avoid().count();
            // Each execution shows another pair beside one that they all show.
            corpus.note(constraints, &set(&[pair(0, 4), pair(number % 5, 5), pair(number % 3, 6)]));
        }
        assert!(lengths[..5].iter().all(|times| *times > 0), "{lengths:?}");
        assert!(required > forbidden && forbidden > 0);
    }
}
