//! How weak each method exactly is: the strongest visibility that nothing seen contradicts (*Weak-consistency
//! specification via visibility relaxation*, section 5.2).

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use interloper_commutativity::Value;
use interloper_linearize::schema::Schema;
use interloper_linearize::visibility::{Level, Visibility};

use crate::hunt::{self, Engine, Found, Hunt, Hunted, Source};
use crate::judge::{Judge, Refusal};
use crate::object::{MethodId, Object, Program, Role};
use crate::schemas::{Bounds, Pool, Sampler};
use crate::stress::Next;

/// How visibility is derived.
#[derive(Clone, Debug)]
pub struct Derivation {
    /// The object.
    pub object: Object,
    /// How large schemas are.
    pub bounds: Bounds,
    /// Which schemas are drawn.
    pub seed: u64,
    /// How each schema is run.
    pub engine: Engine,
    /// How much may be explored to find out what is right.
    pub bound: usize,
    /// How many schemas each method is tried with, and then all of them together.
    pub schemas: u64,
    /// How long each method is tried at most, and then all of them together; none: whatever it takes.
    pub time: Option<Duration>,
}

/// What was derived for an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Derived {
    /// The methods under test, in the order of the object.
    pub methods: Vec<DerivedMethod>,
    /// All methods that have a visibility, with it, called together: what that search came to. It may find that the
    /// methods are weaker together than each of them with core methods.
    pub together: Hunted,
}

/// What was derived for a method.
#[derive(Clone, Debug, PartialEq)]
pub struct DerivedMethod {
    /// The method.
    pub method: MethodId,
    /// The strongest level that nothing contradicts; none when even [`Level::Weak`] is contradicted.
    pub level: Option<Level>,
    /// What contradicts the next stronger level, and each one above it: first the one that atomicity fell by.
    pub refuted: Vec<(Level, Found)>,
    /// How many schemas the method was tried with, and how many executions they had.
    pub schemas: u64,
    /// See `schemas`.
    pub executions: u64,
    /// How many of them came after the level had been found, and were in keeping with it.
    pub supporting: u64,
    /// The schemas of which there is no telling what is right, and why.
    pub skipped: Vec<(Schema, Refusal)>,
}

/// How a derivation gets on.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'d> {
    /// The method that is tried; none: all of them together.
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
    /// Random schemas of the default bounds, a twentieth of a second each, two hundred for each method.
    pub fn new(object: &Object, seed: u64) -> Derivation {
        let Hunt { engine, bound, .. } = Hunt::new(object, Pool::Together(vec![]), seed);
        Derivation { object: object.clone(), bounds: Bounds::default(), seed, engine, bound, schemas: 200, time: None }
    }

    /// Derives the visibility of each method under test by itself, and then tries all of them together.
    pub fn run(&self, watch: &mut dyn FnMut(&Progress<'_>)) -> Derived {
        let methods: Vec<DerivedMethod> =
            self.object.with_role(Role::UnderTest).map(|method| self.method(method, watch)).collect();
        let together = self.together(&methods, watch);
        Derived { methods, together }
    }

    /// Derives the visibility of one method.
    pub fn method(&self, method: MethodId, watch: &mut dyn FnMut(&Progress<'_>)) -> DerivedMethod {
        let until = self.time.map(|time| Instant::now() + time);
        let mut derived = DerivedMethod {
            method,
            level: Some(Level::Complete),
            refuted: vec![],
            schemas: 0,
            executions: 0,
            supporting: 0,
            skipped: vec![],
        };
        let mut engine = self.engine.clone();
        let sampler = Sampler::new(&self.object, Pool::One(method), self.bounds.clone(), self.seed);
        for schema in sampler.take(usize::try_from(self.schemas).unwrap_or(usize::MAX)) {
            let Some(level) = derived.level.filter(|_| until.is_none_or(|until| Instant::now() < until)) else { break };
            let (schemas, executions) = (derived.schemas, derived.executions);
            watch(&Progress { method: Some(method), level, schemas, executions, schema: &schema });
            derived.schemas += 1;
            derived.supporting += 1;
            if let Err(refusal) = self.weaken(&mut derived, &schema, &mut engine) {
                derived.skipped.push((schema, refusal));
            }
        }
        derived
    }

    /// Runs a schema, and again with a weaker level as long as it shows an outcome that is not right.
    fn weaken(&self, derived: &mut DerivedMethod, schema: &Schema, engine: &mut Engine) -> Result<(), Refusal> {
        let program = self.object.program(schema).map_err(Refusal::Model)?;
        while let Some(level) = derived.level {
            let visibility = self.with_level(derived.method, level);
            let attempt = hunt::attempt(&program, &visibility, self.bound, engine)?;
            derived.executions += attempt.runs.executions();
            let wrong = attempt.wrong.clone();
            let Some(found) = attempt.finding(schema) else { break };
            derived.refuted.push((level, found));
            derived.supporting = 0;
            derived.level = match wrong {
                Some(wrong) => self.next_level(derived.method, level, &program, &wrong)?,
                // No visibility explains a call that never returns.
                None => None,
            };
        }
        Ok(())
    }

    /// The strongest of the levels below `level` at which an outcome is right.
    fn next_level(
        &self,
        method: MethodId,
        level: Level,
        program: &Program,
        outcome: &[Value],
    ) -> Result<Option<Level>, Refusal> {
        let mut sequential = program.sequential();
        for weaker in Level::ALL.into_iter().rev().filter(|weaker| *weaker < level) {
            let visibility = self.with_level(method, weaker);
            if Judge::new(program, &mut sequential, &visibility, self.bound)?.admits(outcome) {
                return Ok(Some(weaker));
            }
        }
        Ok(None)
    }

    /// All other methods under test as the object describes them, this one at a level.
    fn with_level(&self, method: MethodId, level: Level) -> Visibility {
        self.object.visibility().clone().with(&self.object.method(method).name, level)
    }

    /// Tries methods together, each with the level that was derived for it.
    pub fn together(&self, methods: &[DerivedMethod], watch: &mut dyn FnMut(&Progress<'_>)) -> Hunted {
        let (mut pool, mut levels) = (vec![], BTreeMap::new());
        for DerivedMethod { method, level, .. } in methods {
            let Some(level) = *level else { continue };
            pool.push(*method);
            // Methods that share a name share a visibility: the weaker one.
            let name = self.object.method(*method).name.clone();
            levels.entry(name).and_modify(|other: &mut Level| *other = level.min(*other)).or_insert(level);
        }
        let with = |visibility: Visibility, (name, level): (Arc<str>, Level)| visibility.with(&name, level);
        let visibility = levels.into_iter().fold(Visibility::complete(), with);
        let hunt = Hunt {
            object: self.object.clone(),
            pool: Pool::Together(pool),
            source: Source::Random { bounds: self.bounds.clone(), seed: self.seed },
            visibility,
            engine: self.engine.clone(),
            bound: self.bound,
            schemas: Some(self.schemas),
            time: self.time,
        };
        hunt.run(&mut |progress| {
            let hunt::Progress { schema, schemas, executions, .. } = *progress;
            watch(&Progress { method: None, level: Level::Weak, schemas, executions, schema });
            Next::Continue
        })
    }
}
