//! Probabilistic concurrency testing: S. Burckhardt, P. Kothari, M. Musuvathi and S. Nagarakatte, *A randomized scheduler
//! with probabilistic guarantees of finding bugs*, ASPLOS 2010.

use interloper_std::runtime::{Action, TaskId};

use crate::decisions::{Question, RandomSource, Source};
use crate::saved::{Times, whole, words};
use crate::strategy::{Pending, Strategy};
use crate::{Event, Execution};

/// Runs the enabled task of the highest priority. Priorities are random, and are lowered at `depth` - 1 random steps: a
/// bug that needs `depth` ordering constraints is found in one execution with probability at least 1 / (n · k^(d - 1))
/// for n tasks and k steps.
///
/// A depth above 1,000 counts as 1,000: no schedule is worth drawing more places.
/// Only steps that another task could notice count: a change after any other step has the same effect as a change after
/// the last counted step.
/// that counts.
#[derive(Clone, Debug)]
pub struct Pct {
    seed: u64,
    execution: u64,
    depth: u32,
    /// k: given, as in the paper, or else the most counted steps of an execution so far; 1 for the first.
    length: u64,
    measures: bool,
    source: RandomSource,
    /// By task; `None` for a task that was not seen yet. Initial priorities start at [`FIRST`], lowered ones are below.
    priorities: Vec<Option<u64>>,
    /// k_i: the steps at which the priority is lowered to `depth` - i.
    change_points: Vec<u64>,
    step: u64,
    /// The lowest priority that a yield has given so far.
    lowest: u64,
}

/// The largest depth.
pub const MAX_DEPTH: u32 = 1_000;

/// Initial priorities are above all lowered ones, and lowered ones are above all that a yield gives.
const FIRST: u64 = 1 << 63;
const LOWERED: u64 = 1 << 62;

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
        Pct {
            seed,
            execution,
            depth: depth.min(MAX_DEPTH),
            length: 1,
            measures: true,
            source: RandomSource::new(seed, execution),
            priorities: Vec::new(),
            change_points: Vec::new(),
            step: 0,
            lowest: LOWERED,
        }
    }

    /// Sets the length, which is then not measured: a schedule is a function of the seed and its number.
    /// [`Pct::length`] gives the length of a program after an execution that measured it.
    pub fn with_length(mut self, steps: u64) -> Pct {
        self.length = steps.max(1);
        self.measures = false;
        self
    }

    /// The length as measured so far.
    pub fn length(&self) -> u64 {
        self.length
    }

    fn priority(&mut self, task: TaskId) -> u64 {
        if self.priorities.len() <= task.index() {
            self.priorities.resize(task.index() + 1, None);
        }
        let fresh = || FIRST | self.source.word() >> 1;
        *self.priorities[task.index()].get_or_insert_with(fresh)
    }
}

impl Strategy for Pct {
    fn begin(&mut self) -> bool {
        self.source = RandomSource::new(self.seed, self.execution);
        self.execution += 1;
        self.priorities.clear();
        self.change_points.clear();
        // Different points, as far as there are enough.
        while (self.change_points.len() as u64) < u64::from(self.depth - 1).min(self.length) {
            let point = 1 + self.source.below_u64(self.length);
            if !self.change_points.contains(&point) {
                self.change_points.push(point);
            }
        }
        (self.step, self.lowest) = (0, LOWERED);
        true
    }

    fn choose(&mut self, _: Option<TaskId>, pending: &[Pending]) -> usize {
        let mut best = (0, 0);
        for (index, pending) in pending.iter().enumerate() {
            let priority = self.priority(pending.task);
            if index == 0 || priority > best.1 {
                best = (index, priority);
            }
        }
        let chosen = pending[best.0];
        if !chosen.operation.action.is_private() {
            self.step += 1;
            if let Some(index) = self.change_points.iter().position(|&point| point == self.step) {
                self.priorities[chosen.task.index()] = Some(LOWERED + u64::from(self.depth) - 1 - index as u64);
            }
        }
        // Not in the paper, which is about programs that do not wait in loops: a task that yields gets the lowest priority.
        if chosen.operation.action == Action::Yield {
            self.lowest -= 1;
            self.priorities[chosen.task.index()] = Some(self.lowest);
        }
        best.0
    }

    fn wants_marks(&self) -> bool {
        false
    }

    fn decide(&mut self, question: Question, options: u32) -> u32 {
        self.source.decide(question, options)
    }

    fn end(&mut self, _: &Execution, _: &[Event]) {
        if self.measures {
            self.length = self.length.max(self.step);
        }
    }

    fn saved(&self) -> Option<Vec<u64>> {
        words(&(Times(self.execution), Times(self.length)))
    }

    fn restore(&mut self, saved: &[u64]) -> bool {
        whole(saved)
            .map(|(Times(execution), Times(length))| (self.execution, self.length) = (execution, length.max(1)))
            .is_some()
    }
}
