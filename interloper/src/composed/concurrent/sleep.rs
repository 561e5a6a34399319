//! Of the runs that differ in the order of independent segments alone, a search makes one.
//!
//! A segment is what a task does from one choice to the next. Two of them are independent if their order changes neither what they do
//! nor which call ended before which one began. These are the sleep sets of P. Godefroid, *Partial-Order Methods for the
//! Verification of Concurrent Systems*, 1996, chapter 5, for a search that makes its runs depth first.

use interloper_scheduler::strategies::Sleeper;
use interloper_std::runtime::{ObjectId, Operation, TaskId};

use super::Program;
use crate::composed::world::StateId;

/// The choices of the last run, with what need not follow them.
#[derive(Default)]
pub(super) struct Sleep {
    /// What the last run was a run of: its calls and the number of the state. A search numbers the states that runs begin in before it
    /// makes them, so these numbers are those of another process, too.
    of: Vec<u64>,
    choices: Vec<Choice>,
    /// How many choices the current run has made.
    depth: usize,
    /// The last object that was used.
    used: Option<ObjectId>,
}

/// A choice of a task.
#[derive(Default)]
struct Choice {
    /// What need not be chosen: first what slept before the last segment, then what was chosen here in earlier runs.
    asleep: Vec<Asleep>,
    inherited: usize,
    /// The last object that was used before.
    known: Option<ObjectId>,
    /// The answer of the last run, and whom it means.
    chosen: Option<(u32, TaskId)>,
    segment: Segment,
}

/// What was done from a choice to the next.
#[derive(Clone, Default)]
struct Segment {
    effects: Vec<Operation>,
    edges: Edges,
    /// More than one task has taken part, or it did not come to its end.
    is_mixed: bool,
}

/// Where calls begin and end.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Edges {
    pub begins: bool,
    pub ends: bool,
}

impl Edges {
    /// Whether the order of two segments says which of two calls came first.
    fn order(self, other: Edges) -> bool {
        self.begins && other.ends || self.ends && other.begins
    }

    fn to_word(self) -> u64 {
        u64::from(self.begins) | u64::from(self.ends) << 1
    }

    fn of_word(word: u64) -> Option<Edges> {
        (word < 4).then_some(Edges { begins: word & 1 == 1, ends: word >> 1 == 1 })
    }
}

/// Appends numbers, and before them how many there are.
fn put(words: &mut Vec<u64>, part: &[u64]) {
    words.push(part.len() as u64);
    words.extend(part);
}

/// What [`put`] has appended, and the rest.
fn take(words: &[u64]) -> Option<(&[u64], &[u64])> {
    let (&length, rest) = words.split_first()?;
    rest.split_at_checked(usize::try_from(length).ok()?)
}

/// A segment whose runs have been made.
#[derive(Clone)]
struct Asleep {
    sleeper: Sleeper,
    edges: Edges,
}

impl Choice {
    /// What still sleeps after the segment that was chosen here.
    fn after(&self) -> Vec<Asleep> {
        let Some((_, task)) = self.chosen.filter(|_| !self.segment.is_mixed) else { return Vec::new() };
        let sleeps = |one: &&Asleep| {
            !one.edges.order(self.segment.edges) && one.sleeper.after(task, &self.segment.effects).is_some()
        };
        self.asleep.iter().filter(sleeps).cloned().collect()
    }

    /// As numbers. `None` if nothing was chosen.
    fn to_words(&self) -> Option<Vec<u64>> {
        let Choice { asleep, inherited, known, chosen, segment } = self;
        let (answer, task) = (*chosen)?;
        let is_mixed = u64::from(segment.is_mixed);
        let mut words = vec![u64::from(answer), *inherited as u64, is_mixed, segment.edges.to_word()];
        put(&mut words, &Sleeper::new(task, segment.effects.clone(), *known).to_words());
        for one in asleep {
            words.push(one.edges.to_word());
            put(&mut words, &one.sleeper.to_words());
        }
        Some(words)
    }

    fn of_words(words: &[u64]) -> Option<Choice> {
        let (&[answer, inherited, is_mixed, edges], rest) = words.split_first_chunk()?;
        let (step, mut rest) = take(rest)?;
        let step = Sleeper::of_words(step)?;
        let segment =
            Segment { effects: step.effects().to_vec(), edges: Edges::of_word(edges)?, is_mixed: is_mixed == 1 };
        let mut asleep = Vec::new();
        while let [edges, others @ ..] = rest {
            let sleeper;
            (sleeper, rest) = take(others)?;
            asleep.push(Asleep { sleeper: Sleeper::of_words(sleeper)?, edges: Edges::of_word(*edges)? });
        }
        let inherited =
            usize::try_from(inherited).ok().filter(|inherited| *inherited <= asleep.len() && is_mixed <= 1)?;
        let chosen = Some((answer.try_into().ok()?, step.task));
        Some(Choice { asleep, inherited, known: step.known(), chosen, segment })
    }

    /// All runs with what was chosen last have been made.
    fn fall_asleep(&mut self) {
        let segment = std::mem::take(&mut self.segment);
        if let Some((_, task)) = self.chosen.filter(|_| !segment.is_mixed) {
            let sleeper = Sleeper::new(task, segment.effects, self.known);
            self.asleep.push(Asleep { sleeper, edges: segment.edges });
        }
    }
}

impl Sleep {
    /// A run begins.
    pub fn begin(&mut self, program: &Program, initial: StateId) {
        let calls =
            program.iter().flat_map(|calls| calls.iter().map(|call| [call.method as u64, call.argument as u64]));
        let tasks = program.iter().map(|calls| calls.len() as u64);
        let of = [initial.index() as u64, tasks.len() as u64].into_iter().chain(tasks).chain(calls.flatten());
        if !self.of.iter().copied().eq(of.clone()) {
            self.of = of.collect();
            self.choices.clear();
        }
        (self.depth, self.used) = (0, None);
    }

    /// A step is made: an effect of the segment under way, unless the driver makes it.
    pub fn note(&mut self, operation: &Operation, is_effect: bool) {
        self.used = self.used.max(Some(operation.object));
        if let Some(segment) = self.segment().filter(|_| is_effect) {
            segment.effects.push(*operation);
        }
    }

    /// Another task goes on in the segment under way, or the run ends in it.
    pub fn mix(&mut self) {
        if let Some(segment) = self.segment() {
            segment.is_mixed = true;
        }
    }

    /// The segment under way is over.
    pub fn close(&mut self, edges: Edges) {
        if let Some(segment) = self.segment() {
            segment.edges = edges;
        }
    }

    fn segment(&mut self) -> Option<&mut Segment> {
        Some(&mut self.choices[self.depth.checked_sub(1)?].segment)
    }

    /// Which of the next choice's answers need not be given: a bit for each of these tasks.
    pub fn needless(&mut self, tasks: impl Iterator<Item = TaskId>) -> u64 {
        if self.depth == self.choices.len() {
            let asleep = self.choices.last().map_or_else(Vec::new, Choice::after);
            self.choices.push(Choice { inherited: asleep.len(), asleep, ..Choice::default() });
        }
        // What was chosen here in earlier runs has smaller answers than what the search comes to now.
        let choice = &self.choices[self.depth];
        let inherited = &choice.asleep[..choice.inherited];
        let bit = |(answer, task): (u32, TaskId)| match inherited.iter().any(|one| one.sleeper.task == task) {
            true => 1_u64.checked_shl(answer).unwrap_or(0),
            false => 0,
        };
        (0..).zip(tasks).map(bit).fold(0, |all, bit| all | bit)
    }

    /// No answer is needed: the run ends.
    pub fn give_up(&mut self) {
        self.choices.truncate(self.depth);
    }

    /// Between two runs: the choices, as numbers.
    pub fn to_words(&self) -> Vec<u64> {
        let mut words = Vec::new();
        put(&mut words, &self.of);
        // A run that was cut may end in a question.
        for choice in self.choices.iter().map_while(Choice::to_words) {
            put(&mut words, &choice);
        }
        words
    }

    /// The choices that these numbers describe. `None` if they describe none.
    pub fn of_words(words: &[u64]) -> Option<Sleep> {
        let (of, mut rest) = take(words)?;
        let mut sleep = Sleep { of: of.to_vec(), ..Sleep::default() };
        while !rest.is_empty() {
            let choice;
            (choice, rest) = take(rest)?;
            sleep.choices.push(Choice::of_words(choice)?);
        }
        Some(sleep)
    }

    /// The answer to that choice.
    pub fn choose(&mut self, answer: u32, task: TaskId) {
        let used = self.used;
        let choice = &mut self.choices[self.depth];
        self.depth += 1;
        match choice.chosen {
            // The run begins as the last one did.
            Some((before, _)) if before == answer => {
                choice.segment = Segment::default();
                return;
            }
            Some((before, _)) if before < answer => choice.fall_asleep(),
            // Another run of the same program from the start.
            _ => choice.asleep.truncate(choice.inherited),
        }
        (choice.chosen, choice.known, choice.segment) = (Some((answer, task)), used, Segment::default());
        self.choices.truncate(self.depth);
    }
}
