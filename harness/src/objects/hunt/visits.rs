//! What the visits of a search have shown, as data: so another process can continue the search, and several can share it.
//!
//! A search visits schemas: a visit runs one schema as one pass says. What comes of a visit depends on the object, the
//! campaign, the pass and the schema alone, so it does not matter which process makes it. A search that is given [`Visits`]
//! skips the visits in it, and its result is that of a search that makes all of them.

mod native;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use interloper_linearize::schema::Schema;
use interloper_report::sealed;
use interloper_scheduler::{Notices, Shard, Unseen};
use serde::{Deserialize, Serialize};

use super::Coverage;
pub use native::Native;

use crate::object::{MethodId, Program};
use crate::systematic::{Explored, Partial, Resume};

/// What one visit has shown. Under the scheduler a visit with a finding is not kept: it is run again, because a report needs the
/// execution itself. Nor is a visit of a schema that cannot be judged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Visit {
    /// The number of the method that is searched.
    pub method: usize,
    /// The number of the pass, counted from 0; in a search without passes, of the source of schemas.
    pub pass: usize,
    /// The number of the schema, counted from 0, among those of the method; in a search without passes, of the source.
    pub schema: u64,
    /// The hash of its text. Which schema has a number can change from one process to the next: a method whose violation was not found in
    /// time runs in other schemas than one that is at fault, and an object is filled as far as a machine has come in some seconds.
    pub hash: u64,
    /// How many executions there were.
    pub executions: u64,
    /// How many steps they had.
    pub steps: u64,
    /// How many accesses of the program to plain memory were looked at.
    #[serde(skip_serializing_if = "is_zero")]
    pub plain: u64,
    /// How many of its steps were such accesses.
    #[serde(skip_serializing_if = "is_zero")]
    pub plain_steps: u64,
    /// Whether an execution made a hasher with a seed: then the visit ran with several seeds.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub hashed: bool,
    /// How many more executions compared seeds of hashers.
    #[serde(skip_serializing_if = "is_zero")]
    pub compared: u64,
    /// How many accesses of an execution, at most, ran as `SeqCst` with a weaker ordering: see [`Coverage::as_seq_cst`].
    #[serde(skip_serializing_if = "is_zero")]
    pub as_seq_cst: u64,
    /// How many of their traces earlier visits of the schema had not shown.
    pub traces: u64,
    /// Whether there were more traces than are counted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub more_traces: bool,
    /// How many executions ended without an outcome.
    #[serde(skip_serializing_if = "is_zero")]
    pub cut: u64,
    /// Whether every interleaving ran.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub complete: bool,
    /// Whether a call made a step that the scheduler saw.
    pub instrumented: bool,
    /// The numbers of methods whose calls overlapped, each pair with the smaller number first.
    pub pairs: BTreeSet<(usize, usize)>,
    /// Of how many executions drawn at random the traces are counted, in all visits of the schema up to this one.
    #[serde(skip_serializing_if = "is_zero")]
    pub drawn: u64,
    /// Of how many of these the trace came once.
    #[serde(skip_serializing_if = "is_zero")]
    pub once: u64,
    /// Whether the executions have so many steps that an exhaustive search does not pay.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub long: bool,
    /// On real threads: what a visit with a finding has shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub native: Option<Box<Native>>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Visit {
    /// What the executions of a visit have shown, with this many new traces, and perhaps more.
    pub(super) fn of(program: &Program, explored: &Explored, traces: u64, more_traces: bool) -> Visit {
        let method = |call: usize| program.calls()[call].0.0;
        let pairs = explored.overlapped.iter().map(|&(one, other)| (method(one), method(other)));
        Visit {
            executions: explored.executions,
            steps: explored.steps,
            plain: explored.plain,
            plain_steps: explored.plain_steps,
            hashed: explored.hashed,
            compared: explored.compared,
            as_seq_cst: explored.as_seq_cst.into(),
            traces,
            more_traces,
            cut: explored.cut,
            complete: explored.complete,
            instrumented: explored.instrumented,
            pairs: pairs.map(|(one, other)| (one.min(other), one.max(other))).collect(),
            ..Visit::default()
        }
    }

    /// The same at its place.
    pub(super) fn at(self, at: At) -> Visit {
        Visit { method: at.method, pass: at.pass, schema: at.schema, hash: at.hash, ..self }
    }

    /// The same with what its schema's executions say about traces that have not been shown.
    pub(super) fn saw(self, unseen: Unseen) -> Visit {
        Visit { drawn: unseen.executions, once: unseen.once, ..self }
    }

    /// What the executions of its schema say about traces that have not been shown.
    pub(crate) fn unseen(&self) -> Unseen {
        Unseen { executions: self.drawn, once: self.once }
    }
}

impl Coverage {
    /// Adds a visit.
    pub(crate) fn take(&mut self, visit: &Visit) {
        self.steps += visit.steps;
        self.plain += visit.plain;
        self.plain_steps += visit.plain_steps;
        self.hashed |= visit.hashed;
        self.compared += visit.compared;
        self.as_seq_cst = self.as_seq_cst.max(visit.as_seq_cst);
        self.traces += visit.traces;
        self.more_traces |= visit.more_traces;
        self.cut += visit.cut;
        self.complete += u64::from(visit.complete);
        self.instrumented |= visit.instrumented;
        self.pairs.extend(visit.pairs.iter().map(|&(one, other)| (MethodId(one), MethodId(other))));
    }

    /// Whether a known visit says all that this coverage needs of it: the first execution that was cut is shown itself.
    fn can_take(&self, visit: &Visit) -> bool {
        visit.cut == 0 || self.first_cut.is_some()
    }
}

/// Which visit it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct At {
    pub(crate) method: usize,
    pub(crate) schema: u64,
    hash: u64,
    pub(crate) pass: usize,
}

impl At {
    /// The visit of the schema of this number in a pass of the search of a method.
    pub(crate) fn of(method: MethodId, pass: usize, number: u64, schema: &Schema) -> At {
        At { method: method.0, pass, schema: number, hash: sealed::hash(&schema.to_string()) }
    }
}

/// Where a visit comes in the search of a method, which goes through the schemas pass by pass. More schemas than this has bits for are
/// never tried.
fn place(pass: usize, schema: u64) -> u64 {
    const SCHEMAS: u32 = 48;
    (pass as u64) << SCHEMAS | schema.min((1 << SCHEMAS) - 1)
}

/// A part of the search of some methods.
///
/// A part goes on until its own first finding, since it does not know what the others find. So a method that is dealt to many
/// parts costs as many findings. Methods are therefore dealt as wholes, like cards. Only where there are more parts than methods,
/// the parts are dealt to the methods instead, and the parts of a method deal its schemas.
#[derive(Debug)]
struct Share {
    shard: Shard,
    methods: Vec<MethodId>,
    /// How many methods of other objects are dealt before these, and how many methods are dealt in all.
    among: (u64, u64),
}

impl Share {
    /// Which of the parts of a method it is, counted from 0, and how many there are. `None` if it has nothing of the method.
    fn lane(&self, method: MethodId) -> Option<(u64, u64)> {
        let (before, methods) = self.among;
        let at = before + self.methods.iter().position(|one| *one == method)? as u64;
        let (part, parts) = (u64::from(self.shard.number()) - 1, u64::from(self.shard.of()));
        match parts <= methods {
            true => (at % parts == part).then_some((0, 1)),
            false => (part % methods == at).then_some((part / methods, (parts - at).div_ceil(methods))),
        }
    }
}

/// How far the schema has come that a search was at, as data.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Running {
    method: usize,
    pass: usize,
    schema: u64,
    hash: u64,
    partial: Partial,
}

impl Running {
    fn at(&self) -> At {
        At { method: self.method, pass: self.pass, schema: self.schema, hash: self.hash }
    }

    /// How many executions the schema has had.
    pub fn executions(&self) -> u64 {
        self.partial.executions()
    }
}

/// What is given each visit, and the schema that runs.
pub trait KeepVisits {
    /// Keeps a visit.
    fn keep(&mut self, visit: &Visit);

    /// Whether the schema that runs is to be kept now. Asked after each execution.
    fn is_due(&mut self) -> bool;

    /// Keeps the schema that runs, as far as it has come. `None` if that cannot be told.
    fn keep_running(&mut self, running: Option<Running>);
}

/// The visit of a schema that runs, and is kept while it does.
pub(crate) struct Visiting<'v> {
    visits: &'v mut Visits,
    at: At,
}

impl Resume for Visiting<'_> {
    fn keeps(&self) -> bool {
        self.visits.keep.is_some()
    }

    fn earlier(&mut self) -> Option<Partial> {
        self.visits.running.take_if(|running| running.at() == self.at).map(|running| running.partial)
    }

    fn is_due(&mut self) -> bool {
        self.visits.keep.as_mut().is_some_and(|keep| keep.is_due())
    }

    fn keep(&mut self, partial: Option<Partial>) {
        let At { method, pass, schema, hash } = self.at;
        let running = partial.map(|partial| Running { method, pass, schema, hash, partial });
        self.visits.keep.iter_mut().for_each(|keep| keep.keep_running(running.clone()));
    }
}

/// The visits that a search need not make, and what it does with those that it makes.
#[derive(Default)]
pub struct Visits {
    made: BTreeMap<At, Visit>,
    share: Option<Share>,
    /// The schema that an earlier process was at.
    running: Option<Running>,
    keep: Option<Box<dyn KeepVisits>>,
    /// What the parts tell each other of each method, by its number.
    notices: Option<Arc<dyn Notices>>,
}

impl std::fmt::Debug for Visits {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Visits({}, {:?})", self.made.len(), self.share)
    }
}

impl Visits {
    /// These visits were made before. One that is given twice counts once.
    pub fn after(made: impl IntoIterator<Item = Visit>) -> Visits {
        let at = |visit: &Visit| At { method: visit.method, schema: visit.schema, hash: visit.hash, pass: visit.pass };
        Visits { made: made.into_iter().map(|visit| (at(&visit), visit)).collect(), ..Visits::default() }
    }

    /// The same after a process that was at a schema: the search goes on within it.
    #[must_use]
    pub fn within_schema(self, running: Option<Running>) -> Visits {
        Visits { running: running.filter(|running| !self.made.contains_key(&running.at())), ..self }
    }

    /// The same, and each visit that the search makes is given to `keep`.
    #[must_use]
    pub fn kept_by(self, keep: impl KeepVisits + 'static) -> Visits {
        Visits { keep: Some(Box::new(keep)), ..self }
    }

    /// The same for a part that tells the others what it finds, and is told.
    #[must_use]
    pub fn told_by(self, notices: Arc<dyn Notices>) -> Visits {
        Visits { notices: Some(notices), ..self }
    }

    /// Of what is left, only the visits of a part of the search of these methods: see [`Campaign::part`](super::Campaign::part).
    #[must_use]
    pub fn within(self, shard: Shard, methods: &[MethodId]) -> Visits {
        self.within_among(shard, methods, (0, methods.len() as u64))
    }

    /// The same where the methods of several objects are dealt: so many before these, and so many in all.
    #[must_use]
    pub fn within_among(self, shard: Shard, methods: &[MethodId], among: (u64, u64)) -> Visits {
        Visits { share: Some(Share { shard, methods: methods.to_vec(), among }), ..self }
    }

    /// All visits that were made, in the order of their methods, schemas and passes.
    pub fn into_made(self) -> impl Iterator<Item = Visit> {
        self.made.into_values()
    }

    /// How many executions the visits had, with those of the schema that was running.
    pub fn executions(&self) -> u64 {
        let running = self.running.as_ref().map_or(0, Running::executions);
        self.made.values().map(|visit| visit.executions).sum::<u64>() + running
    }

    /// What keeps this visit while it is made.
    pub(crate) fn visiting(&mut self, at: At) -> Visiting<'_> {
        Visiting { visits: self, at }
    }

    /// Whether any schema of a method belongs to this search.
    pub(super) fn has_some(&self, method: MethodId) -> bool {
        self.share.as_ref().is_none_or(|share| share.lane(method).is_some())
    }

    /// Whether a schema of a method belongs to this search.
    pub(crate) fn has(&self, method: MethodId, schema: u64) -> bool {
        let own = |share: &Share| share.lane(method).is_some_and(|(lane, lanes)| schema % lanes == lane);
        self.share.as_ref().is_none_or(own)
    }

    /// Whether some part has found something before the visit of the schema of this number in a pass: the whole search ends there.
    pub(super) fn is_after_finding(&self, method: MethodId, pass: usize, schema: u64) -> bool {
        let earliest = self.notices.as_ref().and_then(|notices| notices.earliest(method.0));
        earliest.is_some_and(|earliest| earliest < place(pass, schema))
    }

    /// Tells the other parts that this visit has found something.
    pub(super) fn post(&self, at: At) {
        if let Some(notices) = &self.notices {
            notices.post(at.method, place(at.pass, at.schema));
        }
    }

    /// What of this many visits in a row belongs to this search.
    pub(super) fn share(&self, method: MethodId, visits: u64) -> u64 {
        let lane = self.share.as_ref().and_then(|share| share.lane(method));
        lane.map_or(visits, |(_, lanes)| visits.div_ceil(lanes))
    }

    /// A visit that was made before, if it says all that is needed.
    pub(crate) fn earlier(&self, at: At, coverage: &Coverage) -> Option<&Visit> {
        self.made.get(&at).filter(|visit| coverage.can_take(visit))
    }

    /// The passes before this one in which the schema was visited.
    pub(super) fn passes_before(&self, at: At) -> impl Iterator<Item = usize> {
        self.made.range(At { pass: 0, ..at }..at).map(|(at, _)| at.pass)
    }

    /// Keeps a visit.
    pub(crate) fn note(&mut self, at: At, visit: Visit) {
        let visit = visit.at(at);
        if let Some(keep) = &mut self.keep {
            keep.keep(&visit);
        }
        self.made.insert(at, visit);
    }
}
