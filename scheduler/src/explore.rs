//! Runs one execution after another.

use std::ops::ControlFlow;

use crate::engine::Engine;
use crate::execution::Execution;
use crate::strategy::Strategy;

/// How many executions to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Executions {
    /// All executions of the strategy; a random strategy never ends.
    All,
    /// At most this many.
    AtMost(u64),
}

impl Executions {
    /// What is left after so many.
    #[must_use]
    pub fn after(self, made: u64) -> Executions {
        match self {
            Executions::All => Executions::All,
            Executions::AtMost(most) => Executions::AtMost(most.saturating_sub(made)),
        }
    }
}

/// The result of an exploration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explored<B> {
    /// How many executions ran.
    pub executions: u64,
    /// Why the exploration ended.
    pub stopped: Stopped<B>,
}

/// Why an exploration ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stopped<B> {
    /// The strategy had no execution left.
    Exhausted,
    /// The number of executions was reached.
    Limit,
    /// The judge of the executions ended it.
    Broken(B),
}

impl Engine {
    /// Runs `program` again and again under `strategy`. After each execution `judge` sees the result and says whether to
    /// continue; at that moment the engine still has the trace and the decisions. Executions that the strategy discards are not
    /// shown, and do not count.
    ///
    /// # Panics
    /// As [`Engine::run`].
    #[track_caller]
    pub fn explore<B>(
        &mut self,
        strategy: &mut dyn Strategy,
        executions: Executions,
        mut program: impl FnMut(),
        mut judge: impl FnMut(&Engine, Execution) -> ControlFlow<B>,
    ) -> Explored<B> {
        let mut made = 0;
        let stopped = loop {
            if matches!(executions, Executions::AtMost(most) if made >= most) {
                break Stopped::Limit;
            }
            if !strategy.begin() {
                break Stopped::Exhausted;
            }
            let execution = self.run(strategy, &mut program);
            strategy.end(&execution, &self.trace());
            if strategy.discards() {
                continue;
            }
            made += 1;
            if let ControlFlow::Break(broken) = judge(self, execution) {
                break Stopped::Broken(broken);
            }
        };
        Explored { executions: made, stopped }
    }
}
