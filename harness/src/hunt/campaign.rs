//! A search of one method, from the smallest schemas to random ones, whose finding is then made smaller.

use std::time::Duration;

use interloper_linearize::outcomes::DEFAULT_BOUND;
use interloper_linearize::schema::Schema;
use interloper_linearize::visibility::Visibility;
use interloper_scheduler::{Deadline, Executions};

use super::{
    Ended, Engine, Found, Hunt, Hunted, Minimised, Pass, Progress, Runs, Source, What, attempt, changed, minimise,
    passes,
};
use crate::object::{MethodId, Object, Role};
use crate::schemas::{Bounds, Pool};
use crate::stress::{Budget, Next};
use crate::systematic;

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
    /// The most schemas to try last, at random, of those that call the method more than once.
    pub repeated: Option<(Bounds, u64)>,
    /// How long a method is searched at most, with making small what was found.
    pub time: Option<Duration>,
}

/// The result of searching a method.
#[derive(Clone, Debug, PartialEq)]
pub struct Searched {
    /// The method.
    pub method: MethodId,
    /// The search. What it found is as it was found.
    pub hunted: Hunted,
    /// The finding, made smaller.
    pub smallest: Option<Minimised>,
    /// Whether core methods are at fault, because they show the finding without this method: they are not atomic, and
    /// nothing is known of this one.
    pub of_core: bool,
    /// If real threads found it: whether the scheduler shows it, too.
    pub reproduced: Option<Reproduced>,
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

    /// The same schemas in passes: see [`Pass::before`]. Then come up to 1,000 schemas that call the method more than once, with
    /// or without core methods.
    pub fn staged(object: &Object, seed: u64) -> Campaign {
        let repeated = Bounds { invocations: 2..=4, ..Bounds::default() };
        let thorough = systematic::Settings { seed, ..systematic::Settings::default() };
        let passes = Pass::before(&thorough);
        Campaign {
            passes,
            repeated: Some((repeated, 1_000)),
            engine: Engine::Systematic(thorough),
            ..Campaign::systematic(object, seed)
        }
    }

    /// Searches one method, and makes the schema of its finding smaller. `watch` sees the progress of both.
    pub fn method(&self, method: MethodId, watch: &mut dyn FnMut(&Progress<'_>) -> Next) -> Searched {
        let deadline = Deadline::of(self.time);
        let all = match self.passes.is_empty() {
            true => self.once(method, deadline, watch),
            false => passes::Search::new(self, method, deadline, watch).run(),
        };
        let alone = |found: &Found| self.core_alone_until(method, &found.schema, deadline);
        let found = all.found().map(|found| alone(found).unwrap_or_else(|| found.clone()));
        let (schemas, executions, took) = (all.schemas, all.executions, all.took);
        let smallest = found.map(|found| {
            self.minimised_until(found, deadline, &mut |schema, tried| {
                watch(&Progress { schema, schemas, executions, took, smaller: Some(tried) })
            })
        });
        let of_core = smallest.as_ref().is_some_and(|minimised| !self.calls(method, &minimised.found.schema));
        let reproduced = smallest.as_ref().and_then(|minimised| match minimised.found.runs {
            Runs::Stress(_) => Some(self.reproduce_until(&minimised.found, deadline)),
            Runs::Systematic(_) => None,
        });
        Searched { method, hunted: all, smallest, of_core, reproduced }
    }

    /// Runs each schema once.
    fn once(&self, method: MethodId, deadline: Deadline, watch: &mut dyn FnMut(&Progress<'_>) -> Next) -> Hunted {
        let mut all = Hunted::nothing();
        for (source, pool, most) in self.stages(method) {
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
            let hunted = hunt.run(&mut |progress| {
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

    /// The finding of a schema without the calls of one method, if it has one: then the other methods are at fault.
    pub(crate) fn core_alone_until(&self, method: MethodId, schema: &Schema, deadline: Deadline) -> Option<Found> {
        let program = self.object.program(schema).ok()?;
        let mut called = program.calls().iter().map(|&(called, _)| called);
        let rest = changed(schema, |sequences| {
            sequences.iter_mut().for_each(|sequence| sequence.retain(|_| called.next() != Some(method)));
        });
        let rest = Some(rest).filter(|rest| !rest.is_empty())?;
        let program = self.object.program(&rest).ok()?;
        attempt(&program, &self.visibility, self.bound, &mut self.longer(deadline)).ok()?.finding(&rest)
    }

    /// Whether a schema calls a method.
    fn calls(&self, method: MethodId, schema: &Schema) -> bool {
        let program = self.object.program(schema);
        program.is_ok_and(|program| program.calls().iter().any(|&(called, _)| called == method))
    }

    /// Where schemas come from, which methods they call, and how many are taken from there at most.
    pub(super) fn stages(&self, method: MethodId) -> impl Iterator<Item = (Source, Pool, u64)> {
        let seed = self.seed;
        let by_rank = self.by_rank.clone();
        let by_rank = by_rank.map(|(bounds, most)| (Source::ByRank { bounds, seed }, Pool::One(method), most));
        let random = self.random.clone();
        let random = random.map(|(bounds, most)| (Source::Random { bounds, seed }, Pool::One(method), most));
        let repeated = self.repeated.clone();
        let repeated = repeated.map(|(bounds, most)| (Source::Random { bounds, seed }, Pool::Repeated(method), most));
        by_rank.into_iter().chain(random).chain(repeated)
    }

    /// The schemas that a method is searched with, in this order.
    pub(crate) fn schemas(&self, method: MethodId) -> impl Iterator<Item = Schema> {
        let of_stage = move |(source, pool, most): (Source, Pool, u64)| {
            source.schemas(&self.object, &pool).take(usize::try_from(most).unwrap_or(usize::MAX))
        };
        self.stages(method).flat_map(of_stage)
    }

    /// Makes a finding small. On real threads each smaller schema is run for eight times as long as in the search.
    pub fn minimised(&self, found: Found) -> Minimised {
        self.minimised_until(found, Deadline::of(self.time), &mut |_, _| Next::Continue)
    }

    fn minimised_until(
        &self,
        found: Found,
        deadline: Deadline,
        watch: &mut dyn FnMut(&Schema, u64) -> Next,
    ) -> Minimised {
        minimise(&self.object, &self.visibility, self.bound, &mut self.longer(deadline), found, watch)
    }

    /// The engine, with more time for a schema where time is what it has: eight times as much.
    fn longer(&self, deadline: Deadline) -> Engine {
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

    fn reproduce_until(&self, found: &Found, deadline: Deadline) -> Reproduced {
        let Ok(program) = self.object.program(&found.schema) else { return Reproduced::NotInstrumented };
        // One execution says whether the scheduler sees anything at all.
        let one = systematic::Settings { executions: Executions::AtMost(1), ..systematic::Settings::default() };
        let first = systematic::run(&program, &one, &mut |_| Next::Continue);
        if !first.instrumented && first.panicked().is_none() {
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
            What::Panicked(_) => "panics",
        }
    }
}
