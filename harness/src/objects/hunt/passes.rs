//! A search under the scheduler in passes over all schemas, the cheap ones first, so that a hard schema does not keep the
//! others waiting.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::time::Instant;

use interloper_commutativity::Value;
use interloper_linearize::schema::Schema;
use interloper_scheduler::schedule::Memory;
use interloper_scheduler::{Deadline, Executions, Traces, Unseen};

use super::campaign::Stage;
use super::{At, Attempt, Campaign, Ended, Engine, Hunted, Progress, Runs, Visit, Visits, attempt_kept};
use crate::judge::Refusal;
use crate::object::{MethodId, Program};
use crate::stress::Next;
use crate::systematic::{self, Anew, Explored, Limits, Resume, Schedule, Settings};

/// One pass over the schemas.
#[derive(Clone, Debug, PartialEq)]
pub struct Pass {
    /// How each schema runs.
    pub settings: Settings,
    /// For a schema with short executions: how to run all of its interleavings, if they are few, before anything else. Two
    /// executions of `settings` say whether they are short.
    pub small: Option<Settings>,
    /// Which schemas run, by the length of their executions.
    pub lengths: Lengths,
    /// The pass ends when it has not completed so many schemas in a row; `None` for a pass over all schemas.
    pub gives_up_after: Option<u64>,
}

/// Which schemas a pass runs, by the length of their executions: those with more than 1,000 steps are long. A schema counts as one
/// with short executions until it has run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lengths {
    /// All.
    All,
    /// All, but at most so many executions of a schema if they are long.
    FewOfLong(u64),
    /// Only those with long executions.
    Long,
    /// Only those with short executions.
    Short,
}

/// So many executions of a schema say whether they are short.
const PROBE: u64 = 2;

/// Executions of at most so many steps are short. An execution of an exhaustive search costs more than one at random, the more
/// the longer it is.
const SHORT: u64 = 300;

/// So many traces of a schema are kept between two passes, and counted exactly.
const KEPT: usize = 1 << 10;

/// A schema with at most this many traces is small.
const SMALL: u64 = 200;

/// So many schemas in a row that an exhaustive search does not complete say that it does not pay.
const GIVES_UP: u64 = 3;

/// So many schemas that are left after the first pass run under the search that reads-from pairs guide: the smallest ones.
const GUIDED: u64 = 50;

/// A bound of an exhaustive search that is reached soon.
const BRIEF: u64 = 2_000;

/// A program with hashers runs with so many seeds of them at most. One seed puts two keys into the same shard of a map of two shards,
/// or into the order in which a walk sees nothing wrong, in half of all cases or more.
pub const HASHER_SEEDS: u64 = 8;

/// A program with hashers runs with so many seeds of them at least, even if one execution does not tell them apart.
const FEWEST_SEEDS: u64 = 4;

/// So many seeds of hashers are compared to find those that place the keys differently. A placement that one seed in four has is
/// missing among them with a probability of 2^-26.
const SEEDS_COMPARED: u64 = 64;

/// The same for a program with long executions: 1 %.
const SEEDS_COMPARED_IF_LONG: u64 = 16;

/// The searches of a schema in a pass with one seed of hashers: each of those that are random has a seed of its own.
const PARTS: u64 = 3;

/// So many times as many schemas of a kind are tried at most, if their executions are few or short.
const CHEAP: u64 = 20;

/// An exhaustive search of executions with more steps than this does not pay: it reaches no end.
const LONG: u64 = 1_000;

/// So many long executions of a schema come before other schemas have their turn. They may take seconds, and schemas that differ
/// little show the same.
const FEW: u64 = 20;

impl Pass {
    /// The passes of a search that ends with this exhaustive one: 200 executions of each schema by the random walk and PCT in
    /// turn, but 20 of a schema with long ones; 200 of each of those; 1,000 of the smallest by the search that reads-from pairs
    /// guide; then, where executions are short, an exhaustive search of 2,000 executions at most, and one of as many as the settings
    /// allow. No pass has more executions than the settings allow.
    pub fn before(thorough: &Settings) -> Vec<Pass> {
        let depth = std::num::NonZeroU32::new(3).expect("more than 0");
        let pass = |schedule: Schedule, most: u64| {
            let free_every = if schedule.is_random() { systematic::FREE_EVERY } else { thorough.free_every };
            let settings = Settings { schedule, free_every, ..at_most(thorough, most) };
            Pass { settings, small: None, lengths: Lengths::All, gives_up_after: None }
        };
        let random = pass(Schedule::Portfolio(vec![Schedule::Random, Schedule::Pct { depth }]), SMALL);
        let small = Some(pass(Schedule::Exhaustive, SMALL).settings);
        let first = Pass { small, lengths: Lengths::FewOfLong(FEW), ..random.clone() };
        // Not what the first pass has run.
        let seed = thorough.seed.wrapping_add(PARTS * HASHER_SEEDS);
        let long = Pass { settings: Settings { seed, ..random.settings }, lengths: Lengths::Long, ..random };
        let guided = Pass { gives_up_after: Some(GUIDED), ..pass(Schedule::Rff, 1_000) };
        let exhaustive = pass(Schedule::Exhaustive, BRIEF);
        let exhaustive = Pass { lengths: Lengths::Short, gives_up_after: Some(GIVES_UP), ..exhaustive };
        let all = Pass { settings: thorough.clone(), ..exhaustive.clone() };
        let longer = (!all.is_brief()).then_some(all);
        [first, long, guided, exhaustive].into_iter().chain(longer).collect()
    }
}

/// A search in passes, of one method or of a pair.
pub(super) struct Search<'c> {
    campaign: &'c Campaign,
    /// Names what is searched, in visits.
    method: MethodId,
    /// Where its schemas come from.
    stages: Vec<Stage>,
    visits: &'c mut Visits,
    deadline: Deadline,
    start: Instant,
    watch: &'c mut dyn FnMut(&Progress<'_>) -> Next,
    hunted: Hunted,
}

/// A schema that has interleavings left.
struct Open {
    schema: Schema,
    /// Its number among those of the method.
    number: u64,
    traces: Traces,
    sample: Traces,
    /// What the sample says about further executions.
    unseen: Unseen,
    /// Whether an earlier visit of the schema was not made here, so that its traces are missing.
    is_elsewhere: bool,
    /// Whether its executions have so many steps that an exhaustive search does not pay.
    is_long: bool,
}

/// What became of a schema in a pass.
enum Visited {
    /// Every interleaving has run, or the schema cannot be judged.
    Done,
    /// It has interleavings left.
    Left(Open),
}

impl<'c> Search<'c> {
    pub(super) fn new(
        campaign: &'c Campaign,
        (method, stages): (MethodId, Vec<Stage>),
        visits: &'c mut Visits,
        deadline: Deadline,
        watch: &'c mut dyn FnMut(&Progress<'_>) -> Next,
    ) -> Search<'c> {
        Search { campaign, method, stages, visits, deadline, start: Instant::now(), watch, hunted: Hunted::nothing() }
    }

    /// Runs the passes until a schema shows an incorrect outcome, or they are over.
    pub(super) fn run(mut self) -> Hunted {
        let mut open = Vec::new();
        self.hunted.end = match self.passes(&mut open) {
            ControlFlow::Continue(end) | ControlFlow::Break(end) => end,
        };
        open.iter().for_each(|open| self.hunted.coverage.see(open.unseen));
        self.hunted.took = self.start.elapsed();
        self.hunted
    }

    fn passes(&mut self, open: &mut Vec<Open>) -> ControlFlow<Ended, Ended> {
        let Some((first, later)) = self.campaign.passes.split_first() else { return ControlFlow::Break(Ended::NoMore) };
        let end = self.first(first, open)?;
        for (number, pass) in (1..).zip(later) {
            self.pass(number, pass, open)?;
        }
        ControlFlow::Continue(end)
    }

    /// The first pass: it goes through the schemas of the campaign and keeps those that have interleavings left.
    fn first(&mut self, pass: &Pass, open: &mut Vec<Open>) -> ControlFlow<Ended, Ended> {
        let campaign = self.campaign;
        let (mut end, mut number) = (Ended::NoMore, 0);
        for (source, pool, most) in std::mem::take(&mut self.stages) {
            let (before, steps) = (number, self.hunted.coverage.steps);
            let mut schemas = source.schemas(&campaign.object, &pool);
            end = loop {
                let has_some_left = campaign.goes_on_while_cheap
                    && number - before < CHEAP.saturating_mul(most)
                    && self.hunted.coverage.steps - steps
                        < self.visits.share(self.method, most.saturating_mul(SMALL * SHORT));
                if number - before >= most && !has_some_left {
                    break Ended::Enough;
                }
                let Some(schema) = schemas.next() else { break Ended::NoMore };
                number += 1;
                if !self.visits.has(self.method, number - 1) {
                    continue;
                }
                self.go_on(&schema)?;
                if self.visits.is_after_finding(self.method, 0, number - 1) {
                    return ControlFlow::Break(Ended::Enough);
                }
                self.hunted.schemas += 1;
                if let Visited::Left(left) = self.visit(0, pass, Open::new(schema, number - 1))? {
                    open.push(left);
                }
            };
        }
        ControlFlow::Continue(end)
    }

    /// A later pass over the schemas that have interleavings left.
    fn pass(&mut self, number: usize, pass: &Pass, open: &mut Vec<Open>) -> ControlFlow<Ended> {
        let mut left = Vec::with_capacity(open.len());
        let mut rest = std::mem::take(open).into_iter();
        let mut in_vain = 0;
        let mut result = ControlFlow::Continue(());
        while pass.gives_up_after.is_none_or(|most| in_vain < self.visits.share(self.method, most)) {
            let Some(next) = rest.next() else { break };
            if !pass.lengths.have(next.is_long) {
                left.push(next);
                continue;
            }
            result = self.go_on(&next.schema);
            if self.visits.is_after_finding(self.method, number, next.number) {
                result = ControlFlow::Break(Ended::Enough);
            }
            if result.is_break() {
                left.push(next);
                break;
            }
            match self.visit(number, pass, next) {
                ControlFlow::Continue(Visited::Done) => in_vain = 0,
                ControlFlow::Continue(Visited::Left(open)) => {
                    left.push(open);
                    in_vain += 1;
                }
                ControlFlow::Break(end) => {
                    result = ControlFlow::Break(end);
                    break;
                }
            }
        }
        left.extend(rest);
        *open = left;
        result
    }

    /// Whether there is time for a schema, and the watcher agrees.
    fn go_on(&mut self, schema: &Schema) -> ControlFlow<Ended> {
        if self.deadline.is_over() {
            return ControlFlow::Break(Ended::OutOfTime);
        }
        let Hunted { schemas, executions, .. } = self.hunted;
        let progress = Progress { schema, schemas, executions, took: self.start.elapsed(), smaller: None };
        match (self.watch)(&progress) {
            Next::Stop => ControlFlow::Break(Ended::Enough),
            Next::Continue => ControlFlow::Continue(()),
        }
    }

    /// Runs a schema as a pass says, unless that was done before.
    fn visit(&mut self, number: usize, pass: &Pass, mut open: Open) -> ControlFlow<Ended, Visited> {
        let at = At::of(self.method, number, open.number, &open.schema);
        if let Some(visit) = self.visits.earlier(at, &self.hunted.coverage) {
            self.hunted.executions += visit.executions;
            self.hunted.coverage.take(visit);
            open.is_elsewhere = true;
            return ControlFlow::Continue(open.after(visit));
        }
        self.catch_up(at, &mut open);
        let visiting = &mut self.visits.visiting(at);
        let (program, attempt) = match attempt(self.campaign, &pass.until(self.deadline), &open.schema, visiting) {
            Ok(ran) => ran,
            Err(Refusal::OutOfTime) => {
                self.hunted.schemas -= u64::from(number == 0);
                return ControlFlow::Break(Ended::OutOfTime);
            }
            Err(refusal) => {
                let disagrees = matches!(refusal, Refusal::Disagreement(_));
                self.hunted.skipped.push((open.schema, refusal));
                return match disagrees {
                    true => ControlFlow::Break(Ended::Disagreement),
                    false => ControlFlow::Continue(Visited::Done),
                };
            }
        };
        let Runs::Systematic(explored) = &attempt.runs else { unreachable!("passes run under the scheduler") };
        let known = open.traces.number();
        open.merge(explored);
        let visit = Visit::of(&program, explored, open.traces.number() - known, !open.traces.is_exact());
        let long = open.is_long || explored.is_long();
        let visit = Visit { long, ..visit.saw(open.sample.unseen()) };
        self.hunted.executions += visit.executions;
        self.hunted.coverage.revisit(&program, explored, &visit);
        let timed_out = explored.timed_out;
        if let Some(found) = attempt.finding(&open.schema) {
            self.visits.post(at);
            return ControlFlow::Break(Ended::Found(Box::new(found)));
        }
        if timed_out {
            return ControlFlow::Break(Ended::OutOfTime);
        }
        self.visits.note(at, visit.clone());
        ControlFlow::Continue(open.after(&visit))
    }

    /// Repeats the earlier visits of a schema that were made elsewhere, for their traces.
    fn catch_up(&self, at: At, open: &mut Open) {
        if !std::mem::take(&mut open.is_elsewhere) {
            return;
        }
        (open.traces, open.sample) = (Traces::keeping(KEPT), Traces::keeping(KEPT));
        for pass in self.visits.passes_before(at) {
            let Some(pass) = self.campaign.passes.get(pass) else { continue };
            let attempt = attempt(self.campaign, &pass.until(self.deadline), &open.schema, &mut Anew);
            if let Ok((_, attempt)) = attempt
                && let Runs::Systematic(explored) = &attempt.runs
            {
                open.merge(explored);
            }
        }
    }
}

/// Runs a schema as a pass says.
fn attempt(
    campaign: &Campaign,
    pass: &Pass,
    schema: &Schema,
    keep: &mut dyn Resume,
) -> Result<(Program, Attempt), Refusal> {
    let mut engine = Engine::Passes(vec![pass.clone()]);
    let program = campaign.object.program(schema).map_err(Refusal::Model)?;
    let attempt = attempt_kept(&program, (&campaign.visibility, campaign.bound), &mut engine, keep)?;
    Ok((program, attempt))
}

/// The same with so many executions at most.
fn at_most(settings: &Settings, most: u64) -> Settings {
    let executions = match settings.executions {
        Executions::AtMost(limit) => Executions::AtMost(limit.min(most)),
        Executions::All => Executions::AtMost(most),
    };
    Settings { executions, ..settings.clone() }
}

impl Explored {
    /// Whether its executions have more than [`LONG`] steps.
    pub(super) fn is_long(&self) -> bool {
        self.steps > LONG * self.executions
    }
}

impl Lengths {
    /// Whether a schema runs whose executions are long, or short.
    pub(super) fn have(self, long: bool) -> bool {
        match self {
            Lengths::All | Lengths::FewOfLong(_) => true,
            Lengths::Long => long,
            Lengths::Short => !long,
        }
    }
}

impl Open {
    fn new(schema: Schema, number: u64) -> Open {
        let fresh = || Traces::keeping(KEPT);
        let (traces, sample) = (fresh(), fresh());
        let unseen = sample.unseen();
        Open { schema, number, traces, sample, unseen, is_elsewhere: false, is_long: false }
    }

    fn merge(&mut self, explored: &Explored) {
        self.traces.merge(&explored.traces);
        self.sample.merge(&explored.sample);
    }

    /// What became of it in a visit.
    fn after(mut self, visit: &Visit) -> Visited {
        (self.unseen, self.is_long) = (visit.unseen(), visit.long);
        if visit.complete { Visited::Done } else { Visited::Left(self) }
    }
}

impl Pass {
    /// The pass for a schema that somebody asks for: there are no others that it would keep waiting.
    pub(super) fn of_one(&self) -> Pass {
        let lengths = if self.lengths == Lengths::Short { Lengths::All } else { self.lengths };
        Pass { lengths, ..self.clone() }
    }

    /// How many executions of a schema the pass allows, if these are long and it then allows fewer.
    fn few(&self, explored: &Explored) -> Option<u64> {
        match self.lengths {
            Lengths::FewOfLong(few) if explored.is_long() => Some(few),
            _ => None,
        }
    }

    /// Whether its bound is a small one.
    pub(super) fn is_brief(&self) -> bool {
        matches!(self.settings.executions, Executions::AtMost(most) if most <= BRIEF)
    }

    /// The same, which ends at the deadline at the latest.
    pub(super) fn until(&self, deadline: Deadline) -> Pass {
        let until = |settings: &Settings| Settings { deadline: settings.deadline.and(deadline), ..settings.clone() };
        Pass { settings: until(&self.settings), small: self.small.as_ref().map(until), ..self.clone() }
    }

    /// Runs a program: with several seeds of hashers, if it makes any. `look` sees every outcome when it is new, at least, and says whether
    /// to go on.
    pub(super) fn run(
        &self,
        program: &Program,
        look: &mut dyn FnMut(&[Value]) -> Next,
        keep: &mut dyn Resume,
    ) -> Explored {
        let mut all = self.with_one_seed(program, look, keep);
        if !all.hashed || all.stopped.is_some() || all.timed_out {
            return all;
        }
        // What was not small with one seed is not with another.
        let small = self.small.clone().filter(|_| all.complete);
        let settings = self.few(&all).map(|few| at_most(&self.settings, few));
        let pass = Pass { settings: settings.unwrap_or_else(|| self.settings.clone()), small, ..self.clone() };
        let (seeds, compared) = self.hasher_seeds(program, all.is_long());
        all.compared += compared;
        if self.settings.deadline.is_over() {
            // Some seeds are not known.
            return Explored { timed_out: true, complete: false, ..all };
        }
        for (number, &placement) in (1..).zip(&seeds[1..]) {
            if all.stopped.is_some() || all.timed_out {
                break;
            }
            let later = pass.placing(placement, (number, seeds.len() as u64)).with_one_seed(program, look, &mut Anew);
            // What keys share a shard of a map decides what can be seen of it, so each seed has interleavings of its own.
            let complete = all.complete && later.complete;
            all = Explored { complete, ..all.and(later) };
        }
        all
    }

    /// The seeds of hashers to run a program with, counted from the one that the settings have, which comes first. Where the keys lie
    /// decides which steps calls have in common. So a seed is worth more if its execution without preemptions belongs to a trace that no
    /// seed before it has shown. Also says how many executions that took.
    fn hasher_seeds(&self, program: &Program, long: bool) -> (Vec<u64>, u64) {
        let mut compared = 0;
        let mut shown = BTreeSet::new();
        let (mut new, mut known) = (Vec::new(), Vec::new());
        for placement in 0..if long { SEEDS_COMPARED_IF_LONG } else { SEEDS_COMPARED } {
            if new.len() as u64 == HASHER_SEEDS || self.settings.deadline.is_over() {
                break;
            }
            let limits = self.settings.limits;
            let settings = Settings {
                limits: Limits { seed: limits.seed.wrapping_add(placement), ..limits },
                memory: Some(Memory::SequentiallyConsistent),
                schedule: Schedule::Exhaustive,
                executions: Executions::AtMost(1),
                ..self.settings.clone()
            };
            let ran = systematic::run(program, &settings, &mut |_| Next::Continue);
            compared += ran.executions;
            let is_new = shown.insert(ran.traces.kept().next());
            if is_new { &mut new } else { &mut known }.push(placement);
        }
        if new.is_empty() {
            // The time was over before the first one was compared.
            new.push(0);
        }
        let more = (FEWEST_SEEDS as usize).saturating_sub(new.len());
        new.extend(known.into_iter().take(more));
        (new, compared)
    }

    /// The same pass with another seed of hashers, the one of this number, counted from 0, among so many. Random schedules have fewer
    /// executions with it.
    fn placing(&self, placement: u64, (number, of): (u64, u64)) -> Pass {
        let placed = |settings: &Settings| {
            let executions = match settings.executions {
                Executions::AtMost(most) if settings.schedule != Schedule::Exhaustive => {
                    Executions::AtMost(most.div_ceil(of))
                }
                executions => executions,
            };
            let seed = settings.seed.wrapping_add(PARTS * number);
            let limits = Limits { seed: settings.limits.seed.wrapping_add(placement), ..settings.limits };
            Settings { executions, seed, limits, ..settings.clone() }
        };
        Pass { settings: placed(&self.settings), small: self.small.as_ref().map(placed), ..self.clone() }
    }

    /// Runs a program with the seed of hashers that the settings have.
    fn with_one_seed(
        &self,
        program: &Program,
        look: &mut dyn FnMut(&[Value]) -> Next,
        keep: &mut dyn Resume,
    ) -> Explored {
        let mut explored = Explored::default();
        let parts = self.parts();
        for (number, settings) in parts.iter().enumerate() {
            // The second part runs what is small.
            if number == 1 && self.small.is_some() && explored.steps > SHORT * explored.executions {
                continue;
            }
            let few = self.few(&explored).map(|few| at_most(settings, few.saturating_sub(explored.executions)));
            // The parts before are at most some hundred short executions, which another process runs again.
            let keep = if number + 1 == parts.len() { &mut *keep } else { &mut Anew };
            explored = explored.and(systematic::run_kept(program, few.as_ref().unwrap_or(settings), look, keep));
            if explored.is_over() {
                break;
            }
        }
        explored
    }

    /// The searches of a schema, one after the other: a few executions, all interleavings if these were short, and the rest.
    fn parts(&self) -> Vec<Settings> {
        match (&self.small, self.settings.executions) {
            (Some(small), Executions::AtMost(most)) if most > PROBE => {
                let probe = Settings { executions: Executions::AtMost(PROBE), ..self.settings.clone() };
                // Another seed, so that the rest does not begin with what the probe has run.
                let seed = self.settings.seed.wrapping_add(1);
                let rest = Settings { executions: Executions::AtMost(most - PROBE), seed, ..self.settings.clone() };
                vec![probe, small.clone(), rest]
            }
            _ => vec![self.settings.clone()],
        }
    }
}
