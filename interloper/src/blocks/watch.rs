//! The progress of a check, for a caller that shows it.

use std::fmt;
use std::sync::Arc;

/// What a check is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The search runs executions: how many of its share one thread has run.
    Searching(u64),
    /// The check runs serial orders: how many so far.
    SerialOrders(u64),
    /// The check shrinks a failing execution: how many it has tried.
    Shrinking(u64),
}

/// A function that hears what a check is doing, after each execution. Several threads call it, and it must be quick.
#[derive(Clone, Default)]
pub struct Watch(Option<Arc<dyn Fn(Phase) + Send + Sync>>);

impl Watch {
    /// Calls `watch`.
    pub fn new(watch: impl Fn(Phase) + Send + Sync + 'static) -> Watch {
        Watch(Some(Arc::new(watch)))
    }

    pub(crate) fn note(&self, phase: Phase) {
        if let Some(watch) = &self.0 {
            watch(phase);
        }
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Watch({})", if self.0.is_some() { "…" } else { "nobody" })
    }
}

impl PartialEq for Watch {
    /// Settings with different watches are equal.
    fn eq(&self, _: &Watch) -> bool {
        true
    }
}
