//! Partial order sampling: X. Yuan, J. Yang and R. Gu, *Partial order aware concurrency sampling*, CAV 2018.

use interloper_std::runtime::{Operation, TaskId};

use crate::decisions::{Question, RandomSource, Source};
use crate::saved::{Times, whole, words};
use crate::strategy::{Pending, Strategy};

/// Gives each pending operation a random priority and takes the highest. Operations that depend on the taken one draw a
/// new priority, so that each order of dependent operations is about equally likely.
#[derive(Clone, Debug)]
pub struct Pos {
    seed: u64,
    execution: u64,
    source: RandomSource,
    /// By task: its pending operation as it was seen last, and the priority.
    drawn: Vec<Option<(Operation, u64)>>,
}

impl Pos {
    /// The schedules of a seed.
    pub fn new(seed: u64) -> Pos {
        Pos::starting_at(seed, 0)
    }

    /// The schedules of a seed from the execution of this number on.
    pub fn starting_at(seed: u64, execution: u64) -> Pos {
        Pos { seed, execution, source: RandomSource::new(seed, execution), drawn: Vec::new() }
    }

    fn priority(&mut self, pending: &Pending) -> u64 {
        let task = pending.task.index();
        if self.drawn.len() <= task {
            self.drawn.resize(task + 1, None);
        }
        let fresh = || (pending.operation, self.source.word());
        self.drawn[task].get_or_insert_with(fresh).1
    }
}

impl Strategy for Pos {
    fn begin(&mut self) -> bool {
        self.source = RandomSource::new(self.seed, self.execution);
        self.execution += 1;
        self.drawn.clear();
        true
    }

    fn choose(&mut self, _: Option<TaskId>, pending: &[Pending]) -> usize {
        let mut best = (0, 0);
        for (index, pending) in pending.iter().enumerate() {
            let priority = self.priority(pending);
            if index == 0 || priority > best.1 {
                best = (index, priority);
            }
        }
        let chosen = pending[best.0];
        // Also operations that are not enabled now: the taken operation may be what disables them.
        for drawn in &mut self.drawn {
            if drawn.is_some_and(|(operation, _)| operation.depends(&chosen.operation)) {
                *drawn = None;
            }
        }
        self.drawn[chosen.task.index()] = None;
        best.0
    }

    fn wants_marks(&self) -> bool {
        false
    }

    fn decide(&mut self, question: Question, options: u32) -> u32 {
        self.source.decide(question, options)
    }

    fn saved(&self) -> Option<Vec<u64>> {
        words(&Times(self.execution))
    }

    fn restore(&mut self, saved: &[u64]) -> bool {
        whole(saved).map(|Times(execution)| self.execution = execution).is_some()
    }
}
