//! How far a search has come.

/// The present one of the searches with more and more of weak memory. An access is stale if it does not take the newest place.
///
/// First no access is stale, so what needs no weak memory is shown without, and then any number of them. To go up by one each time
/// would run the executions of all levels before again. Only where something was found does that pay: see
/// [`Exhaustive::with_stale`](super::Exhaustive::with_stale).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Level {
    /// How many stale accesses an execution may have.
    pub(super) bound: u32,
    /// If this is set, each level admits one more stale access than the level before, and all levels admit fewer than this number.
    /// Otherwise the second level is the last one and admits all.
    pub(super) below: Option<u32>,
    /// How many the engine admits.
    pub(super) admitted: u32,
    /// An execution could have had more.
    pub(super) limited: bool,
}

impl Level {
    /// How many such accesses an execution may have.
    pub(super) fn bound(self) -> u32 {
        self.bound.min(self.admitted)
    }

    /// Whether an execution may have any number of such accesses.
    pub(super) fn is_last(self) -> bool {
        self.bound() == u32::MAX
    }

    /// The level after this one, if executions can have more.
    pub(super) fn next(self) -> Option<Level> {
        let bound = if self.below.is_some() { self.bound + 1 } else { u32::MAX };
        let is_more = self.bound() < self.admitted && self.below.is_none_or(|below| bound < below);
        is_more.then_some(Level { bound, limited: false, ..self })
    }
}

/// Why an execution does not count in the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stray {
    /// Its trace turned out to be explored already.
    Redundant,
    /// A planned step was not enabled.
    Infeasible,
    /// What follows belongs to another part of the search.
    Elsewhere,
    /// It was run to learn whether a task waits.
    Probe,
}

/// The progress of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exploration {
    /// The number of executions with different traces.
    pub traces: u64,
    /// The number of further executions, which repeat a trace.
    pub redundant: u64,
    /// The number of executions that were run to learn whether a task waits in a loop: see [`Hint`](crate::strategy::Hint).
    pub probes: u64,
    /// Whether all traces were explored.
    pub complete: bool,
    /// Why some traces were not explored: the first execution that was cut, and how.
    pub cut: Option<Cut>,
    /// Where memory may be weak: all executions were explored in which at most so many accesses take another place than the
    /// newest. `u32::MAX` says that more makes no difference.
    pub older: Option<u32>,
}

/// Why a search is not complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// An execution reached the bound on its steps.
    StepBound,
    /// An execution ended in a livelock.
    Livelock,
    /// The program ended an execution early.
    Failed,
    /// The engine held back a task with many steps in a row, or let the clock pass for a task that polled it:
    /// [`Execution::steered`](crate::Execution::steered).
    Steered,
    /// The search assumed that a task that spins or yields waits for a change, although it may go on without one.
    Hints,
    /// A step that the search relied on was not enabled: the program is not deterministic, or waits in a way that the
    /// search does not see through.
    Infeasible,
}
