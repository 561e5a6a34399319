//! Probabilistic concurrency testing: S. Burckhardt, P. Kothari, M. Musuvathi and S. Nagarakatte, *A randomized scheduler
//! with probabilistic guarantees of finding bugs*, ASPLOS 2010.

use interloper_std::runtime::{Action, TaskId};

use super::priorities::Priorities;
use crate::decisions::{Question, Source};
use crate::strategy::{Pending, Strategy};
use crate::{Event, Execution};

/// Runs the enabled task of the highest priority. Priorities are random, and are lowered at `depth` - 1 random steps: a
/// bug that needs `depth` ordering constraints is found in one execution with probability at least 1 / (n · k^(d - 1))
/// for n tasks and k steps.
///
/// A depth above 1,000 counts as 1,000: no schedule is worth drawing more places.
/// Only steps that another task could notice count: a change after any other step has the same effect as a change after
/// the last counted step.
#[derive(Clone, Debug)]
pub struct Pct {
    depth: u32,
    /// Places are counted steps. Their number k is given, as in the paper, or measured; k_i are the places where the priority is lowered
    /// to `depth` - i.
    priorities: Priorities,
}

/// The largest depth.
pub const MAX_DEPTH: u32 = 1_000;

impl Pct {
    /// The schedules of a seed.
    ///
    /// # Panics
    /// When `depth` is 0.
    pub fn new(seed: u64, depth: u32) -> Pct {
        Pct::starting_at(seed, depth, 0)
    }

    /// The schedules of a seed from the execution of this number on. The length is measured from there on.
    ///
    /// # Panics
    /// When `depth` is 0.
    pub fn starting_at(seed: u64, depth: u32, execution: u64) -> Pct {
        assert!(depth > 0, "a bug has a depth of at least 1");
        Pct { depth: depth.min(MAX_DEPTH), priorities: Priorities::starting_at(seed, execution) }
    }

    /// Sets the length, which is then not measured: a schedule is a function of the seed and its number.
    /// [`Pct::length`] gives the length of a program after an execution that measured it.
    pub fn with_length(mut self, steps: u64) -> Pct {
        self.priorities.set_length(steps);
        self
    }

    /// The length as measured so far.
    pub fn length(&self) -> u64 {
        self.priorities.length()
    }
}

impl Strategy for Pct {
    fn begin(&mut self) -> bool {
        self.priorities.begin(self.depth - 1);
        true
    }

    fn choose(&mut self, _: Option<TaskId>, pending: &[Pending]) -> usize {
        let best = self.priorities.highest(pending);
        let chosen = pending[best];
        if !chosen.operation.action.is_private()
            && let Some(index) = self.priorities.pass()
        {
            self.priorities.lower(chosen.task, u64::from(self.depth) - 1 - index as u64);
        }
        // Not in the paper, which is about programs that do not wait in loops: a task that yields gets the lowest priority.
        if chosen.operation.action == Action::Yield {
            self.priorities.yields(chosen.task);
        }
        best
    }

    fn wants_marks(&self) -> bool {
        false
    }

    fn decide(&mut self, question: Question, options: u32) -> u32 {
        self.priorities.source.decide(question, options)
    }

    fn end(&mut self, _: &Execution, _: &[Event]) {
        self.priorities.end();
    }

    fn saved(&self) -> Option<Vec<u64>> {
        self.priorities.saved()
    }

    fn restore(&mut self, saved: &[u64]) -> bool {
        self.priorities.restore(saved)
    }
}
