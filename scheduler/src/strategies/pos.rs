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

#[cfg(test)]
mod tests {
    use interloper_std::runtime::Action;

    use super::*;
    use crate::testing::step;

    /// In how many of 10,000 executions one task makes both of the first two steps, where two tasks write to these objects.
    fn stays(objects: [u32; 2]) -> f64 {
        let mut pos = Pos::new(1);
        let pending = |task| {
            let operation = step(task, objects[task as usize], Action::Write).operation;
            Pending { task: TaskId(task), operation }
        };
        let pending = [pending(0), pending(1)];
        let stays = (0..10_000).filter(|_| {
            pos.begin();
            pos.choose(None, &pending) == pos.choose(None, &pending)
        });
        stays.count() as f64
    }

    /// One task has drawn two of three priorities, and the other task has drawn one, which is lower than the first of these: in two
    /// of the three orders that remain, it is the lowest of all. A step on the same object makes it draw again, and then either
    /// task is as likely.
    #[test]
    fn a_task_stays_as_often_as_its_priorities_say() {
        let check = |objects, expected: f64| {
            let stays = stays(objects);
            // Four standard deviations.
            assert!((stays - expected).abs() < 200.0, "{objects:?}: {stays} instead of {expected}");
        };
        check([1, 2], 10_000.0 * 2.0 / 3.0);
        check([1, 1], 10_000.0 / 2.0);
    }
}
