//! Random walk: Algorithm 1 (SIMPLEFUZZER) of C.-S. Park and K. Sen, *Randomized active atomicity violation detection
//! in concurrent programs*, FSE 2008.

use interloper_std::runtime::TaskId;

use crate::decisions::{Question, RandomSource, Source};
use crate::saved::{Times, whole, words};
use crate::strategy::{Pending, Stores, Strategy};

/// Takes one of the enabled operations at every state, all equally likely.
#[derive(Clone, Debug)]
pub struct RandomWalk {
    seed: u64,
    execution: u64,
    source: RandomSource,
}

impl RandomWalk {
    /// The walks of a seed.
    pub fn new(seed: u64) -> RandomWalk {
        RandomWalk::starting_at(seed, 0)
    }

    /// The walks of a seed from the execution of this number on.
    pub fn starting_at(seed: u64, execution: u64) -> RandomWalk {
        RandomWalk { seed, execution, source: RandomSource::new(seed, execution) }
    }
}

impl Strategy for RandomWalk {
    fn begin(&mut self) -> bool {
        self.source = RandomSource::new(self.seed, self.execution);
        self.execution += 1;
        true
    }

    // Line 4: a random transition in Enabled(s).
    #[inline]
    fn choose(&mut self, _: Option<TaskId>, pending: &[Pending]) -> usize {
        if pending.len() == 1 { 0 } else { self.source.below(pending.len() as u32) as usize }
    }

    fn wants_marks(&self) -> bool {
        false
    }

    fn decide(&mut self, question: Question, options: u32) -> u32 {
        self.source.decide(question, options)
    }

    // As `decide`, on a shorter way.
    fn place(&mut self, options: u32, _: &dyn Stores) -> u32 {
        self.source.place(options)
    }

    fn saved(&self) -> Option<Vec<u64>> {
        words(&Times(self.execution))
    }

    fn restore(&mut self, saved: &[u64]) -> bool {
        whole(saved).map(|Times(execution)| self.execution = execution).is_some()
    }
}
