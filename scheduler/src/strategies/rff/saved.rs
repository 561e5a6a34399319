//! What was learnt, as numbers, so that another process continues the search: see [`Strategy::saved`](crate::Strategy::saved).
//!
//! Where an index or a sum could go wrong, what is read is compared with the rest first.

use super::behaviour::Behaviours;
use super::corpus::{Alone, Corpus, Counts, Entry, MOST_CONSTRAINTS, MOST_ENTRIES};
use super::events::{EventId, Events, Set};
use super::obligations::{Constraint, Pair};
use crate::saved::{Data, Reader, Times, around, fields};
use crate::spot::Spot;

around!(EventId);
fields!(Pair { write, read });
fields!(Constraint { pair, required });

/// The places and the names, each in the order of their numbers.
impl Data for Events {
    fn put(&self, out: &mut Vec<u64>) {
        in_order(self.places()).put(out);
        in_order(self.names()).put(out);
    }

    fn take(from: &mut Reader<'_>) -> Option<Events> {
        let places: Vec<Spot> = from.take()?;
        Events::of(&places, &from.take::<Vec<_>>()?)
    }
}

/// What has the numbers 0, 1, 2, …
fn in_order<'n, K: Copy + 'n>(numbers: impl IntoIterator<Item = (&'n K, &'n u32)>) -> Vec<K> {
    let mut all: Vec<(u32, K)> = numbers.into_iter().map(|(key, number)| (*number, *key)).collect();
    all.sort_by_key(|(number, _)| *number);
    all.into_iter().map(|(_, key)| key).collect()
}

impl Data for Behaviours {
    fn put(&self, out: &mut Vec<u64>) {
        let Behaviours { events, observed: _, pairs, sets } = self;
        events.put(out);
        sorted(pairs).put(out);
        sorted(sets).put(out);
    }

    fn take(from: &mut Reader<'_>) -> Option<Behaviours> {
        let (events, pairs, sets) = from.take::<(_, Vec<Pair>, Vec<u64>)>()?;
        let (pairs, sets) = (pairs.into_iter().collect(), sets.into_iter().collect());
        Some(Behaviours { events, pairs, sets, ..Behaviours::default() })
    }
}

impl Data for Corpus {
    fn put(&self, out: &mut Vec<u64>) {
        let Corpus { entries, sets, pairs, unseen, untried, alone, seen, known } = self;
        entries.put(out);
        sets.iter().map(|(set, times)| (*set, Times(*times))).collect::<Vec<_>>().put(out);
        let mut pairs: Vec<(Pair, Counts)> = pairs.iter().map(|(pair, counts)| (*pair, *counts)).collect();
        pairs.sort_unstable_by_key(|(pair, _)| *pair);
        pairs.put(out);
        unseen.put(out);
        untried.put(out);
        (Times(alone.required), Times(alone.shown)).put(out);
        seen.put(out);
        sorted(known).put(out);
    }

    fn take(from: &mut Reader<'_>) -> Option<Corpus> {
        let entries = from.take()?;
        let sets = from.take::<Vec<(u64, Times)>>()?.into_iter().map(|(set, Times(times))| (set, times)).collect();
        let (pairs, unseen, untried) = from.take::<(Vec<(Pair, Counts)>, _, _)>()?;
        let (Times(required), Times(shown)) = from.take()?;
        let alone = Alone { required, shown };
        let (seen, known) = from.take::<(_, Vec<u64>)>()?;
        let (pairs, known) = (pairs.into_iter().collect(), known.into_iter().collect());
        Some(Corpus { entries, sets, pairs, unseen, untried, alone, seen, known }).filter(is_sound)
    }
}

/// Whether all that is asked for is there.
fn is_sound(corpus: &Corpus) -> bool {
    let Corpus { entries, sets, pairs, unseen, untried, alone, seen, known: _ } = corpus;
    let is_known = |pair: &Pair| pairs.contains_key(pair);
    let fits = |Entry { constraints, set, .. }: &Entry| {
        constraints.len() <= MOST_CONSTRAINTS
            && constraints.iter().all(|constraint| is_known(&constraint.pair))
            && sets.contains_key(set)
    };
    entries.len() <= MOST_ENTRIES
        && entries.iter().all(fits)
        && unseen.iter().chain(untried).chain(seen).all(is_known)
        && alone.shown <= alone.required
}

impl Data for Entry {
    fn put(&self, out: &mut Vec<u64>) {
        let Entry { constraints, set, chosen } = self;
        constraints.put(out);
        (*set, Times(*chosen)).put(out);
    }

    fn take(from: &mut Reader<'_>) -> Option<Entry> {
        let (constraints, set, Times(chosen)) = from.take()?;
        Some(Entry { constraints, set, chosen })
    }
}

impl Data for Counts {
    fn put(&self, out: &mut Vec<u64>) {
        (Times(self.seen), Times(self.required)).put(out);
    }

    fn take(from: &mut Reader<'_>) -> Option<Counts> {
        let (Times(seen), Times(required)) = from.take()?;
        Some(Counts { seen, required })
    }
}

/// The same set has the same numbers, whatever the order is in which it grew.
fn sorted<T: Copy + Ord>(set: &Set<T>) -> Vec<T> {
    let mut all: Vec<T> = set.iter().copied().collect();
    all.sort_unstable();
    all
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::saved::{whole, words};

    const PAIR: Pair = Pair { write: None, read: EventId(0) };

    /// Reads a corpus that is sound but for what is changed.
    fn reads(change: impl Fn(&mut Corpus)) -> bool {
        let constraint = Constraint { pair: PAIR, required: true };
        let mut corpus = Corpus {
            entries: vec![Entry { constraints: vec![constraint], set: 5, chosen: 1 }],
            sets: [(5, 1)].into(),
            pairs: [(PAIR, Counts::default())].into_iter().collect(),
            ..Corpus::default()
        };
        change(&mut corpus);
        whole::<Corpus>(&words(&corpus).expect("numbers")).is_some()
    }

    #[test]
    fn a_corpus_that_names_what_it_does_not_have_is_refused() {
        assert!(reads(|_| ()));
        assert!(!reads(|corpus| corpus.pairs.clear()));
        assert!(!reads(|corpus| corpus.sets = BTreeMap::new()));
        assert!(!reads(|corpus| corpus.entries[0].chosen = u64::MAX));
        assert!(!reads(|corpus| corpus.seen = vec![Pair { read: EventId(1), ..PAIR }]));
        assert!(!reads(|corpus| corpus.untried = vec![Pair { read: EventId(1), ..PAIR }]));
        assert!(!reads(|corpus| corpus.alone = Alone { required: 1, shown: 2 }));
        assert!(reads(|corpus| corpus.alone = Alone { required: 2, shown: 2 }));
        assert!(reads(|corpus| (corpus.seen, corpus.untried) = (vec![PAIR], vec![PAIR])));
        assert!(!reads(|corpus| corpus.entries[0].constraints = vec![Constraint { pair: PAIR, required: false }; 7]));
        assert!(reads(|corpus| corpus.entries[0].constraints = vec![Constraint { pair: PAIR, required: false }; 6]));
    }

    /// A place is 1 number, a name is 3: its group, its place, and how its task knows the object.
    #[test]
    fn names_of_places_that_are_missing_are_refused() {
        let reads = |words: &[u64]| whole::<Events>(words).is_some();
        assert!(reads(&[0, 0]));
        assert!(reads(&[1, 77, 1, 0, 0, 1]));
        assert!(!reads(&[1, 77, 1, 0, 1, 1]), "a place that is missing");
        assert!(!reads(&[2, 77, 77, 0]), "a place twice");
        assert!(reads(&[1, 77, 2, 0, 0, 1, 0, 0, 2]));
        assert!(!reads(&[1, 77, 2, 0, 0, 1, 0, 0, 1]), "a name twice");
    }
}
