//! Iterative context bounding: M. Musuvathi and S. Qadeer, *Iterative context bounding for systematic testing of
//! multithreaded programs*, PLDI 2007.

use interloper_std::runtime::TaskId;

use crate::decisions::{Coverage, Deviations, Question, Source};
use crate::strategy::{Pending, Strategy};
use crate::{Event, Execution, Shard};

/// Every schedule up to a number of preemptions, in the order of this number: schedules without preemptions first. A switch away
/// from a task that cannot go on is free.
#[derive(Clone, Debug)]
pub struct PreemptionBound {
    search: Deviations,
}

impl PreemptionBound {
    /// All schedules with at most `bound` preemptions.
    pub fn new(bound: u32) -> PreemptionBound {
        PreemptionBound { search: Deviations::new(bound) }
    }

    /// The part of them that belongs to a shard: the schedules without a preemption, and those whose first preemption is dealt to
    /// the shard.
    pub fn part(bound: u32, shard: Shard) -> PreemptionBound {
        PreemptionBound { search: Deviations::part(bound, shard) }
    }

    /// Whether every part of the search runs the current execution.
    pub fn is_shared(&self) -> bool {
        self.search.is_shared()
    }

    /// How many executions had 0, 1, 2, … preemptions, and whether these are all within the bound.
    pub fn coverage(&self) -> Coverage {
        self.search.coverage()
    }

    /// Whether schedules were dropped because too many others wait for their turn.
    pub fn leaves_out(&self) -> bool {
        self.search.leaves_out()
    }
}

impl Strategy for PreemptionBound {
    fn begin(&mut self) -> bool {
        self.search.next_run()
    }

    fn choose(&mut self, current: Option<TaskId>, pending: &[Pending]) -> usize {
        let current = current.and_then(|current| pending.iter().position(|pending| pending.task == current));
        match current {
            _ if pending.len() == 1 => 0,
            None => self.search.decide(Question::Task, pending.len() as u32) as usize,
            Some(current) if !self.search.wants(Question::Environment) => current,
            // The search counts preemptions: answers other than 0 to this question.
            Some(current) => match self.search.decide(Question::Environment, pending.len() as u32) as usize {
                0 => current,
                answer if answer <= current => answer - 1,
                answer => answer,
            },
        }
    }

    fn decide(&mut self, question: Question, options: u32) -> u32 {
        self.search.decide(question, options)
    }

    fn end(&mut self, _: &Execution, _: &[Event]) {
        self.search.end_run();
    }

    fn saved(&self) -> Option<Vec<u64>> {
        self.search.to_words()
    }

    fn restore(&mut self, saved: &[u64]) -> bool {
        self.search.go_on_from(saved).is_some()
    }
}
