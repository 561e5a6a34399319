//! A search by deviations as numbers, so that another process continues it: see [`Strategy::saved`](crate::Strategy::saved).
//!
//! Where an index could go wrong, what is read is compared with the rest first.

use super::{Candidate, Choice, Deviations, Parents, Phase};
use crate::decisions::Question;
use crate::saved::{Data, Reader, fields, whole, words};

/// A search with more places for deviations is not saved: it takes longer to write than to run.
const MOST_SAVED: usize = 1 << 21;

/// Nor is a search with longer runs.
const LONGEST: usize = 1 << 20;

/// All that lasts from one run to the next.
type Saved = (((u32, u32), Phase, Option<u64>), Path, (Parents, usize, usize, Parents), (Vec<u64>, bool));

/// The decisions of the last run, where the next one differs from them, and the position after the last deviation.
type Path = (Vec<Choice>, usize, usize);

impl Deviations {
    /// All that the search keeps from one run to the next. `None` for a part of a search, for one that is too large, and for one
    /// that has ended because the program is nondeterministic.
    pub fn to_words(&self) -> Option<Vec<u64>> {
        let Deviations { bound, level, phase, expected, path, planned, base, parents, .. } = self;
        let Deviations { parent, candidate, next, runs, truncated, .. } = self;
        let size = parents.candidates.len() + next.candidates.len() + parents.answers.len() + next.answers.len();
        let is_small = size <= MOST_SAVED && path.len() <= LONGEST;
        if !self.shard.is_whole() || self.divergence.is_some() || !is_small {
            return None;
        }
        let saved: Saved = (
            ((*bound, *level), *phase, *expected),
            (path.clone(), *planned, *base),
            (parents.clone(), *parent, *candidate, next.clone()),
            (runs.clone(), *truncated),
        );
        words(&saved)
    }

    /// Continues the search that these numbers describe. `None` if they do not describe one with this bound.
    pub fn go_on_from(&mut self, saved: &[u64]) -> Option<()> {
        let (begun, (path, planned, base), (parents, parent, candidate, next), (runs, truncated)) =
            whole::<Saved>(saved)?;
        let ((bound, level), phase, expected) = begun;
        let fits = self.shard.is_whole()
            && bound == self.bound
            && level <= bound
            && base <= path.len()
            && planned <= path.len()
            && path.len() <= LONGEST
            && (parent <= parents.len() || phase == Phase::Done)
            && candidate <= MOST_SAVED
            && (runs.len() == level as usize + 1 || phase == Phase::New && runs.is_empty() && level == 0)
            && runs.iter().all(|runs| *runs <= u64::from(u32::MAX) << 16);
        let cursor = path.len();
        *self = Deviations { level, phase, path, planned, cursor, base, expected, ..Deviations::new(bound) };
        *self = Deviations { parents, parent, candidate, next, runs, truncated, ..self.clone() };
        fits.then_some(())
    }
}

fields!(Candidate { position, options, digest });

impl Data for Phase {
    fn put(&self, out: &mut Vec<u64>) {
        let number: u32 = match self {
            Phase::New => 0,
            Phase::Running => 1,
            Phase::Between => 2,
            Phase::Done => 3,
        };
        number.put(out);
    }

    /// A search is saved between two runs.
    fn take(from: &mut Reader<'_>) -> Option<Phase> {
        match from.take::<u32>()? {
            0 => Some(Phase::New),
            2 => Some(Phase::Between),
            3 => Some(Phase::Done),
            _ => None,
        }
    }
}

impl Data for Choice {
    fn put(&self, out: &mut Vec<u64>) {
        let Choice { question, options, answer, needless } = self;
        (*question as u32, *options, *answer, *needless).put(out);
    }

    fn take(from: &mut Reader<'_>) -> Option<Choice> {
        let (question, options, answer, needless): (usize, _, _, _) = from.take()?;
        let question = *Question::ALL.get(question)?;
        // A run that was not made yet does not know how many answers its planned questions have.
        (answer < options || options == 0).then_some(Choice { question, options, answer, needless })
    }
}

impl Data for Parents {
    fn put(&self, out: &mut Vec<u64>) {
        let Parents { ends, answers, candidates } = self;
        ends.put(out);
        answers.put(out);
        candidates.put(out);
    }

    fn take(from: &mut Reader<'_>) -> Option<Parents> {
        let (ends, answers, candidates) = from.take()?;
        Some(Parents { ends, answers, candidates }).filter(is_sound)
    }
}

/// Whether the answers and candidates of the parents are all that there are, and each run deviates after its answers.
fn is_sound(Parents { ends, answers, candidates }: &Parents) -> bool {
    let mut begin = (0, 0);
    for &end in ends {
        let (Some(answers), Some(candidates)) = (answers.get(begin.0..end.0), candidates.get(begin.1..end.1)) else {
            return false;
        };
        let first = candidates.iter().map(|candidate| candidate.position).min();
        let is_sound = |candidate: &Candidate| (candidate.position as usize) < LONGEST && candidate.options > 1;
        let comes_before = |&(at, _): &(u32, u32)| Some(at) < first;
        if !candidates.iter().all(is_sound) || !answers.iter().all(comes_before) {
            return false;
        }
        begin = end;
    }
    begin == (answers.len(), candidates.len())
}

#[cfg(test)]
mod tests {
    use super::super::super::Source;
    use super::*;

    /// A program that asks the same again and again.
    fn run(search: &mut Deviations) -> Option<String> {
        search.next_run().then(|| {
            if search.decide(Question::Task, 2) == 1 {
                search.decide(Question::Environment, 3);
            }
            search.decide(Question::Environment, 2);
            search.decide(Question::Other, 2);
            search.end_run();
            search.decisions().to_string()
        })
    }

    fn whole_search(bound: u32) -> Vec<String> {
        let mut search = Deviations::new(bound);
        std::iter::from_fn(|| run(&mut search)).collect()
    }

    #[test]
    fn a_search_goes_on_after_each_of_its_runs() {
        // Both free questions have two answers: 2 · 2 lists without a deviation.
        assert_eq!(whole_search(0).len(), 4);
        for bound in 0..4 {
            let mut search = Deviations::new(bound);
            let mut runs = Vec::new();
            loop {
                let words = search.to_words().expect("a whole search");
                search = Deviations::new(bound);
                assert!(search.go_on_from(&words).is_some(), "{words:?}");
                assert_eq!(search.to_words().as_ref(), Some(&words), "what was read is written again");
                match run(&mut search) {
                    Some(list) => runs.push(list),
                    None => break,
                }
            }
            assert_eq!(runs, whole_search(bound));
            assert!(search.coverage().complete);
            // At its end, too.
            let words = search.to_words().expect("a whole search");
            let mut search = Deviations::new(bound);
            assert!(search.go_on_from(&words).is_some() && run(&mut search).is_none() && search.is_complete());
        }
        // 2 · 2 lists with answer 0, and 3 · 2 · 2 with answer 1.
        assert_eq!(whole_search(3).len(), 16);
    }

    /// A run that was put back, before its first question or after some, is the next one, here or in another process.
    #[test]
    fn a_run_that_is_put_back_comes_again() {
        for asks in [false, true] {
            for bound in 0..4 {
                let mut search = Deviations::new(bound);
                let mut runs = Vec::new();
                loop {
                    if search.next_run() {
                        if asks && search.decide(Question::Task, 2) == 1 {
                            search.decide(Question::Environment, 3);
                        }
                        search.put_back();
                        let words = search.to_words().expect("a whole search");
                        search = Deviations::new(bound);
                        assert!(search.go_on_from(&words).is_some(), "{words:?}");
                    }
                    match run(&mut search) {
                        Some(list) => runs.push(list),
                        None => break,
                    }
                }
                assert_eq!(runs, whole_search(bound));
                assert_eq!((search.coverage().total(), search.coverage().complete), (runs.len() as u64, true));
            }
        }
    }

    #[test]
    fn what_is_no_search_is_refused_and_nothing_panics() {
        let mut search = Deviations::new(2);
        (0..7).for_each(|_| drop(run(&mut search)));
        let words = search.to_words().expect("a whole search");
        assert!(Deviations::new(3).go_on_from(&words).is_none(), "another bound");
        for cut in 0..words.len() {
            assert!(Deviations::new(2).go_on_from(&words[..cut]).is_none(), "cut at {cut}");
        }
        for at in 0..words.len() {
            for number in [0, 1, 2, 3, 7, 1 << 20, u64::from(u32::MAX), u64::MAX] {
                let mut changed = words.clone();
                changed[at] = number;
                let mut search = Deviations::new(2);
                if search.go_on_from(&changed).is_some() {
                    (0..200).take_while(|_| run(&mut search).is_some()).for_each(drop);
                }
            }
        }
    }

    #[test]
    fn a_part_and_a_diverged_search_are_not_saved() {
        let shard = crate::Shard::new(1, 2).expect("a shard");
        assert_eq!(Deviations::part(2, shard).to_words(), None);
        let mut search = Deviations::new(2);
        run(&mut search);
        assert!(search.to_words().is_some());
        assert!(search.next_run());
        search.end_run();
        assert!(search.divergence().is_some());
        assert_eq!(search.to_words(), None);
    }
}
