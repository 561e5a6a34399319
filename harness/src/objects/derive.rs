//! How weak each method is: the strongest visibility that no outcome contradicts (*Weak-consistency
//! specification via visibility relaxation*, section 5.2).

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use interloper_commutativity::Value;
use interloper_linearize::schema::Schema;
use interloper_linearize::visibility::{Level, Visibility};
use interloper_scheduler::Deadline;

use crate::hunt::{self, At, Campaign, Coverage, Engine, Found, Hunt, Hunted, Source, Visit, Visits, What};
use crate::judge::{Disagreement, Judge, Refusal};
use crate::judged::{self, PATIENCE};
use crate::object::{MethodId, Program, Role};
use crate::schemas::{Bounds, Pool};
use crate::stress::Next;

/// How to derive visibility.
#[derive(Clone, Debug)]
pub struct Derivation {
    /// The search whose schemas are tried with each method, in the same order. A derivation does not end with the first
    /// violation. When schemas run in every interleaving, a method that the search finds not to be atomic is therefore not
    /// [`Level::Complete`] here.
    pub campaign: Campaign,
    /// The number of random schemas to try with all methods together.
    pub together: (Bounds, u64),
}

/// See [`Derivation::new`].
const TOGETHER: u64 = 2_000;

/// The result of a derivation for an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Derived {
    /// The methods under test, in the order of the object.
    pub methods: Vec<DerivedMethod>,
    /// The result of a search with all methods that have a visibility, called together. Methods can be weaker together
    /// than each method alone with core methods.
    pub together: Hunted,
}

/// The result of a derivation for a method.
#[derive(Clone, Debug, PartialEq)]
pub struct DerivedMethod {
    /// The method.
    pub method: MethodId,
    /// The strongest level that no outcome contradicts; `None` when an outcome contradicts even [`Level::Weak`].
    pub level: Option<Level>,
    /// The findings that contradict the next stronger level and each level above it, beginning with the one that contradicts
    /// atomicity.
    pub refuted: Vec<(Level, Found)>,
    /// How many schemas the method was tried with, and how many executions they had.
    pub schemas: u64,
    /// See `schemas`.
    pub executions: u64,
    /// What these executions cover, if they ran under the scheduler. A schema that refutes a level runs again with the
    /// next level, and its traces count again.
    pub coverage: Coverage,
    /// How many schemas came after the level was found, and agree with it.
    pub supporting: u64,
    /// How many executions these had.
    pub supporting_executions: u64,
    /// A violation of core methods without this method, if there is one: then core methods are not atomic, and the level
    /// means nothing.
    pub of_core: Option<Found>,
    /// The schemas whose correct outcomes are unknown, and why. If the object and its model disagree on the last of
    /// these schemas, the level means nothing.
    pub skipped: Vec<(Schema, Refusal)>,
}

impl DerivedMethod {
    /// Where the object and its model disagree on one thread, if they do. That ends the derivation.
    pub fn disagreement(&self) -> Option<(&Schema, &Disagreement)> {
        hunt::disagreement(&self.skipped)
    }
}

/// The progress of a derivation.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'d> {
    /// The method that is tried; `None` for all methods together.
    pub method: Option<MethodId>,
    /// The level that is tried.
    pub level: Level,
    /// How many schemas the method has been tried with.
    pub schemas: u64,
    /// How many executions they had.
    pub executions: u64,
    /// The schema that comes next.
    pub schema: &'d Schema,
}

impl Derivation {
    /// What a search tries, and then all methods together with up to 2,000 random schemas, no more than there are in the
    /// search.
    pub fn new(campaign: Campaign) -> Derivation {
        let together = campaign.random.clone().unwrap_or_default();
        Derivation { campaign, together: (together.0, together.1.min(TOGETHER)) }
    }

    /// Derives the visibility of each method under test alone, and then tries all methods together.
    pub fn run(&self, watch: &mut dyn FnMut(&Progress<'_>)) -> Derived {
        let methods: Vec<DerivedMethod> =
            self.campaign.object.with_role(Role::UnderTest).map(|method| self.method(method, &[], watch)).collect();
        let together = self.together(&methods, watch);
        Derived { methods, together }
    }

    /// Derives the visibility of one method. What is known to have happened counts without being run again, as does a
    /// violation that real threads have shown once and may not show a second time.
    pub fn method(&self, method: MethodId, known: &[Found], watch: &mut dyn FnMut(&Progress<'_>)) -> DerivedMethod {
        self.method_after(method, known, &mut Visits::default(), watch)
    }

    /// The same under the scheduler, without the visits that were made before, and only for schemas that belong to the part of
    /// `visits`. A schema at which a level falls is no visit: it is run again.
    ///
    /// A part may visit a schema with a stronger level than the whole search, since it knows fewer of the findings that weaken the
    /// level. An outcome that a stronger level explains, a weaker one explains as well, so the visit is that of the whole.
    pub fn method_after(
        &self,
        method: MethodId,
        known: &[Found],
        visits: &mut Visits,
        watch: &mut dyn FnMut(&Progress<'_>),
    ) -> DerivedMethod {
        let deadline = Deadline::of(self.campaign.time);
        let mut derived = DerivedMethod {
            method,
            level: Some(Level::Complete),
            refuted: vec![],
            schemas: 0,
            executions: 0,
            coverage: Coverage::default(),
            supporting: 0,
            supporting_executions: 0,
            of_core: None,
            skipped: vec![],
        };
        for found in known {
            if let Err(refusal) = self.weaken_by(&mut derived, found, deadline) {
                derived.skipped.push((found.schema.clone(), refusal));
            }
        }
        let mut engine = self.campaign.engine.until(deadline);
        for (number, schema) in (0..).zip(self.campaign.schemas(method)) {
            if !visits.has(method, number) {
                continue;
            }
            let Some(level) = derived.level.filter(|_| !deadline.is_over()) else { break };
            if derived.of_core.is_some() || derived.disagreement().is_some() {
                break;
            }
            let (schemas, executions) = (derived.schemas, derived.executions);
            watch(&Progress { method: Some(method), level, schemas, executions, schema: &schema });
            derived.schemas += 1;
            let at = At::of(method, 0, number, &schema);
            if let Some(visit) = visits.earlier(at, &derived.coverage) {
                derived.executions += visit.executions;
                derived.coverage.take(visit);
                derived.coverage.see(visit.unseen());
                derived.supporting += 1;
                derived.supporting_executions += visit.executions;
                continue;
            }
            match self.weaken(&mut derived, &schema, &mut engine) {
                Ok(Some(visit)) => visits.note(at, visit),
                Ok(None) => {}
                Err(Refusal::OutOfTime) => derived.schemas -= 1,
                Err(refusal) => derived.skipped.push((schema, refusal)),
            }
        }
        derived
    }

    /// Runs a schema, and again with a weaker level as long as it shows an outcome that is not right. Gives what one run has shown
    /// in which everything was right from the beginning.
    fn weaken(
        &self,
        derived: &mut DerivedMethod,
        schema: &Schema,
        engine: &mut Engine,
    ) -> Result<Option<Visit>, Refusal> {
        let before = derived.level;
        let program = self.campaign.object.program(schema).map_err(Refusal::Model)?;
        while let Some(level) = derived.level.filter(|_| derived.of_core.is_none()) {
            let visibility = self.with_level(derived.method, level);
            let attempt = hunt::attempt(&program, &visibility, self.campaign.bound, engine)?;
            let executions = attempt.runs.executions();
            derived.executions += executions;
            let visit = derived.coverage.note(&program, &attempt.runs, engine);
            let is_whole = !attempt.runs.timed_out(engine.deadline());
            match attempt.finding(schema) {
                Some(found) => self.refute(derived, level, &program, found, engine.deadline())?,
                None => {
                    derived.supporting += 1;
                    derived.supporting_executions += executions;
                    return Ok(visit.filter(|_| is_whole && derived.level == before));
                }
            }
        }
        Ok(None)
    }

    /// The same for a finding that is known already.
    fn weaken_by(&self, derived: &mut DerivedMethod, found: &Found, deadline: Deadline) -> Result<(), Refusal> {
        let program = self.campaign.object.program(&found.schema).map_err(Refusal::Model)?;
        let Some(level) = derived.level else { return Ok(()) };
        let visibility = self.with_level(derived.method, level);
        let is_right = match &found.what {
            What::Outcome { outcome, .. } => self.judge(&program, &visibility, deadline)?.admits(outcome),
            What::Blocked(_) | What::Panicked(_) | What::Memory(_) => false,
        };
        if is_right { Ok(()) } else { self.refute(derived, level, &program, found.clone(), deadline) }
    }

    /// A level falls by a finding.
    fn refute(
        &self,
        derived: &mut DerivedMethod,
        level: Level,
        program: &Program,
        found: Found,
        deadline: Deadline,
    ) -> Result<(), Refusal> {
        if level == Level::Complete
            && let Some(of_core) = self.campaign.core_alone_until(derived.method, &found.schema, deadline)
        {
            derived.of_core = Some(of_core);
            return Ok(());
        }
        (derived.supporting, derived.supporting_executions) = (0, 0);
        derived.level = match &found.what {
            What::Outcome { outcome, .. } => self.next_level(derived.method, level, (program, outcome), deadline)?,
            // No visibility explains a call that never returns.
            What::Blocked(_) | What::Panicked(_) | What::Memory(_) => None,
        };
        derived.refuted.push((level, found));
        Ok(())
    }

    /// The strongest of the levels below `level` at which an outcome is right.
    fn next_level(
        &self,
        method: MethodId,
        level: Level,
        (program, outcome): (&Program, &[Value]),
        deadline: Deadline,
    ) -> Result<Option<Level>, Refusal> {
        for weaker in Level::ALL.into_iter().rev().filter(|weaker| *weaker < level) {
            let visibility = self.with_level(method, weaker);
            if self.judge(program, &visibility, deadline)?.admits(outcome) {
                return Ok(Some(weaker));
            }
        }
        Ok(None)
    }

    fn judge(&self, program: &Program, visibility: &Visibility, deadline: Deadline) -> Result<Judge, Refusal> {
        let judged = judged::within(program, visibility, self.campaign.bound, PATIENCE, deadline);
        judged.map(|(judge, _)| judge)
    }

    /// The visibility that a method is tried with: all other methods under test as the object describes them, this one at a
    /// level.
    #[must_use]
    pub fn with_level(&self, method: MethodId, level: Level) -> Visibility {
        self.campaign.visibility.clone().with(&self.campaign.object.method(method).name, level)
    }

    /// The visibility of all methods together, each with the level that was derived for it.
    #[must_use]
    pub fn levels(&self, methods: &[DerivedMethod]) -> Visibility {
        let mut levels = BTreeMap::new();
        for derived in methods {
            let DerivedMethod { method, level: Some(level), of_core: None, .. } = derived else { continue };
            // Methods that share a name share a visibility: the weaker one.
            let name = self.campaign.object.method(*method).name.clone();
            levels.entry(name).and_modify(|other: &mut Level| *other = *level.min(other)).or_insert(*level);
        }
        let with = |visibility: Visibility, (name, level): (Arc<str>, Level)| visibility.with(&name, level);
        levels.into_iter().fold(Visibility::complete(), with)
    }

    /// Tries methods together, each with the level that was derived for it.
    pub fn together(&self, methods: &[DerivedMethod], watch: &mut dyn FnMut(&Progress<'_>)) -> Hunted {
        let is_derived = |one: &&DerivedMethod| one.level.is_some() && one.of_core.is_none();
        let pool = methods.iter().filter(is_derived).map(|one| one.method).collect();
        let (bounds, schemas) = self.together.clone();
        let hunt = Hunt {
            object: self.campaign.object.clone(),
            pool: Pool::Together(pool),
            source: Source::Random { bounds, seed: self.campaign.seed },
            visibility: self.levels(methods),
            engine: self.campaign.engine.clone(),
            bound: self.campaign.bound,
            schemas: Some(schemas),
            time: self.campaign.time,
        };
        hunt.run(&mut |progress| {
            let hunt::Progress { schema, schemas, executions, .. } = *progress;
            watch(&Progress { method: None, level: Level::Weak, schemas, executions, schema });
            Next::Continue
        })
    }
}
