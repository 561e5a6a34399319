//! What real threads have shown.

use std::collections::BTreeMap;
use std::time::Duration;

use interloper_commutativity::Value;
use serde::{Deserialize, Serialize};

use super::pace::Pace;

/// What was seen.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed {
    /// How often each outcome came: the results of the invocations in text order.
    pub outcomes: BTreeMap<Vec<Value>, u64>,
    /// How many executions there were: the sum of the counts.
    pub executions: u64,
    /// How long it took, with the making and dropping of the objects.
    pub took: Duration,
    /// How many threads each team had, and how many teams there were.
    pub threads: usize,
    /// See `threads`.
    pub teams: usize,
    /// In how many of the measured executions sequences really overlapped.
    pub overlap: Overlap,
    /// The pace that most executions went at.
    pub pace: Pace,
    /// Why it ended.
    pub end: End,
}

/// In how many of the executions that were stamped two concurrent sequences really overlapped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overlap {
    /// The executions that were stamped.
    pub stamped: u64,
    /// The measured executions in which sequences overlapped.
    pub overlapping: u64,
}

/// Why a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// The budget is used up.
    Enough,
    /// The function that looked at the outcomes ended the run.
    Stopped,
    /// Calls did not return within [`Settings::patience`](super::Settings::patience). Their threads are left running.
    /// The counts are from shortly before that moment; no outcome is missing.
    Blocked(Vec<Blocked>),
    /// The constructor panicked with this message.
    ConstructorPanicked(String),
    /// Dropping an object panicked with this message.
    DropPanicked(String),
}

/// Where a thread is stuck.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Blocked {
    /// In the invocation with this index in text order.
    Call(usize),
    /// In the constructor.
    Constructor,
    /// Where an object is dropped.
    Drop,
}

impl Observed {
    /// Executions a second.
    pub fn rate(&self) -> f64 {
        self.executions as f64 / self.took.as_secs_f64().max(1e-9)
    }

    /// The share of executions in which sequences overlapped; `None` if nothing was measured.
    pub fn overlapping(&self) -> Option<f64> {
        (self.overlap.stamped > 0).then(|| self.overlap.overlapping as f64 / self.overlap.stamped as f64)
    }
}
