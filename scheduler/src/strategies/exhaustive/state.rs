//! The states on the path of an execution, and what is left to explore from each.

use std::collections::BTreeSet;

use interloper_std::runtime::{ObjectId, Operation, TaskId};

use super::names::Nth;
use super::sleep::Sleeper;
use super::vain::Vain;
use super::wakeup::Branch;

/// A state on the path of the current execution.
#[derive(Clone, Debug)]
pub(super) struct State {
    /// In a part of a search: this is one of the first states, all branches of which are explored.
    pub(super) is_first: bool,
    /// The branches of this state and of those before it, multiplied, as far as they are first states.
    pub(super) ways: u64,
    /// Which task makes the step here, and what the step did.
    pub(super) task: TaskId,
    pub(super) effects: Vec<Operation>,
    /// What the step did with other answers to the decisions within it.
    pub(super) other_effects: Vec<Operation>,
    /// The decisions within the step.
    pub(super) picks: Vec<Pick>,
    /// The answers with which the step belongs to the sequence that is explored first from here.
    pub(super) planned: Vec<u32>,
    /// The last of the objects that were seen before the step.
    pub(super) known: Option<ObjectId>,
    /// The atomic that the step accesses, where memory is weak.
    pub(super) atomic: Option<ObjectId>,
    /// Some execution has the step with the newest store.
    pub(super) takes_newest: bool,
    /// The later steps with which the step was seen to race.
    pub(super) racers: BTreeSet<Nth>,
    /// What the search need not explore from here: it was explored, or its reversal is explored elsewhere.
    pub(super) sleep: Vec<Sleeper>,
    /// The tasks whose next step would begin another round of a loop that waits.
    pub(super) vain: Vec<Vain>,
    /// The local state of the task before the step, if it is known.
    pub(super) local_state: Option<u64>,
    /// The step turned out to have only read.
    pub(super) only_read: bool,
    /// All tasks that could go on waited in loops, and one of them goes round.
    pub(super) goes_round: bool,
    /// The wakeup tree: what is to be explored from here. The first branch is the current one.
    pub(super) tree: Vec<Branch>,
}

/// A decision within a step.
#[derive(Clone, Debug)]
pub(super) struct Pick {
    /// The answers that are tried. After the first one the larger ones follow, and then the smaller ones.
    pub(super) answers: Vec<u32>,
    /// Which of them is tried.
    pub(super) at: usize,
    /// Which of them was tried first.
    pub(super) first: usize,
}

impl Pick {
    /// Tries this answer first, or the first one if it is not among them.
    pub(super) fn new(answers: Vec<u32>, planned: u32) -> Pick {
        let first = answers.iter().position(|answer| *answer == planned).unwrap_or(0);
        Pick { answers, at: first, first }
    }

    pub(super) fn answer(&self) -> u32 {
        self.answers[self.at]
    }

    /// The same decision with the next answer. None after the last one.
    pub(super) fn next(mut self) -> Option<Pick> {
        self.at = (self.at + 1) % self.answers.len();
        (self.at != self.first).then_some(self)
    }
}
