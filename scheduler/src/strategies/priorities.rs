//! What [`Pct`](super::Pct) and [`Pctwm`](super::Pctwm) have in common: random priorities of tasks, and random places in an execution
//! where a task gets a low priority.

use interloper_std::runtime::TaskId;

use crate::decisions::RandomSource;
use crate::saved::{Times, whole, words};
use crate::strategy::Pending;

/// The priorities in an execution, and the places that were drawn for it.
#[derive(Clone, Debug)]
pub(super) struct Priorities {
    seed: u64,
    execution: u64,
    pub(super) source: RandomSource,
    /// By task; `None` for a task that was not seen yet. Initial priorities start at [`FIRST`], lowered ones are below.
    of: Vec<Option<u64>>,
    /// The lowest priority that a yield has given so far.
    lowest: u64,
    /// The most places of an execution so far, or the number that was given; 1 for the first execution.
    length: u64,
    measures: bool,
    drawn: Vec<u64>,
    /// The places so far in this execution.
    passed: u64,
}

/// Initial priorities are above all lowered ones, and lowered ones are above all that a yield gives.
const FIRST: u64 = 1 << 63;
const LOWERED: u64 = 1 << 62;

impl Priorities {
    /// The executions of a seed from this number on.
    pub(super) fn starting_at(seed: u64, execution: u64) -> Priorities {
        Priorities {
            seed,
            execution,
            source: RandomSource::new(seed, execution),
            of: Vec::new(),
            lowest: LOWERED,
            length: 1,
            measures: true,
            drawn: Vec::new(),
            passed: 0,
        }
    }

    /// Sets the number of places, which is then not measured: an execution is a function of the seed and its number.
    pub(super) fn set_length(&mut self, places: u64) {
        (self.length, self.measures) = (places.max(1), false);
    }

    /// The most places of an execution so far, or the number that was given.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// Begins an execution, with so many places: different ones, as far as there are enough.
    pub(super) fn begin(&mut self, places: u32) {
        self.source = RandomSource::new(self.seed, self.execution);
        self.execution += 1;
        self.of.clear();
        self.drawn.clear();
        while (self.drawn.len() as u64) < u64::from(places).min(self.length) {
            let place = 1 + self.source.below_u64(self.length);
            if !self.drawn.contains(&place) {
                self.drawn.push(place);
            }
        }
        (self.passed, self.lowest) = (0, LOWERED);
    }

    /// Ends an execution.
    pub(super) fn end(&mut self) {
        if self.measures {
            self.length = self.length.max(self.passed);
        }
    }

    fn of(&mut self, task: TaskId) -> u64 {
        if self.of.len() <= task.index() {
            self.of.resize(task.index() + 1, None);
        }
        let fresh = || FIRST | self.source.word() >> 1;
        *self.of[task.index()].get_or_insert_with(fresh)
    }

    /// The first task of the highest priority.
    pub(super) fn highest(&mut self, pending: &[Pending]) -> usize {
        let mut best = (0, 0);
        for (index, pending) in pending.iter().enumerate() {
            let priority = self.of(pending.task);
            if index == 0 || priority > best.1 {
                best = (index, priority);
            }
        }
        best.0
    }

    /// Passes a place. Gives its number among those drawn, if it is one of them.
    pub(super) fn pass(&mut self) -> Option<usize> {
        self.passed += 1;
        self.drawn.iter().position(|&place| place == self.passed)
    }

    /// Gives a task a priority below all that tasks begin with: among these, a higher `rank` is a higher priority.
    pub(super) fn lower(&mut self, task: TaskId, rank: u64) {
        self.of[task.index()] = Some(LOWERED + rank);
    }

    /// Gives a task that yields the lowest priority.
    pub(super) fn yields(&mut self, task: TaskId) {
        self.lowest -= 1;
        self.of[task.index()] = Some(self.lowest);
    }

    /// See [`Strategy::saved`](crate::Strategy::saved).
    pub(super) fn saved(&self) -> Option<Vec<u64>> {
        words(&(Times(self.execution), Times(self.length)))
    }

    /// See [`Strategy::restore`](crate::Strategy::restore).
    pub(super) fn restore(&mut self, saved: &[u64]) -> bool {
        whole(saved)
            .map(|(Times(execution), Times(length))| (self.execution, self.length) = (execution, length.max(1)))
            .is_some()
    }
}
