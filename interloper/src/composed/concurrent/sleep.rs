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
    /// What the last run was a run of.
    of: Option<(Program, StateId)>,
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
        if self.of.as_ref().is_none_or(|(of, from)| of != program || *from != initial) {
            self.of = Some((program.clone(), initial));
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
