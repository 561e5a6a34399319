//! One execution after the other.

use std::ops::ControlFlow;

use crate::engine::Engine;
use crate::execution::Execution;
use crate::strategy::Strategy;

/// How many executions are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Executions {
    /// All that the strategy has; for ever, for a random one.
    All,
    /// At most this many.
    AtMost(u64),
}

/// What an exploration came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explored<B> {
    /// How many executions were made.
    pub executions: u64,
    /// Why there were no more.
    pub stopped: Stopped<B>,
}

/// Why an exploration has stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stopped<B> {
    /// The strategy had none left.
    Exhausted,
    /// The number of executions was reached.
    Limit,
    /// Whoever judged the executions said so.
    Broken(B),
}

impl Engine {
    /// Runs `program` again and again under `strategy`. After each execution `judge` sees what came of it and says
    /// whether to go on; the engine still has its trace and its decisions then.
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
            made += 1;
            if let ControlFlow::Break(broken) = judge(self, execution) {
                break Stopped::Broken(broken);
            }
        };
        Explored { executions: made, stopped }
    }
}
