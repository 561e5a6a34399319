//! How the schedules of a check are chosen: what a [`Schedule`] knows about the program, and where the blocks are.

use interloper_scheduler::schedule::{FREE_EVERY, Plan, Schedule, Search};
use interloper_scheduler::strategies::{AtomFuzzer, Profile};
use interloper_scheduler::{Around, Pending, Shard, Strategy};
use interloper_std::runtime::{Action, Operation, TaskId};

use super::sections::{Blocks, Rule, Tracker};

/// What the random strategies know about the program beforehand, so that a schedule is a function of the seed and its
/// number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Measured {
    /// The length of an execution, as PCT measures it.
    pub(crate) steps: u64,
    pub(crate) profile: Profile,
    /// What its blocks are.
    pub(crate) rule: Rule,
}

impl Measured {
    /// The strategy of a schedule, about to make the execution of the number `round` · the number of members.
    ///
    /// # Panics
    /// If q lies outside 0 to 1.
    pub(crate) fn search(&self, schedule: &Schedule, seed: u64, round: u64, shard: Shard) -> Search {
        let announcing =
            |fuzzer: AtomFuzzer| -> Box<dyn Strategy> { Box::new(Announcing::new(fuzzer, self.rule.clone())) };
        let announce: Option<&dyn Fn(AtomFuzzer) -> Box<dyn Strategy>> = match self.rule.blocks() {
            Blocks::Marked | Blocks::Inferred => None,
            Blocks::CriticalSections => Some(&announcing),
        };
        let (length, profile) = (Some(self.steps), Some(self.profile.clone()));
        let inferred = self.rule.inferred().clone();
        schedule.search(&Plan { seed, round, length, profile, free_every: FREE_EVERY, announce, inferred, shard })
    }
}

/// Tells a strategy that critical sections begin and end as if they were marked.
struct Announcing<S> {
    strategy: S,
    tracker: Tracker,
}

impl<S> Announcing<S> {
    fn new(strategy: S, rule: Rule) -> Announcing<S> {
        Announcing { strategy, tracker: Tracker::new(rule) }
    }
}

impl<S: Strategy> Around for Announcing<S> {
    interloper_scheduler::inner_strategy!(strategy: S);

    fn around_begin(&mut self) -> bool {
        self.tracker.reset();
        self.strategy.begin()
    }

    fn around_choose(&mut self, current: Option<TaskId>, pending: &[Pending]) -> usize {
        let index = self.strategy.choose(current, pending);
        let Pending { task, operation } = pending[index];
        let before = self.tracker.in_section(task);
        self.tracker.note(task, operation);
        let action = match (before, self.tracker.in_section(task)) {
            (false, true) => Action::BlockBegin(0),
            (true, false) => Action::BlockEnd,
            _ => return index,
        };
        // There is nothing to choose: the strategy only sees a step of the task.
        self.strategy.choose(current, &[Pending { task, operation: Operation { action, ..operation } }]);
        index
    }
}
