//! How far a search has come, as data: to be kept in a file, to be continued later, and to be joined with what other machines
//! have done.
//!
//! A search at random consists of numbered chunks of executions. What a chunk gives depends on the program, the settings
//! and its number alone, so it does not matter which process runs it. [`Progress`] holds what chunks gave; a search that is
//! given some [`Progress`] skips the chunks in it, and its report is the one that an uninterrupted search gives. Where each execution
//! depends on those before, there are no chunks: what the strategy keeps is kept with what its executions gave.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use interloper_scheduler::strategies::Pair;
use interloper_scheduler::{Fingerprint, Notices, Traces};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::misuse::Misuse;
pub use super::pace::Pace;
use super::report::{SerialCoverage, Warning};
use super::settings::Settings;
use super::subtrees::Subtrees;
use super::unexplored::Seen;
use super::worker::{Found, Summary, Worker};

/// What the executions of a search gave so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Progress {
    /// What the chunks before the first missing one gave together.
    joined: Part,
    /// How many these are.
    next: u64,
    /// Whether the last of them ends the search.
    ended: bool,
    /// Chunks after the first missing one, and whether each ends the search.
    ahead: BTreeMap<u64, (Part, bool)>,
    /// Of parts of an exhaustive search: what they have shown. Such a search has no chunks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    subtrees: Option<Subtrees>,
    /// Of a whole search that tries everything: how far it is. Such a search has no chunks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    underway: Option<Underway>,
    /// Of a search that learns: how far each lane is in what it has learnt.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    lanes: BTreeMap<u64, Learnt>,
    /// Of a check that consists of several searches, as that of a composed operation does: the executions of each, and what its driver
    /// keeps of it. Such a check has no chunks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    searches: Vec<(u64, Value)>,
}

/// What the strategy of a lane has learnt on its way through a stripe.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Learnt {
    pub(super) stripe: u64,
    /// The chunk that it runs next.
    pub(super) next: u64,
    pub(super) strategy: Vec<u64>,
}

/// How far a search is whose executions each depend on those before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Underway {
    /// What the executions gave.
    part: Part,
    /// The engine held a task back in one of them.
    steered: bool,
    /// What the strategy keeps.
    strategy: Vec<u64>,
}

impl Underway {
    pub(super) fn new(summary: &Summary, strategy: Vec<u64>) -> Underway {
        Underway { part: Part::from(summary), steered: summary.steered, strategy }
    }

    /// What the executions gave, and what the strategy keeps. As [`Part::summary`].
    pub(super) fn summary(&self, worker: &mut Worker<'_>, settings: &Settings) -> Result<(Summary, &[u64]), Misuse> {
        let summary = self.part.summary(worker, settings)?;
        Ok((Summary { steered: self.steered, ..summary }, &self.strategy))
    }
}

impl Progress {
    /// The number of executions.
    pub fn executions(&self) -> u64 {
        let ahead = self.ahead.values().map(|(part, _)| part);
        let parts = ahead.chain(self.underway.iter().map(|underway| &underway.part));
        let searches = self.searches.iter().map(|(executions, _)| executions).sum::<u64>();
        self.joined.executions + parts.map(|part| part.executions).sum::<u64>() + searches
    }

    /// Whether a part of a search has come to its end without an execution of its own.
    pub fn is_empty(&self) -> bool {
        self.executions() == 0 && !self.ended && self.subtrees.as_ref().is_none_or(Subtrees::is_empty)
    }

    /// What several shards of one search have done. What two of them have done counts once.
    #[must_use]
    pub fn and(mut self, other: Progress) -> Progress {
        // Of two rows of chunks from the first one on, the longer one contains the other.
        if (other.ended, other.next) > (self.ended, self.next) {
            (self.joined, self.next, self.ended) = (other.joined, other.next, other.ended);
        }
        self.ahead.extend(other.ahead);
        self.ahead.retain(|chunk, _| *chunk >= self.next);
        self.subtrees = match (self.subtrees, other.subtrees) {
            (Some(own), Some(others)) => Some(own.and(others)),
            (own, others) => own.or(others),
        };
        self.underway = self.underway.or(other.underway);
        self
    }

    /// How far the searches of a check are.
    #[cfg(feature = "composed")]
    pub(crate) fn of_searches(searches: Vec<(u64, Value)>) -> Progress {
        Progress { searches, ..Progress::default() }
    }

    #[cfg(feature = "composed")]
    pub(crate) fn into_searches(self) -> Vec<(u64, Value)> {
        self.searches
    }

    pub(super) fn underway(summary: &Summary, strategy: Vec<u64>) -> Progress {
        Progress { underway: Some(Underway::new(summary, strategy)), ..Progress::default() }
    }

    pub(super) fn take_underway(self) -> Option<Underway> {
        self.underway
    }

    pub(super) fn of_subtrees(subtrees: Subtrees) -> Progress {
        Progress { subtrees: Some(subtrees), ..Progress::default() }
    }

    pub(super) fn subtrees(&self) -> Option<&Subtrees> {
        self.subtrees.as_ref()
    }

    /// Without what strategies have learnt: all that joins with other parts.
    #[must_use]
    pub fn without_strategies(mut self) -> Progress {
        self.lanes.clear();
        self
    }

    pub(super) fn lanes(&self) -> &BTreeMap<u64, Learnt> {
        &self.lanes
    }

    pub(super) fn new(
        joined: (&Summary, u64, bool),
        ahead: &BTreeMap<u64, (Summary, bool)>,
        lanes: &BTreeMap<u64, Learnt>,
    ) -> Progress {
        let (summary, next, ended) = joined;
        // What comes after the end of the search does not matter, and whether a thread has run it is chance.
        let end = ahead.iter().find(|(_, (_, ends))| *ends).map(|(chunk, _)| *chunk);
        let matter = ahead.iter().filter(|(chunk, _)| !ended && end.is_none_or(|end| **chunk <= end));
        let ahead = matter.map(|(chunk, (summary, ends))| (*chunk, (Part::from(summary), *ends))).collect();
        Progress { joined: Part::from(summary), next, ended, ahead, lanes: lanes.clone(), ..Progress::default() }
    }

    pub(super) fn joined(&self) -> (&Part, u64, bool) {
        (&self.joined, self.next, self.ended)
    }

    pub(super) fn ahead(&self) -> impl Iterator<Item = (u64, &Part, bool)> {
        self.ahead.iter().map(|(chunk, (part, ends))| (*chunk, part, *ends))
    }
}

/// Something that keeps the progress of a search.
pub trait Keep: Send + Sync {
    /// What an earlier search of the same program with the same settings did.
    fn earlier(&self) -> Option<Progress>;

    /// Whether progress should be kept now. Asked after each chunk, by any thread.
    fn is_due(&self) -> bool;

    /// Keeps the progress: when that is due, and once at the end of the search.
    fn keep(&self, progress: Progress);

    /// Hears what the search does with what an earlier one did.
    fn hear(&self, resumed: Resumed) {
        let _ = resumed;
    }

    /// What the other parts of the search tell, if they can.
    fn notices(&self) -> Option<&dyn Notices> {
        None
    }
}

/// What a search does with the progress of an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resumed {
    /// It goes on from there.
    GoesOn,
    /// The progress does not fit, so the search begins anew.
    Anew,
}

/// Keeps the last progress in memory.
#[derive(Debug, Default)]
pub struct InMemory {
    earlier: Option<Progress>,
    last: Mutex<Option<Progress>>,
}

impl InMemory {
    /// Keeps the progress of a search that goes on after this.
    pub fn after(earlier: Progress) -> InMemory {
        InMemory { earlier: Some(earlier), last: Mutex::default() }
    }

    /// What the search has done, if it has come to its end.
    pub fn take(&self) -> Option<Progress> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Keep for InMemory {
    fn earlier(&self) -> Option<Progress> {
        self.earlier.clone()
    }

    fn is_due(&self) -> bool {
        false
    }

    fn keep(&self, progress: Progress) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(progress);
    }
}

/// What keeps the progress of a search, if anything does.
#[derive(Clone, Default)]
pub struct Keeper(Option<Arc<dyn Keep>>);

impl Keeper {
    /// Keeps progress with `keep`.
    pub fn new(keep: Arc<dyn Keep>) -> Keeper {
        Keeper(Some(keep))
    }

    /// Whether anything keeps progress.
    pub(super) fn keeps(&self) -> bool {
        self.0.is_some()
    }

    pub(crate) fn earlier(&self) -> Option<Progress> {
        self.0.as_ref().and_then(|keep| keep.earlier())
    }

    pub(crate) fn is_due(&self) -> bool {
        self.0.as_ref().is_some_and(|keep| keep.is_due())
    }

    /// The first place where another part has found something, as far as it is known.
    pub(super) fn earliest(&self) -> Option<u64> {
        self.0.as_ref()?.notices()?.earliest(0)
    }

    /// Tells the other parts that something was found.
    pub(super) fn post(&self, place: u64) {
        if let Some(notices) = self.0.as_ref().and_then(|keep| keep.notices()) {
            notices.post(0, place);
        }
    }

    /// Says what the search does with what an earlier one did.
    pub(crate) fn tell(&self, resumed: Resumed) {
        self.0.iter().for_each(|keep| keep.hear(resumed));
    }

    /// Keeps what `progress` gives.
    pub(crate) fn keep(&self, progress: impl FnOnce() -> Progress) {
        if let Some(keep) = &self.0 {
            keep.keep(progress());
        }
    }
}

impl fmt::Debug for Keeper {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Keeper({})", if self.0.is_some() { "…" } else { "nothing" })
    }
}

impl PartialEq for Keeper {
    /// Settings with different keepers are equal.
    fn eq(&self, _: &Keeper) -> bool {
        true
    }
}

/// What some executions gave: a [`Summary`] of executions at random, none of which was a misuse. A part of a long search has many of
/// these, so a document leaves out what says nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Part {
    executions: u64,
    #[serde(skip_serializing_if = "says_nothing")]
    steps: u64,
    #[serde(skip_serializing_if = "says_nothing")]
    violated: u64,
    #[serde(skip_serializing_if = "says_nothing")]
    bugs: u64,
    #[serde(skip_serializing_if = "says_nothing")]
    given_up: u64,
    #[serde(skip_serializing_if = "says_nothing")]
    undecided: u64,
    #[serde(skip_serializing_if = "says_nothing")]
    saw_plain_memory: bool,
    #[serde(skip_serializing_if = "says_nothing")]
    hashed: bool,
    #[serde(skip_serializing_if = "says_nothing")]
    plain_steps: u64,
    #[serde(skip_serializing_if = "says_nothing")]
    weaker: u32,
    /// The number of the execution and its decisions. What it shows follows.
    #[serde(skip_serializing_if = "says_nothing")]
    error: Option<(u64, String)>,
    #[serde(skip_serializing_if = "says_nothing")]
    bug: Option<(u64, String)>,
    /// The block, the object, and the two places.
    #[serde(skip_serializing_if = "says_nothing")]
    warnings: Vec<(String, String, String, String)>,
    /// How often each inferred block ran, and was interrupted.
    #[serde(skip_serializing_if = "says_nothing")]
    inferred: Vec<(u64, u64)>,
    #[serde(skip_serializing_if = "says_nothing")]
    serial: (u64, bool, bool),
    #[serde(skip_serializing_if = "says_nothing")]
    traces: Counted,
    #[serde(skip_serializing_if = "says_nothing")]
    sample: Counted,
    #[serde(skip_serializing_if = "says_nothing")]
    tasks: usize,
    #[serde(skip_serializing_if = "says_nothing")]
    chose: bool,
    #[serde(skip_serializing_if = "says_nothing")]
    drew: bool,
    #[serde(skip_serializing_if = "says_nothing")]
    met: bool,
    #[serde(skip_serializing_if = "says_nothing")]
    blocks: Vec<String>,
}

/// Whether a field of a document has the value that it has when it is left out.
fn says_nothing<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A count of traces.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Counted {
    #[serde(skip_serializing_if = "says_nothing")]
    kept: Vec<(u64, u64)>,
    #[serde(skip_serializing_if = "says_nothing")]
    more: bool,
}

impl From<&Traces> for Counted {
    fn from(traces: &Traces) -> Counted {
        let kept = traces.kept().map(|(Fingerprint(trace), times)| (trace, times)).collect();
        Counted { kept, more: !traces.is_exact() }
    }
}

impl From<&Counted> for Traces {
    fn from(Counted { kept, more }: &Counted) -> Traces {
        Traces::of(kept.iter().map(|(trace, times)| (Fingerprint(*trace), *times)), *more)
    }
}

impl From<&Summary> for Part {
    fn from(summary: &Summary) -> Part {
        let found =
            |found: &Option<Found>| found.as_ref().map(|found| (found.number, format!("{:#}", found.decisions)));
        let warning = |warning: &Warning| {
            let Warning { block, object, first, again } = warning.clone();
            (block, object, first, again)
        };
        let SerialCoverage { executions, complete, interrupted } = summary.serial;
        Part {
            executions: summary.executions,
            steps: summary.steps,
            violated: summary.violated,
            bugs: summary.bugs,
            given_up: summary.given_up,
            undecided: summary.undecided,
            saw_plain_memory: summary.saw_plain_memory,
            hashed: summary.hashed,
            plain_steps: summary.plain_steps,
            weaker: summary.weaker,
            error: found(&summary.error),
            bug: found(&summary.bug),
            warnings: summary.warnings.iter().map(warning).collect(),
            inferred: summary.inferred.iter().map(|pair| (pair.entered, pair.interrupted)).collect(),
            serial: (executions, complete, interrupted),
            traces: Counted::from(&summary.traces),
            sample: Counted::from(&summary.sample),
            tasks: summary.seen.tasks,
            chose: summary.seen.chose,
            drew: summary.seen.drew,
            met: summary.seen.met,
            blocks: summary.seen.blocks.iter().map(|name| (*name).to_owned()).collect(),
        }
    }
}

impl Part {
    pub(super) fn executions(&self) -> u64 {
        self.executions
    }

    /// What a summary says beside the traces of its executions.
    pub(super) fn without_traces(summary: &Summary) -> Part {
        Part { traces: Counted::default(), sample: Counted::default(), ..Part::from(summary) }
    }

    /// The same as a summary. The executions that show something are rerun.
    ///
    /// # Errors
    /// When an execution differs from the recorded one.
    pub(super) fn summary(&self, worker: &mut Worker<'_>, settings: &Settings) -> Result<Summary, Misuse> {
        let mut found = |found: &Option<(u64, String)>| match found {
            Some((number, decisions)) => worker.recall(*number, decisions).map(Some),
            None => Ok(None),
        };
        let (error, bug) = (found(&self.error)?, found(&self.bug)?);
        let warning = |(block, object, first, again): &(String, String, String, String)| Warning {
            block: block.clone(),
            object: object.clone(),
            first: first.clone(),
            again: again.clone(),
        };
        let (executions, complete, interrupted) = self.serial;
        let blocks = settings.marked.iter().filter(|name| self.blocks.iter().any(|ran| ran == *name)).copied();
        let blocks = blocks.collect();
        Ok(Summary {
            executions: self.executions,
            steps: self.steps,
            violated: self.violated,
            bugs: self.bugs,
            given_up: self.given_up,
            undecided: self.undecided,
            saw_plain_memory: self.saw_plain_memory,
            hashed: self.hashed,
            plain_steps: self.plain_steps,
            weaker: self.weaker,
            error,
            bug,
            warnings: self.warnings.iter().map(warning).collect(),
            inferred: self.inferred.iter().map(|&(entered, interrupted)| Pair { entered, interrupted }).collect(),
            serial: SerialCoverage { executions, complete, interrupted },
            traces: Traces::from(&self.traces),
            sample: Traces::from(&self.sample),
            seen: Seen { tasks: self.tasks, chose: self.chose, drew: self.drew, met: self.met, blocks },
            ..Summary::default()
        })
    }
}
