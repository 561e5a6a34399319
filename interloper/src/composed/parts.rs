//! A check in parts: what the searches of each part have shown, as data, and how a check goes on from what all parts have shown.
//!
//! An exhaustive search is split by first deviations ([`Deviations::part`](interloper_scheduler::decisions::Deviations::part)), a
//! search at random by the numbers of its executions. Joined, the parts give what the whole search gives as long as nothing was
//! found and nothing was cut. Otherwise the search runs again as a whole: what it finds first depends on the order of its
//! executions. That is no more work than one machine has until it comes to the finding. So a part that is told that another one has
//! found something ends its search ([`Notices`]).

use std::sync::Arc;

use interloper_scheduler::{Shard, Tally, Traces};
use serde::{Deserialize, Serialize};

use super::explore::Found;
use super::histories::Numbers;
use super::kept::Keeping;
use super::outcome::Coverage;
use crate::Notices;
use crate::blocks::progress::Counted;

/// What some parts of a check have shown: of the open environment first, then of the program's own where all parts have found a
/// violation before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Parts {
    searches: Vec<Searched>,
}

/// What some parts of a search have shown. An execution that all parts make counts in the first one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Searched {
    /// How often the method ran, with the runs in which the environment had to wait.
    pub(super) runs: u64,
    pub(super) executions: u64,
    pub(super) steps: u64,
    /// The histories, unless each execution has one of its own.
    pub(super) histories: Counted,
    /// Only the whole search says what the parts amount to.
    open: bool,
}

impl Parts {
    /// The number of executions.
    pub fn executions(&self) -> u64 {
        self.searches.iter().map(|searched| searched.executions).sum()
    }

    /// Whether no execution counts here, although the check was made.
    pub fn is_empty(&self) -> bool {
        let is_empty = |searched: &Searched| searched.executions == 0 && !searched.open;
        !self.searches.is_empty() && self.searches.iter().all(is_empty)
    }

    /// What other parts have shown, too. A search that some part has not begun has not been split.
    #[must_use]
    pub fn and(self, other: Parts) -> Parts {
        let both = self.searches.into_iter().zip(other.searches);
        Parts { searches: both.map(|(one, other)| one.and(other)).collect() }
    }
}

impl Searched {
    /// So many runs of a search, of which `coverage` says what they covered.
    pub(super) fn new(runs: u64, coverage: &Coverage, histories: &Traces, open: bool) -> Searched {
        let Coverage { executions, steps, .. } = *coverage;
        Searched { runs, executions, steps, histories: Counted::from(histories), open }
    }

    /// How many executions had histories of their own, without being told apart by them.
    pub(super) fn apart(&self, histories: &Traces) -> u64 {
        self.executions.saturating_sub(histories.kept().map(|(_, times)| times).sum())
    }

    fn and(self, other: Searched) -> Searched {
        let mut histories = Traces::from(&self.histories);
        histories.merge(&Traces::from(&other.histories));
        Searched {
            runs: self.runs + other.runs,
            executions: self.executions + other.executions,
            steps: self.steps + other.steps,
            histories: Counted::from(&histories),
            open: self.open || other.open,
        }
    }
}

/// How much of its searches a check makes.
#[derive(Debug, Default)]
pub(crate) enum Split {
    /// All of them.
    #[default]
    Whole,
    /// A part of each.
    Part(Own),
    /// None that parts have made.
    Joined(std::vec::IntoIter<Searched>),
    /// What an earlier process has not made.
    Kept(Keeping),
}

/// A part of a check.
#[derive(Debug)]
pub(crate) struct Own {
    shard: Shard,
    /// What it has shown.
    parts: Parts,
    notices: Option<Arc<dyn Notices>>,
    /// Another part has found something in the last search, and this one has not.
    told: bool,
}

impl Own {
    /// Whether another part has found something in the current search.
    fn is_told(&self) -> bool {
        self.notices.as_ref().is_some_and(|notices| notices.earliest(self.parts.searches.len()).is_some())
    }
}

impl Split {
    pub fn part(shard: Shard, notices: Option<Arc<dyn Notices>>) -> Split {
        Split::Part(Own { shard, parts: Parts::default(), notices, told: false })
    }

    /// Whether another part has found something in the current search. If so, the merge reruns the whole search up to its first
    /// finding, and this part can stop.
    pub fn is_told(&self) -> bool {
        matches!(self, Split::Part(own) if own.is_told())
    }

    /// Whether another part has found something in the last search, and this one has not.
    pub fn was_told(&self) -> bool {
        matches!(self, Split::Part(own) if own.told)
    }

    pub fn joined(parts: Parts) -> Split {
        Split::Joined(parts.searches.into_iter())
    }

    /// What the parts of a check have shown.
    pub fn into_parts(self) -> Parts {
        match self {
            Split::Part(own) => own.parts,
            Split::Whole | Split::Joined(_) | Split::Kept(_) => Parts::default(),
        }
    }

    /// The part of a search that is to be made.
    pub fn shard(&self) -> Shard {
        match self {
            Split::Part(own) => own.shard,
            Split::Whole | Split::Joined(_) | Split::Kept(_) => Shard::WHOLE,
        }
    }

    pub fn is_part(&self) -> bool {
        matches!(self, Split::Part(..))
    }

    /// What the searches are kept with, if they are.
    pub fn keeping(&mut self) -> Option<&mut Keeping> {
        match self {
            Split::Kept(keeping) => Some(keeping),
            Split::Whole | Split::Part(_) | Split::Joined(_) => None,
        }
    }

    /// What histories are told apart by. Each process numbers calls and states in the order in which it meets them.
    pub fn numbers(&self) -> Numbers {
        match self {
            Split::Part(_) | Split::Kept(_) => Numbers::Forgotten,
            Split::Whole | Split::Joined(_) => Numbers::Kept,
        }
    }

    /// The next search, if its parts say all of it. `limit` is the number of runs that it may have.
    pub fn known(&mut self, coverage: &Coverage, limit: Option<u64>) -> Option<Found> {
        let Split::Joined(searches) = self else { return None };
        let searched = searches.next()?;
        let histories = Traces::from(&searched.histories);
        if searched.open || !histories.is_exact() || limit.is_some_and(|limit| searched.runs > limit) {
            return None;
        }
        let apart = searched.apart(&histories);
        let coverage = Coverage {
            executions: searched.executions,
            steps: searched.steps,
            histories: apart + histories.number(),
            unseen: (coverage.random && searched.executions > 0).then(|| histories.unseen()),
            complete: !coverage.random,
            ..coverage.clone()
        };
        Some(Found { coverage, violation: None, cut: false })
    }

    /// Takes note of a search of which `runs` were made, if this is a part.
    pub fn note(&mut self, runs: u64, found: &Found, histories: Tally) {
        let Split::Part(own) = self else { return };
        let Found { coverage, violation, cut } = found;
        own.told = violation.is_none() && own.is_told();
        if let (Some(_), Some(notices)) = (violation, &own.notices) {
            notices.post(own.parts.searches.len(), 0);
        }
        let open = violation.is_some() || own.told || *cut || !(coverage.random || coverage.complete);
        own.parts.searches.push(Searched::new(runs, coverage, &histories.into_traces(), open));
    }
}
