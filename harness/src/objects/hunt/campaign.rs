//! A search of one method, from the smallest schemas to random ones, whose finding is then made smaller.

use std::collections::BTreeSet;
use std::time::Duration;

use interloper_linearize::outcomes::DEFAULT_BOUND;
use interloper_linearize::schema::Schema;
use interloper_linearize::visibility::Visibility;
use interloper_scheduler::{Crash, Deadline, Executions};

use super::{
    Ended, Engine, Faulty, Found, Hunt, Hunted, Minimised, Pass, Progress, Runs, Source, Visits, What, alone, attempt,
    minimise, passes,
};
use crate::object::{MethodId, Object, Role};
use crate::schemas::{self, Bounds, Pool};
use crate::stress::{Budget, Next};
use crate::systematic::{self, Failure};

/// How each method of an object is searched.
#[derive(Clone, Debug)]
pub struct Campaign {
    /// The object.
    pub object: Object,
    /// What the methods are allowed to miss.
    pub visibility: Visibility,
    /// How each schema is run.
    pub engine: Engine,
    /// How much may be explored to compute the correct outcomes.
    pub bound: usize,
    /// Which schemas, and in which order.
    pub seed: u64,
    /// Passes over all schemas; none if `engine` runs each schema once. Under the scheduler only.
    pub passes: Vec<Pass>,
    /// The most schemas to try first, by rank. The first schema that fails is a smallest one, up to values.
    pub by_rank: Option<(Bounds, u64)>,
    /// The most schemas to try after these, at random.
    pub random: Option<(Bounds, u64)>,
    /// The most schemas to try after these, of those that call the method more than once. Half of them come by rank, the first ones right
    /// after the smallest of `by_rank`; the rest are drawn at random.
    pub repeated: Option<(Bounds, u64)>,
    /// The most schemas to try after these, of those that begin with calls on one thread. They are drawn at random, but for a method
    /// that is about all entries of the object up to three quarters are those of a full object, and come after the first of those by rank.
    pub started: Option<(Bounds, u64)>,
    /// In passes: whether schemas with few or short executions leave room for more schemas. The first pass then goes on until it has as
    /// many steps as it has where each schema has 200 executions of 300 steps.
    pub goes_on_while_cheap: bool,
    /// How long a method is searched at most, with making small what was found.
    pub time: Option<Duration>,
}

/// The result of searching a method.
#[derive(Clone, Debug, PartialEq)]
pub struct Searched {
    /// The method; of a pair the first one.
    pub method: MethodId,
    /// The search. What it found is as it was found.
    pub hunted: Hunted,
    /// The finding, made smaller.
    pub smallest: Option<Minimised>,
    /// Whether core methods are at fault, because they show the finding without this method: they are not atomic, and
    /// nothing is known of this one.
    pub of_core: bool,
    /// If core methods are at fault: which of them, as few as a violation was found with. Otherwise, in the search of a pair: both, if it
    /// takes both, or the one that shows the violation beside core methods alone.
    pub blamed: BTreeSet<MethodId>,
    /// The smallest sets of methods whose calls have to be interrupted for the finding: one set suffices, and `smallest` is wrong although
    /// every call of another method than those of the first set ran as one step. Of several sets, each has a method of a pair. None if
    /// that is not known, or if it takes all methods that `smallest` calls.
    pub interrupted: Vec<BTreeSet<MethodId>>,
    /// If real threads found it: whether the scheduler shows it, too.
    pub reproduced: Option<Reproduced>,
    /// Other methods that show a violation without this one, and that the search then left out: see [`Campaign::method_apart`].
    pub left_out: Vec<Faulty>,
}

impl Searched {
    /// The smallest finding.
    pub fn found(&self) -> Option<&Found> {
        self.smallest.as_ref().map(|minimised| &minimised.found)
    }

    /// The finding with a trace, if there is one.
    pub fn traced(&self) -> Option<&Found> {
        match &self.reproduced {
            Some(Reproduced::Traced(found)) => Some(found),
            _ => self.found().filter(|found| matches!(found.runs, Runs::Systematic(_))),
        }
    }
}

/// Whether the scheduler shows a violation that real threads have shown.
#[derive(Clone, Debug, PartialEq)]
pub enum Reproduced {
    /// The scheduler shows a violation too, and has its steps.
    Traced(Box<Found>),
    /// The scheduler did not show it in this many executions.
    Missed {
        /// How many.
        executions: u64,
        /// Whether that was every interleaving of visible steps, so that it takes a reordering of memory accesses, or
        /// something that does not go through the mirror.
        complete: bool,
    },
    /// The object is not written over the mirror of std.
    NotInstrumented,
}

/// So many schemas by rank that call the method once come first, then as many that call it more often, then those of a full object: where
/// one of the first fails, the finding is smaller. Schemas of some objects take so long that the time is up before all those by rank have
/// run.
const SMALLEST: usize = 25;

/// Where schemas come from, which methods they call, and how many are taken from there at most.
pub(super) type Stage = (Source, Pool, u64);

/// Takes the first schemas out of a stage that begins with small ones.
fn smallest_of((source, _, most): &mut Stage) -> Vec<Schema> {
    let Source::With { schemas, .. } = source else { return Vec::new() };
    let smallest: Vec<Schema> = schemas.drain(..SMALLEST.min(schemas.len())).collect();
    *most -= smallest.len() as u64;
    smallest
}

impl Campaign {
    /// On real threads: random schemas of the default bounds, a thousand at most.
    pub fn stress(object: &Object, seed: u64) -> Campaign {
        Campaign {
            object: object.clone(),
            visibility: object.visibility().clone(),
            engine: Engine::stress(seed),
            bound: DEFAULT_BOUND,
            seed,
            passes: Vec::new(),
            by_rank: None,
            random: Some((Bounds::default(), 1_000)),
            repeated: None,
            started: None,
            goes_on_while_cheap: false,
            time: None,
        }
    }

    /// Under the scheduler: first up to 3,000 schemas of up to four invocations by rank, then as many of up to six at
    /// random.
    pub fn systematic(object: &Object, seed: u64) -> Campaign {
        let small = Bounds { invocations: 2..=4, values: 1..=2, ..Bounds::default() };
        Campaign {
            engine: Engine::exhaustive(),
            by_rank: Some((small, 3_000)),
            random: Some((Bounds::default(), 3_000)),
            ..Campaign::stress(object, seed)
        }
    }

    /// In passes: see [`Pass::before`]. The schemas are those of [`Campaign::systematic`], of the random ones a thousand. Then
    /// come up to 1,000 that call the method more than once, with or without core methods, and up to 1,000 that begin with
    /// one to three calls of core methods.
    pub fn staged(object: &Object, seed: u64) -> Campaign {
        let repeated = Bounds { invocations: 2..=4, ..Bounds::default() };
        let started = Bounds { invocations: 2..=4, start: 1..=3, ..Bounds::default() };
        let thorough = systematic::Settings { seed, ..systematic::Settings::default() };
        let passes = Pass::before(&thorough);
        Campaign {
            passes,
            random: Some((Bounds::default(), 1_000)),
            repeated: Some((repeated, 1_000)),
            started: Some((started, 1_000)),
            engine: Engine::Systematic(thorough),
            ..Campaign::systematic(object, seed)
        }
    }

    /// The same with so many schemas at most: half of them by rank, and the rest in equal shares of the other kinds; each kind
    /// gets one more while some are left.
    #[must_use]
    pub fn of_at_most(self, schemas: u64) -> Campaign {
        let small = if self.by_rank.is_some() { schemas.div_ceil(2) } else { 0 };
        let kinds = [&self.random, &self.repeated, &self.started].into_iter().flatten().count() as u64;
        let mut left = schemas - small;
        let mut kinds = kinds;
        let mut share = |stage: Option<(Bounds, u64)>| {
            let (bounds, _) = stage?;
            let share = left.div_ceil(kinds);
            (left, kinds) = (left - share, kinds - 1);
            Some((bounds, share))
        };
        let (random, repeated, started) = (share(self.random), share(self.repeated), share(self.started));
        Campaign { by_rank: self.by_rank.map(|(bounds, _)| (bounds, small)), random, repeated, started, ..self }
    }

    /// Searches one method, and makes the schema of its finding smaller. `watch` sees the progress of both.
    pub fn method(&self, method: MethodId, watch: &mut dyn FnMut(&Progress<'_>) -> Next) -> Searched {
        self.method_after(method, &mut Visits::default(), watch)
    }

    /// The same, without the visits that were made before. The result is that of a search that makes all of them.
    pub fn method_after(
        &self,
        method: MethodId,
        visits: &mut Visits,
        watch: &mut dyn FnMut(&Progress<'_>) -> Next,
    ) -> Searched {
        self.method_until(method, visits, Deadline::of(self.time), watch)
    }

    pub(super) fn method_until(
        &self,
        method: MethodId,
        visits: &mut Visits,
        deadline: Deadline,
        watch: &mut dyn FnMut(&Progress<'_>) -> Next,
    ) -> Searched {
        let all = self.visit(method, visits, deadline, watch);
        self.settled(&[method], all, deadline, watch)
    }

    /// Makes the visits of a part of the search of one method: `visits` holds them afterwards. Methods are dealt as wholes; if
    /// there are more parts than methods, the parts of a method deal its schemas. A part ends with its first finding.
    /// [`Campaign::method_after`] makes a result of the visits of all parts.
    ///
    /// Where several parts share a method, a pass that gives up after some schemas in a row gives up after its share of them in
    /// each part. The visits of all parts are therefore not quite those of a whole search: the end makes those that are missing.
    pub fn part(&self, method: MethodId, visits: &mut Visits, watch: &mut dyn FnMut(&Progress<'_>) -> Next) -> Hunted {
        if !visits.has_some(method) {
            return Hunted::nothing();
        }
        self.visit(method, visits, Deadline::of(self.time), watch)
    }

    fn visit(
        &self,
        method: MethodId,
        visits: &mut Visits,
        deadline: Deadline,
        watch: &mut dyn FnMut(&Progress<'_>) -> Next,
    ) -> Hunted {
        match self.passes.is_empty() {
            true => self.once(method, visits, deadline, watch),
            false => {
                let stages = self.stages(method).collect();
                passes::Search::new(self, (method, stages), visits, deadline, watch).run()
            }
        }
    }

    /// Runs one schema for as long as a method would be searched, in all passes, however long its executions are: what one of them
    /// has found, the same one finds again. The result names no method but those that have to be interrupted, where there are passes.
    pub fn schema(&self, schema: Schema) -> Searched {
        let hunt = Hunt {
            engine: match self.passes.is_empty() {
                true => self.engine.clone(),
                false => Engine::Passes(self.passes.iter().map(Pass::of_one).collect()),
            },
            visibility: self.visibility.clone(),
            source: Source::Given(vec![schema]),
            bound: self.bound,
            time: self.time,
            ..Hunt::new(&self.object, Pool::Together(vec![]), self.seed)
        };
        let hunted = hunt.run(&mut |_| Next::Continue);
        let found = hunted.found().cloned().map(|found| Minimised { found, attempts: 0, complete: false });
        let settled = found.map(|found| match self.passes.is_empty() {
            // The execution is that of the strategy that was asked for.
            true => (found, Vec::new()),
            false => self.settle(found, &[], Deadline::of(self.time)),
        });
        let (smallest, interrupted) = settled.unzip();
        let interrupted = interrupted.unwrap_or_default();
        let reproduced = match &smallest {
            Some(Minimised { found, .. }) if matches!(found.runs, Runs::Stress(_)) => Some(self.reproduce(found)),
            _ => None,
        };
        let (method, of_core) = (MethodId(0), false);
        let (blamed, left_out) = Default::default();
        Searched { method, hunted, smallest, of_core, blamed, interrupted, reproduced, left_out }
    }

    /// Runs each schema once.
    fn once(
        &self,
        method: MethodId,
        visits: &mut Visits,
        deadline: Deadline,
        watch: &mut dyn FnMut(&Progress<'_>) -> Next,
    ) -> Hunted {
        let mut all = Hunted::nothing();
        for (stage, (source, pool, most)) in self.stages(method).enumerate() {
            let hunt = Hunt {
                object: self.object.clone(),
                pool,
                source,
                visibility: self.visibility.clone(),
                engine: self.engine.clone(),
                bound: self.bound,
                schemas: Some(most),
                time: deadline.left(),
            };
            let (schemas, executions, took) = (all.schemas, all.executions, all.took);
            let mut stopped = false;
            let hunted = hunt.run_after(visits, (method, stage), &mut |progress| {
                let schemas = schemas + progress.schemas;
                let executions = executions + progress.executions;
                let next = watch(&Progress { schemas, executions, took: took + progress.took, ..*progress });
                stopped |= next == Next::Stop;
                next
            });
            all.extend(hunted);
            if stopped || matches!(all.end, Ended::Found(_) | Ended::Disagreement | Ended::OutOfTime) {
                break;
            }
        }
        all
    }

    /// Searches core methods for a violation of their own, with random schemas of core methods alone. Every verdict
    /// about another method assumes that core methods are atomic.
    pub fn core(&self, watch: &mut dyn FnMut(&Progress<'_>) -> Next) -> Hunted {
        let (bounds, most) = self.random.clone().unwrap_or_default();
        let hunt = Hunt {
            object: self.object.clone(),
            pool: Pool::Together(self.object.with_role(Role::Core).collect()),
            source: Source::Random { bounds, seed: self.seed },
            visibility: self.visibility.clone(),
            engine: self.engine.clone(),
            bound: self.bound,
            schemas: Some(most),
            time: self.time,
        };
        hunt.run(watch)
    }

    /// Where schemas come from, which methods they call, and how many are taken from there at most.
    pub(super) fn stages(&self, method: MethodId) -> impl Iterator<Item = Stage> {
        let seed = self.seed;
        let pool = Pool::One(method);
        let repeated = self.repeated.clone();
        let mut repeated =
            repeated.map(|(bounds, most)| self.smallest_first(bounds, seed, Pool::Repeated(method), most));
        let often = repeated.as_mut().map_or_else(Vec::new, smallest_of);
        let filled = self.filled(method);
        let started = self.started.clone();
        let started =
            started.map(|(bounds, most)| (Source::Random { bounds, seed }, pool.clone(), most - filled.len() as u64));
        let schemas = [often, filled].concat();
        let number = schemas.len() as u64;
        let small = match self.by_rank.clone() {
            Some((bounds, most)) => {
                let source = Box::new(Source::ByRank { bounds, seed });
                let after = SMALLEST.min(usize::try_from(most).unwrap_or(SMALLEST));
                Some((Source::With { source, after, schemas }, pool.clone(), most + number))
            }
            None => (number > 0).then_some((Source::Given(schemas), pool.clone(), number)),
        };
        let random = self.random.clone();
        let random = random.map(|(bounds, most)| (Source::Random { bounds, seed }, pool, most));
        [small, random, repeated, started].into_iter().flatten()
    }

    /// So many schemas of a pool: the smallest by rank, which are half of them, and others at random.
    pub(super) fn smallest_first(&self, bounds: Bounds, seed: u64, pool: Pool, most: u64) -> Stage {
        // By rank, no schema begins with calls on one thread.
        let by_rank = if bounds.start.contains(&0) { most.div_ceil(2) } else { 0 };
        let small = Bounds { values: 1..=*bounds.values.end(), ..bounds.clone() };
        let small = Source::ByRank { bounds: small, seed }.schemas(&self.object, &pool);
        let schemas = small.take(usize::try_from(by_rank).unwrap_or(usize::MAX)).collect();
        (Source::With { source: Box::new(Source::Random { bounds, seed }), after: 0, schemas }, pool, most)
    }

    /// The schemas of a full object: see [`schemas::filled`].
    fn filled(&self, method: MethodId) -> Vec<Schema> {
        let most = self.started.as_ref().map_or(0, |(_, most)| most - most / 4);
        if most == 0 {
            return Vec::new();
        }
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let filled = schemas::filled(&self.object, method, most, &|schema| alone(&self.object, schema)).into_iter();
        filled.map(|schema| schemas::ended(&self.object, schema)).collect()
    }

    /// The schemas that a method is searched with, in this order.
    pub(crate) fn schemas(&self, method: MethodId) -> impl Iterator<Item = Schema> {
        let of_stage = move |(source, pool, most): Stage| {
            source.schemas(&self.object, &pool).take(usize::try_from(most).unwrap_or(usize::MAX))
        };
        self.stages(method).flat_map(of_stage)
    }

    /// Makes a finding small. On real threads each smaller schema is run for eight times as long as in the search.
    pub fn minimised(&self, found: Found) -> Minimised {
        self.minimised_until(found, Deadline::of(self.time), &mut |_, _| Next::Continue)
    }

    pub(super) fn minimised_until(
        &self,
        found: Found,
        deadline: Deadline,
        watch: &mut dyn FnMut(&Schema, u64) -> Next,
    ) -> Minimised {
        minimise(&self.object, &self.visibility, self.bound, &mut self.longer(deadline), found, watch)
    }

    /// The engine for a single schema: the passes with a small bound, if there are passes, and real threads have eight times as
    /// much time.
    pub(super) fn longer(&self, deadline: Deadline) -> Engine {
        if !self.passes.is_empty() {
            let brief = self.passes.iter().filter(|pass| pass.is_brief());
            return Engine::Passes(brief.cloned().collect()).until(deadline);
        }
        let mut engine = self.engine.until(deadline);
        if let Engine::Stress(settings) = &mut engine {
            settings.budget = match settings.budget {
                Budget::Time(time) => Budget::Time(time.saturating_mul(8)),
                Budget::Executions(executions) => Budget::Executions(executions.saturating_mul(8)),
            };
        }
        engine
    }

    /// Hands a violation that real threads have shown to the scheduler. Blocked calls and panics outside calls are
    /// looked for as well as outcomes.
    pub fn reproduce(&self, found: &Found) -> Reproduced {
        self.reproduce_until(found, Deadline::of(self.time))
    }

    pub(super) fn reproduce_until(&self, found: &Found, deadline: Deadline) -> Reproduced {
        let Ok(program) = self.object.program(&found.schema) else { return Reproduced::NotInstrumented };
        // One execution says whether the scheduler sees anything at all.
        let one = systematic::Settings { executions: Executions::AtMost(1), ..systematic::Settings::default() };
        let first = systematic::run(&program, &one, &mut |_| Next::Continue);
        if !first.instrumented && first.failure().is_none() {
            return Reproduced::NotInstrumented;
        }
        let (mut executions, mut complete) = (0, false);
        let everything = systematic::Settings { deadline, ..systematic::Settings::default() };
        for settings in [everything.clone(), everything.at_random(self.seed)] {
            let mut engine = Engine::Systematic(settings);
            let Ok(attempt) = attempt(&program, &self.visibility, self.bound, &mut engine) else { break };
            executions += attempt.runs.executions();
            if let Runs::Systematic(explored) = &attempt.runs {
                complete |= explored.complete;
            }
            if let Some(found) = attempt.finding(&found.schema) {
                return Reproduced::Traced(Box::new(found));
            }
            if complete || deadline.is_over() {
                break;
            }
        }
        Reproduced::Missed { executions, complete }
    }
}

impl What {
    /// In a word or two.
    pub fn kind(&self) -> &'static str {
        match self {
            What::Outcome { .. } => "not atomic",
            What::Blocked(_) => "blocks",
            What::Panicked(message) if Crash::of_text(message).is_some() => "crashes",
            What::Panicked(_) => "panics",
            What::Memory(fault) => fault.kind.name(),
        }
    }

    /// Whether both are of the same kind.
    pub(super) fn is_like(&self, other: &What) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }

    /// What it is that ended an exploration.
    pub fn of(failure: Failure<'_>) -> What {
        match failure {
            Failure::Panicked(message) => What::Panicked(message.to_owned()),
            Failure::Memory(fault) => What::Memory(Box::new(fault.clone())),
        }
    }
}
