//! Exhaustive search by increasing number of deviations.
//!
//! An environment question that is answered other than 0 is a *deviation*. Level k holds the runs with exactly k
//! deviations; levels are searched in the order 0, 1, 2, … up to the bound, so the first failing run found has the
//! fewest deviations. All other questions are free: within a level every combination of their answers is tried.
//!
//! No list of decisions is run twice, and no run is wasted. A run of level k > 0 has its last deviation at a position
//! p. Setting that answer and all free answers after p to 0 gives a run of level k - 1: its *parent*. So the children
//! of a run deviate at the environment questions after its last answer that is not 0, and each list has exactly one
//! parent. The children of a level run in the order of their parents, then of positions, then of answers, and after the
//! last deviation the free answers are counted up like the digits of a number.
//!
//! A search can be split: each part makes all runs of level 0, and the first deviations are dealt like cards. The runs of the later
//! levels belong to the part that has their first deviation.

mod saved;

use super::{Decision, Decisions, Question, Source};
use crate::shard::Shard;

/// Visits every list of decisions with at most `bound` deviations, in the order of their number.
///
/// ```
/// use interloper_scheduler::decisions::{Deviations, Question, Source};
///
/// let mut search = Deviations::new(1);
/// let mut lists = Vec::new();
/// while search.next_run() {
///     // The program: one argument, then two places where the environment can do one of two things.
///     search.decide(Question::Argument, 2);
///     search.decide(Question::Environment, 3);
///     search.decide(Question::Environment, 3);
///     lists.push(search.decisions().to_string());
///     search.end_run();
/// }
/// assert_eq!(lists, [
///     "A0.E0.E0", "A1.E0.E0", // no deviation
///     "A0.E1.E0", "A0.E2.E0", "A0.E0.E1", "A0.E0.E2", "A1.E1.E0", "A1.E2.E0", "A1.E0.E1", "A1.E0.E2",
/// ]);
/// assert_eq!(search.coverage().runs, [2, 8]);
/// assert!(search.coverage().complete);
/// ```
#[derive(Clone, Debug)]
pub struct Deviations {
    bound: u32,
    /// The number of deviations in the current runs.
    level: u32,
    phase: Phase,
    /// The decisions of the run; those before `planned` have fixed answers.
    path: Vec<Choice>,
    planned: usize,
    /// How many decisions the run has asked for.
    cursor: usize,
    /// The position after the last deviation of the run: answers before it stay while the free ones after it are
    /// counted up.
    base: usize,
    /// The digest that the questions before `base` must have, when this is the first run that asks them again.
    expected: Option<u64>,
    /// The runs of the level before this one, and the current position among their children.
    parents: Parents,
    parent: usize,
    candidate: usize,
    /// The runs of this level that have children.
    next: Parents,
    runs: Vec<u64>,
    /// The runs of this level have more children than are kept: the next level will be incomplete.
    truncated: bool,
    divergence: Option<usize>,
    /// Whose first deviations these are, and how many have been dealt. Without deviations, what runs begin with is dealt.
    shard: Shard,
    dealt: u64,
    /// What the last run began with.
    begun: Vec<u32>,
    /// The current run belongs to another part.
    is_elsewhere: bool,
}

/// How many places for deviations are kept for the next level, 16 bytes each. A run of many questions has as many
/// places as questions, so all runs of a level together have the square of that.
const MOST_CANDIDATES: usize = 1 << 25;

/// In the order of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The next run is planned: the first one, or one that was put back.
    New,
    /// Inside a run.
    Running,
    /// Between two runs.
    Between,
    /// Everything within the bound was visited, or the program turned out to be nondeterministic.
    Done,
}

/// A decision of the run.
#[derive(Clone, Copy, Debug)]
struct Choice {
    question: Question,
    /// 0 while the number is unknown: the run must ask again first.
    options: u32,
    answer: u32,
    /// The answers that the search leaves out, a bit for each.
    needless: u64,
}

/// What a search has visited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coverage {
    /// The number of runs with 0, 1, 2, … deviations, up to the bound. From level 1,000 on, the list has only the
    /// levels that were begun.
    pub runs: Vec<u64>,
    /// Whether every list of decisions up to the bound was visited.
    pub complete: bool,
}

/// This many levels are listed, whether they were begun or not: the bound may be any number.
const LEVELS: usize = 1_000;

impl Coverage {
    /// The number of runs.
    pub fn total(&self) -> u64 {
        self.runs.iter().sum()
    }
}

impl Deviations {
    /// A search up to `bound` deviations.
    pub fn new(bound: u32) -> Deviations {
        Deviations {
            bound,
            level: 0,
            phase: Phase::New,
            path: Vec::new(),
            planned: 0,
            cursor: 0,
            base: 0,
            expected: None,
            parents: Parents::default(),
            parent: 0,
            candidate: 0,
            next: Parents::default(),
            runs: Vec::new(),
            truncated: false,
            divergence: None,
            shard: Shard::WHOLE,
            dealt: 0,
            begun: Vec::new(),
            is_elsewhere: false,
        }
    }

    /// A part of such a search: every run without a deviation, and the runs whose first deviation is dealt to the shard. Where a run has
    /// no deviations, a part has the runs whose beginning is dealt to it: see [`Source::is_own`].
    pub fn part(bound: u32, shard: Shard) -> Deviations {
        Deviations { shard, ..Deviations::new(bound) }
    }

    /// Whether every part of the search makes the current run.
    pub fn is_shared(&self) -> bool {
        self.level == 0 && self.bound > 0
    }

    /// Whether the current run turned out to belong to another part.
    pub fn is_elsewhere(&self) -> bool {
        self.is_elsewhere
    }

    /// Begins the next run. Returns false when no run is left.
    ///
    /// # Panics
    /// When the run before has not ended.
    pub fn next_run(&mut self) -> bool {
        let found = match self.phase {
            Phase::Running => panic!("the run before was not ended"),
            Phase::New => true,
            Phase::Between => self.advance_free() || self.advance_deviation(),
            Phase::Done => false,
        };
        self.phase = if found { Phase::Running } else { Phase::Done };
        if found {
            self.cursor = 0;
            self.is_elsewhere = false;
            // The list does not start as long as the bound, which may be any number.
            self.runs.resize(self.level as usize + 1, 0);
            self.runs[self.level as usize] += 1;
        }
        found
    }

    /// Ends the run that [`Deviations::next_run`] began: it has asked all its questions.
    ///
    /// # Panics
    /// When no run was begun.
    pub fn end_run(&mut self) {
        assert!(self.phase == Phase::Running, "no run was begun");
        self.phase = Phase::Between;
        if self.cursor < self.planned {
            self.diverge(self.cursor);
        } else if let Some(expected) = self.expected.take()
            && expected != self.path[..self.base].iter().fold(0, Choice::digest)
        {
            self.diverge(0);
        }
        if self.divergence.is_some() {
            self.phase = Phase::Done;
        } else if self.level < self.bound {
            if self.next.candidates.len() < MOST_CANDIDATES {
                self.next.push(&self.path, self.base);
            } else {
                self.truncated = true;
            }
        }
    }

    /// The run that was begun is not made to its end: the next run is the same one.
    ///
    /// # Panics
    /// When no run was begun.
    pub fn put_back(&mut self) {
        assert!(self.phase == Phase::Running, "no run was begun");
        self.phase = Phase::New;
        self.path.truncate(self.planned);
        self.runs[self.level as usize] -= 1;
    }

    /// The decisions of the run so far.
    pub fn decisions(&self) -> Decisions {
        let decision = |choice: &Choice| Decision::new(choice.question, choice.options, choice.answer);
        Decisions(self.path[..self.cursor.min(self.path.len())].iter().map(decision).collect())
    }

    /// The number of deviations in the current runs.
    pub fn level(&self) -> u32 {
        self.level
    }

    /// What was visited so far, including the current run.
    pub fn coverage(&self) -> Coverage {
        let mut runs = self.runs.clone();
        runs.resize(runs.len().max(LEVELS.min(self.bound as usize + 1)), 0);
        Coverage { runs, complete: self.is_complete() }
    }

    /// Whether runs were dropped because too many others wait for their turn: the search cannot become complete.
    pub fn leaves_out(&self) -> bool {
        self.truncated
    }

    /// Whether every list of decisions up to the bound was visited.
    pub fn is_complete(&self) -> bool {
        self.phase == Phase::Done && self.divergence.is_none() && !self.truncated
    }

    /// If a run asked differently from an earlier run with the same answers, the position (counted from 0) up to which
    /// the two agree: the program is nondeterministic, and the search has ended.
    pub fn divergence(&self) -> Option<usize> {
        self.divergence
    }

    fn diverge(&mut self, position: usize) {
        self.divergence.get_or_insert(position);
    }

    /// Counts up the free answers after the last deviation: the last answer that can grow.
    fn advance_free(&mut self) -> bool {
        let next = |choice: &Choice| match choice.question {
            Question::Environment => None,
            _ => choice.next(),
        };
        let found = self.path[self.base..].iter().enumerate().rev().find_map(|(at, choice)| Some((at, next(choice)?)));
        let Some((offset, answer)) = found else { return false };
        let last = self.base + offset;
        self.path.truncate(last + 1);
        self.path[last].answer = answer;
        self.planned = last + 1;
        true
    }

    /// The next deviation of this part: another answer at the last one, or another place.
    fn advance_deviation(&mut self) -> bool {
        while self.advance_answer() || self.advance_child() {
            if self.level != 1 || self.deal() {
                return true;
            }
        }
        false
    }

    /// Deals a first deviation. Says whether this part has it.
    fn deal(&mut self) -> bool {
        self.dealt += 1;
        self.shard.has(self.dealt - 1)
    }

    /// The next answer at the last deviation.
    fn advance_answer(&mut self) -> bool {
        let Some(deviation) = self.base.checked_sub(1) else { return false };
        if self.path[deviation].answer + 1 >= self.path[deviation].options {
            return false;
        }
        self.path.truncate(self.base);
        self.path[deviation].answer += 1;
        self.planned = self.base;
        true
    }

    /// The first answer at the next place for a deviation: of the same parent, of the next one, or of the next level.
    fn advance_child(&mut self) -> bool {
        if self.base > 0 {
            self.candidate += 1;
        } else {
            self.descend();
        }
        loop {
            if let Some(candidate) = self.parents.candidate(self.parent, self.candidate) {
                self.start_child(candidate);
                return true;
            }
            self.parent += 1;
            self.candidate = 0;
            if self.parent >= self.parents.len() {
                if self.next.len() == 0 {
                    return false;
                }
                self.descend();
            }
        }
    }

    /// The runs of this level become the parents of the next.
    fn descend(&mut self) {
        std::mem::swap(&mut self.parents, &mut self.next);
        self.next.clear();
        self.parent = 0;
        self.candidate = 0;
        self.level += u32::from(self.parents.len() > 0);
    }

    fn start_child(&mut self, candidate: Candidate) {
        let position = candidate.position as usize;
        self.path.clear();
        self.path.resize(position, Choice::new(Question::Other, 0, 0));
        for &(at, answer) in self.parents.answers(self.parent) {
            self.path[at as usize].answer = answer;
        }
        self.path.push(Choice::new(Question::Environment, candidate.options, 1));
        self.base = position + 1;
        self.planned = self.base;
        self.expected = Some(candidate.digest);
    }

    /// The next planned answer.
    #[inline]
    fn planned_answer(&mut self, question: Question, options: u32) -> u32 {
        let choice = &mut self.path[self.cursor];
        if choice.options == 0 {
            (choice.question, choice.options) = (question, options);
        }
        if choice.question != question || choice.options != options || choice.answer >= options {
            *choice = Choice::new(question, options, 0);
            self.diverge(self.cursor);
        }
        self.path[self.cursor].answer
    }
}

impl Source for Deviations {
    /// # Panics
    /// When `options` is 0.
    #[inline]
    fn decide(&mut self, question: Question, options: u32) -> u32 {
        assert!(options > 0, "a question has at least one answer");
        let answer = if self.cursor < self.planned {
            self.planned_answer(question, options)
        } else {
            self.path.push(Choice::new(question, options, 0));
            0
        };
        self.cursor += 1;
        answer
    }

    /// In a search without deviations: with them, the runs of a level are the children of runs that must have been made.
    fn decide_among(&mut self, question: Question, options: u32, needless: u64) -> Option<u32> {
        if self.bound > 0 {
            return Some(self.decide(question, options));
        }
        if self.cursor >= self.planned {
            let answer = Choice { needless, ..Choice::new(question, options, 0) }.first()?;
            self.path.push(Choice { needless, ..Choice::new(question, options, answer) });
        } else {
            self.planned_answer(question, options);
            self.path[self.cursor].needless = needless;
            if self.path[self.cursor].leaves_out(self.path[self.cursor].answer) {
                self.diverge(self.cursor);
            }
        }
        self.cursor += 1;
        Some(self.path[self.cursor - 1].answer)
    }

    /// False for the environment once the deviations of the last level are used up.
    #[inline]
    fn wants(&self, question: Question) -> bool {
        question != Question::Environment || self.level < self.bound || self.cursor < self.base
    }

    /// True for a planned answer of 0 to a question that an earlier run asked after the same answers.
    #[inline]
    fn settled(&mut self, question: Question) -> bool {
        let known = |choice: &Choice| choice.question == question && choice.options != 0 && choice.answer == 0;
        let settled = self.cursor < self.planned && self.path.get(self.cursor).is_some_and(known);
        self.cursor += usize::from(settled);
        settled
    }

    fn is_own(&mut self) -> bool {
        if self.bound > 0 || self.shard.is_whole() {
            return true;
        }
        let begins = self.path[..self.cursor].iter().map(|choice| choice.answer);
        if self.dealt == 0 || !begins.clone().eq(self.begun.iter().copied()) {
            self.begun = begins.collect();
            self.dealt += 1;
        }
        self.is_elsewhere = !self.shard.has(self.dealt - 1);
        !self.is_elsewhere
    }
}

impl Choice {
    fn new(question: Question, options: u32, answer: u32) -> Choice {
        Choice { question, options, answer, needless: 0 }
    }

    fn leaves_out(&self, answer: u32) -> bool {
        answer < u64::BITS && self.needless >> answer & 1 == 1
    }

    /// The first answer.
    fn first(&self) -> Option<u32> {
        (0..self.options).find(|answer| !self.leaves_out(*answer))
    }

    /// The answer after this one.
    #[inline]
    fn next(&self) -> Option<u32> {
        (self.answer + 1..self.options).find(|answer| !self.leaves_out(*answer))
    }

    /// Adds a question, without its answer, to the digest of the questions before it.
    fn digest(before: u64, choice: &Choice) -> u64 {
        let word = (choice.question as u64) << 32 | u64::from(choice.options);
        (before ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29)
    }
}

/// The runs of a level that have children, in their order. A run is kept as its answers other than 0.
#[derive(Clone, Debug, Default)]
struct Parents {
    /// Where the answers and candidates of each parent end.
    ends: Vec<(usize, usize)>,
    /// Position and answer.
    answers: Vec<(u32, u32)>,
    candidates: Vec<Candidate>,
}

/// A place where a run can deviate.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    position: u32,
    options: u32,
    /// The digest of the questions up to and including this one.
    digest: u64,
}

impl Parents {
    fn len(&self) -> usize {
        self.ends.len()
    }

    fn clear(&mut self) {
        self.ends.clear();
        self.answers.clear();
        self.candidates.clear();
    }

    fn answers(&self, parent: usize) -> &[(u32, u32)] {
        let start = parent.checked_sub(1).map_or(0, |before| self.ends[before].0);
        &self.answers[start..self.ends[parent].0]
    }

    fn candidate(&self, parent: usize, number: usize) -> Option<Candidate> {
        let start = parent.checked_sub(1).map_or(0, |before| self.ends[before].1);
        let end = self.ends.get(parent)?.1;
        self.candidates[start..end].get(number).copied()
    }

    /// Keeps a run if it has children. Its last deviation is before `base`.
    fn push(&mut self, path: &[Choice], base: usize) {
        let tail = path[base..].iter().rposition(|choice| choice.answer != 0).map_or(base, |last| base + last + 1);
        let before = self.candidates.len();
        let mut digest = 0;
        for (position, choice) in path.iter().enumerate() {
            digest = Choice::digest(digest, choice);
            if position >= tail && choice.question == Question::Environment && choice.options > 1 {
                let (position, options) = (position as u32, choice.options);
                self.candidates.push(Candidate { position, options, digest });
            }
        }
        if self.candidates.len() > before {
            let deviant = path[..tail].iter().enumerate().filter(|(_, choice)| choice.answer != 0);
            self.answers.extend(deviant.map(|(position, choice)| (position as u32, choice.answer)));
            self.ends.push((self.answers.len(), self.candidates.len()));
        }
    }
}

#[cfg(test)]
mod tests;
