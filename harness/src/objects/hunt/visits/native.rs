//! What real threads have shown in a visit with a finding, as data. No process repeats it, so a report is made of what was kept.

use std::collections::BTreeMap;
use std::time::Duration;

use interloper_commutativity::Value;
use serde::{Deserialize, Serialize};

use super::super::{Attempt, Runs};
use crate::kept::{Kept, kept, values};
use crate::stress::{End, Observed, Overlap, Pace};

/// The executions of a schema on real threads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Native {
    /// How often each outcome came: the results of the calls in text order.
    outcomes: Vec<(Vec<Kept>, u64)>,
    /// The outcome that is not correct, unless something else ended the executions.
    wrong: Option<Vec<Kept>>,
    /// In microseconds.
    took: u64,
    threads: usize,
    teams: usize,
    overlap: Overlap,
    end: End,
}

impl Native {
    /// What an attempt on real threads has shown. `None` if the scheduler ran it.
    pub(in super::super) fn of(attempt: &Attempt) -> Option<Native> {
        let Runs::Stress(Observed { outcomes, executions: _, took, threads, teams, overlap, pace: _, end }) =
            &attempt.runs
        else {
            return None;
        };
        Some(Native {
            outcomes: outcomes.iter().map(|(outcome, count)| (kept(outcome), *count)).collect(),
            wrong: attempt.wrong.as_deref().map(kept),
            took: u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
            threads: *threads,
            teams: *teams,
            overlap: *overlap,
            end: end.clone(),
        })
    }

    /// The same as an observation, with the outcome that is not correct. `None` if it is not one of so many calls.
    pub(in super::super) fn observed(&self, calls: usize) -> Option<(Observed, Option<Vec<Value>>)> {
        let outcomes: BTreeMap<Vec<Value>, u64> =
            self.outcomes.iter().map(|(outcome, count)| (values(outcome), *count)).collect();
        let wrong = self.wrong.as_deref().map(values);
        if !outcomes.keys().chain(&wrong).all(|outcome| outcome.len() == calls) {
            return None;
        }
        let observed = Observed {
            executions: outcomes.values().fold(0, |sum, count| sum.saturating_add(*count)),
            outcomes,
            took: Duration::from_micros(self.took),
            threads: self.threads,
            teams: self.teams,
            overlap: self.overlap,
            pace: Pace::default(),
            end: self.end.clone(),
        };
        Some((observed, wrong))
    }
}
