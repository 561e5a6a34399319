//! The search for a schema with an incorrect outcome (*Exposing non-atomic methods*, Algorithm 1).

mod apart;
mod blame;
mod campaign;
mod engine;
mod minimise;
mod passes;
mod slices;
#[cfg(test)]
mod tests;
mod together;
mod visits;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use interloper_commutativity::Value;
use interloper_linearize::outcomes::DEFAULT_BOUND;
use interloper_linearize::schema::Schema;
use interloper_linearize::visibility::Visibility;
use interloper_scheduler::decisions::Decisions;
use interloper_scheduler::{Deadline, Fault, Freedoms, Unseen};

use crate::judge::{Disagreement, Judge, Refusal};
use crate::judged::{self, PATIENCE};
use crate::object::{MethodId, Object, Program};
use crate::schemas::{self, Bounds, Enumeration, Pool, Sampler, ranks};
use crate::stress::{Blocked, Next};
use crate::systematic::{self, Anew, Explored, Limits, Resume, Trace};

pub use apart::Faulty;
pub use campaign::{Campaign, Reproduced, Searched};
pub use engine::{Engine, Runs};
use minimise::changed;
pub use minimise::{Minimised, minimise};
pub use passes::{HASHER_SEEDS, Pass};
pub use together::{Pair, Rest, Together};
pub(crate) use visits::At;
pub use visits::{KeepVisits, Native, Running, Visit, Visits};

/// How an object is searched.
#[derive(Clone, Debug)]
pub struct Hunt {
    /// The object.
    pub object: Object,
    /// Which methods are called.
    pub pool: Pool,
    /// Which schemas are tried, in which order.
    pub source: Source,
    /// The visibility that the methods are allowed to have.
    pub visibility: Visibility,
    /// The engine that runs each schema.
    pub engine: Engine,
    /// The most configurations to explore for the correct outcomes of a schema.
    pub bound: usize,
    /// The most schemas to try; `None` for all.
    pub schemas: Option<u64>,
    /// The search ends after this time, in the middle of a schema if need be; `None` for no limit.
    pub time: Option<Duration>,
}

/// Where schemas come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// At random, without end.
    Random {
        /// How large they are.
        bounds: Bounds,
        /// Which ones.
        seed: u64,
    },
    /// By rank, smallest first, and within a rank in random order: see [`Enumeration`] for the pools that have such schemas.
    ByRank {
        /// How large they are.
        bounds: Bounds,
        /// Determines the order of the schemas within a rank.
        seed: u64,
    },
    /// These.
    Given(Vec<Schema>),
    /// Those of another source, and `schemas` after so many of them.
    With {
        /// The other source.
        source: Box<Source>,
        /// How many of its schemas come first.
        after: usize,
        /// What comes then.
        schemas: Vec<Schema>,
    },
}

impl Hunt {
    /// A search for violations by these methods: random schemas of the default bounds, on real threads, a twentieth of a
    /// second each.
    pub fn new(object: &Object, pool: Pool, seed: u64) -> Hunt {
        Hunt {
            object: object.clone(),
            pool,
            source: Source::Random { bounds: Bounds::default(), seed },
            visibility: object.visibility().clone(),
            engine: Engine::stress(seed),
            bound: DEFAULT_BOUND,
            schemas: None,
            time: None,
        }
    }

    /// Tries schemas until one shows an incorrect outcome, or the budget is used up. `watch` sees the progress.
    ///
    /// An object that differs from its model on one thread does not run on several threads: findings there would mean
    /// nothing until the object or the model is fixed. Therefore the first schema with a difference ends the search. Without
    /// a model, the object is compared with its own sequential behaviour.
    pub fn run(&self, watch: &mut dyn FnMut(&Progress<'_>) -> Next) -> Hunted {
        self.run_after(&mut Visits::default(), (MethodId(0), 0), watch)
    }

    /// The same, without the visits that were made before. `of` says which method is searched, with which of the sources of
    /// its campaign.
    pub(crate) fn run_after(
        &self,
        visits: &mut Visits,
        of: (MethodId, usize),
        watch: &mut dyn FnMut(&Progress<'_>) -> Next,
    ) -> Hunted {
        let start = Instant::now();
        let mut hunted = Hunted::nothing();
        let deadline = self.engine.deadline().and(Deadline::of(self.time));
        let mut engine = self.engine.until(deadline);
        for (number, schema) in (0..).zip(self.source.schemas(&self.object, &self.pool)) {
            let out_of_time = deadline.is_over();
            let over = out_of_time || self.schemas.is_some_and(|most| number >= most);
            let progress = Progress {
                schema: &schema,
                schemas: hunted.schemas,
                executions: hunted.executions,
                took: start.elapsed(),
                smaller: None,
            };
            if over || watch(&progress) == Next::Stop {
                hunted.end = if out_of_time { Ended::OutOfTime } else { Ended::Enough };
                break;
            }
            if !visits.has(of.0, number) {
                continue;
            }
            if visits.is_after_finding(of.0, of.1, number) {
                hunted.end = Ended::Enough;
                break;
            }
            let at = At::of(of.0, of.1, number, &schema);
            hunted.schemas += 1;
            if let Some(visit) = visits.earlier(at, &hunted.coverage) {
                hunted.executions += visit.executions;
                hunted.coverage.take(visit);
                hunted.coverage.see(visit.unseen());
                let Some(native) = &visit.native else { continue };
                match self.recalled(&schema, native, deadline) {
                    Some(found) => {
                        hunted.end = Ended::Found(Box::new(found));
                        break;
                    }
                    // It is not of this object.
                    None => hunted.executions -= visit.executions,
                }
            }
            match self.object.program(&schema).map_err(Refusal::Model) {
                Err(refusal) => hunted.skipped.push((schema, refusal)),
                Ok(program) => {
                    match attempt_kept(&program, (&self.visibility, self.bound), &mut engine, &mut visits.visiting(at))
                    {
                        Err(Refusal::OutOfTime) => {
                            hunted.schemas -= 1;
                            hunted.end = Ended::OutOfTime;
                            break;
                        }
                        Err(refusal) => {
                            let disagrees = matches!(refusal, Refusal::Disagreement(_));
                            hunted.skipped.push((schema, refusal));
                            if disagrees {
                                hunted.end = Ended::Disagreement;
                                break;
                            }
                        }
                        Ok(attempt) => {
                            let executions = attempt.runs.executions();
                            hunted.executions += executions;
                            let visit = hunted.coverage.note(&program, &attempt.runs, &engine);
                            let visit = visit.unwrap_or(Visit { executions, ..Visit::default() });
                            let cut_short = attempt.runs.timed_out(deadline);
                            let native = Native::of(&attempt).map(Box::new);
                            if let Some(found) = attempt.finding(&schema) {
                                visits.post(at);
                                if native.is_some() {
                                    visits.note(at, Visit { native, ..visit });
                                }
                                hunted.end = Ended::Found(Box::new(found));
                                break;
                            }
                            if cut_short {
                                hunted.end = Ended::OutOfTime;
                                break;
                            }
                            visits.note(at, visit);
                        }
                    }
                }
            }
        }
        hunted.took = start.elapsed();
        hunted
    }

    /// The finding that real threads have shown in another process.
    fn recalled(&self, schema: &Schema, native: &Native, deadline: Deadline) -> Option<Found> {
        let program = self.object.program(schema).ok()?;
        let (observed, wrong) = native.observed(program.calls().len())?;
        let (judge, _) = judged::within(&program, &self.visibility, self.bound, PATIENCE, deadline).ok()?;
        let wrong = wrong.filter(|outcome| !judge.admits(outcome));
        Attempt { runs: Runs::Stress(observed), judge, wrong }.finding(schema)
    }
}

impl Source {
    /// The schemas.
    pub(crate) fn schemas(&self, object: &Object, pool: &Pool) -> Box<dyn Iterator<Item = Schema>> {
        let of_object = object.clone();
        let to_the_end = move |schema| schemas::ended(&of_object, schema);
        match self {
            Source::Random { bounds, seed } => {
                Box::new(Sampler::new(object, pool.clone(), bounds.clone(), *seed).map(to_the_end))
            }
            Source::ByRank { bounds, seed } => {
                let ranks = ranks(object, pool, bounds).into_iter();
                let (object, pool, constraints, seed) = (object.clone(), pool.clone(), bounds.constraints, *seed);
                let of_rank = move |rank| Enumeration::new(&object, &pool, rank, constraints).shuffled(seed);
                Box::new(ranks.flat_map(of_rank).map(to_the_end))
            }
            Source::Given(schemas) => Box::new(schemas.clone().into_iter()),
            Source::With { source, after, schemas } => {
                let [first, rest] = [source.schemas(object, pool), source.schemas(object, pool)];
                Box::new(first.take(*after).chain(schemas.clone()).chain(rest.skip(*after)))
            }
        }
    }
}

/// The results of a schema of one sequence, if it has any.
fn alone(object: &Object, schema: &Schema) -> Option<Vec<Value>> {
    let program = object.program(schema).ok()?;
    let judged = judged::within(&program, object.visibility(), DEFAULT_BOUND, PATIENCE, Deadline::NEVER);
    let (mut judge, _) = judged.ok()?;
    judge.admitted(1).pop()
}

/// The result of running one program.
pub(crate) struct Attempt {
    pub(crate) runs: Runs,
    judge: Judge,
    /// The incorrect outcome, if the program showed one.
    pub(crate) wrong: Option<Vec<Value>>,
}

/// Runs a program until it shows an incorrect outcome, or the budget is used up.
pub(crate) fn attempt(
    program: &Program,
    visibility: &Visibility,
    bound: usize,
    engine: &mut Engine,
) -> Result<Attempt, Refusal> {
    attempt_kept(program, (visibility, bound), engine, &mut Anew)
}

/// The same for a run that is kept while it lasts.
pub(crate) fn attempt_kept(
    program: &Program,
    judged_by: (&Visibility, usize),
    engine: &mut Engine,
    keep: &mut dyn Resume,
) -> Result<Attempt, Refusal> {
    let is_native = matches!(engine, Engine::Stress(_));
    attempt_by(program, judged_by, engine.deadline(), |judge, look| match judge.blocks() {
        Some(call) if is_native => Err(Refusal::Blocked(call)),
        _ => Ok(engine.run_kept(program, look, keep)),
    })
}

/// The same for executions that `run` makes: it shows the outcomes to a judge.
fn attempt_by(
    program: &Program,
    (visibility, bound): (&Visibility, usize),
    deadline: Deadline,
    run: impl FnOnce(&Judge, &mut dyn FnMut(&[Value]) -> Next) -> Result<Runs, Refusal>,
) -> Result<Attempt, Refusal> {
    let (judge, _) = judged::within(program, visibility, bound, PATIENCE, deadline)?;
    let mut wrong = None;
    let mut look = |outcome: &[Value]| {
        if judge.admits(outcome) {
            return Next::Continue;
        }
        wrong = Some(outcome.to_vec());
        Next::Stop
    };
    let runs = run(&judge, &mut look)?;
    Ok(Attempt { runs, judge, wrong })
}

impl Attempt {
    /// The finding to report, if there is one.
    pub(crate) fn finding(mut self, schema: &Schema) -> Option<Found> {
        let what = match self.runs.failure() {
            Some(what) => what,
            None => What::Outcome { outcome: self.wrong?, admitted: self.judge.admitted(ADMITTED_SHOWN) },
        };
        let frequency = |(outcome, count): (&Vec<Value>, &u64)| Frequency {
            right: self.judge.admits(outcome),
            outcome: outcome.clone(),
            count: *count,
        };
        let frequencies = self.runs.outcomes().iter().map(frequency).collect();
        Some(Found { schema: schema.clone(), what, frequencies, runs: self.runs })
    }
}

/// Runs the execution of a schema that these decisions determine. Also says whether its outcome is correct. `None` if
/// the decisions do not fit the schema.
///
/// # Errors
/// If the correct outcomes cannot be computed.
pub fn replay(
    object: &Object,
    schema: &Schema,
    limits: Limits,
    decisions: &Decisions,
) -> Result<Option<(Found, bool)>, Refusal> {
    let program = object.program(schema).map_err(Refusal::Model)?;
    let (mut judge, _) = judged::within(&program, object.visibility(), DEFAULT_BOUND, PATIENCE, Deadline::NEVER)?;
    // The decisions say which freedoms the execution used.
    let limits = Limits { freedoms: Freedoms::UNBOUNDED, ..limits };
    let Some(trace) = systematic::replay(&program, limits, decisions) else { return Ok(None) };
    let outcome = trace.outcome.clone();
    let runs = Runs::Systematic(Box::new(Explored { executions: 1, stopped: Some(trace), ..Explored::default() }));
    let failure = runs.failure();
    let right = failure.is_none() && judge.admits(&outcome);
    let what = failure.unwrap_or_else(|| What::Outcome { outcome, admitted: judge.admitted(ADMITTED_SHOWN) });
    Ok(Some((Found { schema: schema.clone(), what, frequencies: Vec::new(), runs }, right)))
}

/// How many of the correct outcomes a finding shows.
pub const ADMITTED_SHOWN: usize = 64;

/// The progress of a search.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'h> {
    /// The schema that is tried next.
    pub schema: &'h Schema,
    /// How many were tried before it.
    pub schemas: u64,
    /// How many executions they had.
    pub executions: u64,
    /// How long that took.
    pub took: Duration,
    /// While the schema of a finding is made smaller: how many smaller schemas were tried before this one. They do not
    /// count as schemas of the search.
    pub smaller: Option<u64>,
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Hunted {
    /// How many schemas were tried.
    pub schemas: u64,
    /// How many executions they had.
    pub executions: u64,
    /// How many steps the executions had, and how many traces, if the scheduler ran them.
    pub coverage: Coverage,
    /// How long it took.
    pub took: Duration,
    /// The schemas whose correct outcomes are unknown, and why.
    pub skipped: Vec<(Schema, Refusal)>,
    /// Why it ended.
    pub end: Ended,
}

/// What the executions of a search under the scheduler cover.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Coverage {
    /// How many steps the executions had.
    pub steps: u64,
    /// How many accesses of the program to plain memory were looked at.
    pub plain: u64,
    /// How many of its steps were such accesses.
    pub plain_steps: u64,
    /// Whether an execution made a hasher with a seed.
    pub hashed: bool,
    /// How many more executions, without preemptions, compared seeds of hashers. They are no executions of the search: their outcomes
    /// are not looked at.
    pub compared: u64,
    /// How many accesses of an execution to atomics, at most, ran as `SeqCst` with a weaker ordering: memory was sequentially
    /// consistent.
    pub as_seq_cst: u64,
    /// The sum over the schemas of the different Mazurkiewicz traces that the executions of each belong to.
    pub traces: u64,
    /// Whether there were more traces than are counted.
    pub more_traces: bool,
    /// For random schedules: what the executions say about the traces of their schemas that they have not shown. This
    /// leaves out schemas whose executions ended with a finding.
    pub unseen: Option<Unseen>,
    /// How many executions were ended without an outcome, in a livelock or at the bound on their steps.
    pub cut: u64,
    /// Of how many schemas every interleaving ran.
    pub complete: u64,
    /// Whether a call made a step that the scheduler saw. If none did, the object is not written over the mirror of std, and
    /// only whole calls were interleaved.
    pub instrumented: bool,
    /// The pairs of methods whose calls overlapped in an execution, each pair with the smaller number first.
    pub pairs: BTreeSet<(MethodId, MethodId)>,
    /// The first of these, with its schema.
    pub first_cut: Option<Box<(Schema, Trace)>>,
}

impl Coverage {
    /// Takes note of the result of running a schema, if the scheduler ran it.
    pub(crate) fn note(&mut self, program: &Program, runs: &Runs, engine: &Engine) -> Option<Visit> {
        let Runs::Systematic(explored) = runs else { return None };
        let visit = Visit::of(program, explored, explored.traces.number(), !explored.traces.is_exact());
        let is_sample = engine.draws() && explored.stopped.is_none();
        let visit = if is_sample { visit.saw(explored.sample.unseen()) } else { visit };
        self.revisit(program, explored, &visit);
        self.see(visit.unseen());
        Some(visit)
    }

    /// Takes note of a visit, of which the executions are there.
    pub(crate) fn revisit(&mut self, program: &Program, explored: &Explored, visit: &Visit) {
        self.take(visit);
        if let (None, Some(cut)) = (&self.first_cut, &explored.first_cut) {
            self.first_cut = Some(Box::new((program.schema().clone(), (**cut).clone())));
        }
    }

    /// A schema is left, of which executions drawn at random say this, and not all its interleavings ran.
    pub(crate) fn see(&mut self, unseen: Unseen) {
        if unseen.executions > 0 {
            self.unseen = Some(self.unseen.map_or(unseen, |before| before.and(unseen)));
        }
    }
}

/// Why a search ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ended {
    /// The search found a violation.
    Found(Box<Found>),
    /// The search tried the requested number of schemas, or the watcher ended it.
    Enough,
    /// The time ran out, perhaps in the middle of a schema.
    OutOfTime,
    /// There are no more schemas.
    NoMore,
    /// The object differs from its model, even on one thread: see [`Hunted::disagreement`].
    Disagreement,
}

/// A schema, and what went wrong when it ran.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The schema.
    pub schema: Schema,
    /// What went wrong.
    pub what: What,
    /// How often each outcome occurred so far, in a fixed order.
    pub frequencies: Vec<Frequency>,
    /// The executions so far.
    pub runs: Runs,
}

/// How often an outcome occurred (*Exposing non-atomic methods*, Figure 2).
#[derive(Clone, Debug, PartialEq)]
pub struct Frequency {
    /// The outcome: results in text order.
    pub outcome: Vec<Value>,
    /// Whether the outcome is correct.
    pub right: bool,
    /// How often it occurred.
    pub count: u64,
}

/// What went wrong.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// An incorrect outcome.
    Outcome {
        /// The outcome: results in text order.
        outcome: Vec<Value>,
        /// The correct outcomes, or the first [`ADMITTED_SHOWN`] of them.
        admitted: Vec<Vec<Value>>,
    },
    /// Calls that did not return, although they return on one thread.
    Blocked(Vec<Blocked>),
    /// A panic of the constructor, of dropping an object, or of a call in a way that ends the process. It does not occur on
    /// one thread.
    Panicked(String),
    /// An execution used plain memory wrongly.
    Memory(Box<Fault>),
}

impl Hunted {
    /// A search that has not begun.
    pub(crate) fn nothing() -> Hunted {
        Hunted {
            schemas: 0,
            executions: 0,
            coverage: Coverage::default(),
            took: Duration::ZERO,
            skipped: vec![],
            end: Ended::NoMore,
        }
    }

    /// Adds a search that came after this one.
    pub(crate) fn extend(&mut self, later: Hunted) {
        self.schemas += later.schemas;
        self.executions += later.executions;
        self.coverage.steps += later.coverage.steps;
        self.coverage.plain += later.coverage.plain;
        self.coverage.plain_steps += later.coverage.plain_steps;
        self.coverage.hashed |= later.coverage.hashed;
        self.coverage.compared += later.coverage.compared;
        self.coverage.as_seq_cst = self.coverage.as_seq_cst.max(later.coverage.as_seq_cst);
        self.coverage.traces += later.coverage.traces;
        self.coverage.more_traces |= later.coverage.more_traces;
        self.coverage.cut += later.coverage.cut;
        self.coverage.complete += later.coverage.complete;
        self.coverage.instrumented |= later.coverage.instrumented;
        self.coverage.pairs.extend(later.coverage.pairs);
        later.coverage.unseen.into_iter().for_each(|unseen| self.coverage.see(unseen));
        self.coverage.first_cut = self.coverage.first_cut.take().or(later.coverage.first_cut);
        self.took += later.took;
        self.skipped.extend(later.skipped);
        self.end = later.end;
    }

    /// The finding, if there is one.
    pub fn found(&self) -> Option<&Found> {
        match &self.end {
            Ended::Found(found) => Some(found),
            Ended::Enough | Ended::OutOfTime | Ended::NoMore | Ended::Disagreement => None,
        }
    }

    /// Where the object and its model disagree on one thread, if they do.
    pub fn disagreement(&self) -> Option<(&Schema, &Disagreement)> {
        disagreement(&self.skipped)
    }
}

/// The first disagreement among what was skipped.
pub(crate) fn disagreement(skipped: &[(Schema, Refusal)]) -> Option<(&Schema, &Disagreement)> {
    skipped.iter().find_map(|(schema, refusal)| match refusal {
        Refusal::Disagreement(disagreement) => Some((schema, disagreement)),
        _ => None,
    })
}
