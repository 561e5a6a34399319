//! A check whose progress is kept, so that another process goes on within it.
//!
//! A check makes its searches one after the other, always in the same order, and each search makes its runs in an order that does not
//! depend on the process. So what is kept is, for each search that has begun, what its runs have shown and which run is the
//! next one. A search that has found a violation is kept as it was before: the violation is found again.

use interloper_scheduler::{Tally, Traces};
use serde::{Deserialize, Serialize};

use super::outcome::Coverage;
use super::parts::Searched;
use crate::blocks::progress::{Keeper, Progress, Resumed};

/// A search that has begun.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Begun {
    /// What the runs have shown.
    shown: Searched,
    /// Which run is the next one, as numbers.
    pub(super) next: Vec<u64>,
    /// What the program keeps from its runs, as numbers.
    pub(super) program: Vec<u64>,
}

impl Begun {
    /// After so many runs.
    pub(super) fn new(runs: u64, coverage: &Coverage, histories: &Tally, next: Vec<u64>, program: Vec<u64>) -> Begun {
        let histories = histories.clone().into_traces();
        Begun { shown: Searched::new(runs, coverage, &histories, false), next, program }
    }

    /// How many runs there were, and their histories. What they covered is added to what is known of the search.
    pub(super) fn resume(&self, coverage: &mut Coverage) -> (u64, Tally) {
        let histories = Traces::from(&self.shown.histories);
        coverage.executions = self.shown.executions;
        coverage.steps = self.shown.steps;
        coverage.histories = self.shown.apart(&histories);
        (self.shown.runs, Tally::after(histories))
    }
}

/// The searches of a check that is kept.
#[derive(Debug)]
pub(crate) struct Keeping {
    keeper: Keeper,
    /// In the order in which they began, also in an earlier process. A search of which nothing was kept is empty: its violation came
    /// before that.
    searches: Vec<Option<Begun>>,
    /// How many of them have begun in this process.
    begun: usize,
    /// It was said what becomes of the earlier process's work.
    told: bool,
}

impl Keeping {
    pub(super) fn new(keeper: Keeper) -> Keeping {
        let earlier = keeper.earlier().map(Progress::into_searches).unwrap_or_default();
        // A search of another form has no next run, so it begins anew.
        let begun = |(_, kept)| serde_json::from_value(kept).unwrap_or_else(|_| Some(Begun::default()));
        Keeping { keeper, searches: earlier.into_iter().map(begun).collect(), begun: 0, told: false }
    }

    /// The next search begins: how far it was in an earlier process.
    pub(super) fn begin(&mut self) -> Option<Begun> {
        self.begun += 1;
        self.searches.get(self.begun - 1).cloned().flatten()
    }

    /// Whether the search can go on from there.
    pub(super) fn goes_on(&mut self, fits: bool) {
        if !fits {
            self.keeper.tell(Resumed::Anew);
        } else if !self.told {
            self.keeper.tell(Resumed::GoesOn);
        }
        self.told = true;
    }

    pub(super) fn is_due(&self) -> bool {
        self.keeper.is_due()
    }

    /// Keeps how far the last search is.
    pub(super) fn keep(&mut self, begun: Begun) {
        self.searches.resize_with(self.searches.len().max(self.begun), || None);
        self.searches[self.begun - 1] = Some(begun);
        let told = |begun: &Option<Begun>| {
            let executions = begun.as_ref().map_or(0, |begun| begun.shown.executions);
            (executions, serde_json::to_value(begun).expect("plain data is always JSON"))
        };
        self.keeper.keep(|| Progress::of_searches(self.searches.iter().map(told).collect()));
    }
}
