//! Which methods are at fault for a finding.

use std::collections::BTreeSet;

use interloper_linearize::schema::Schema;
use interloper_scheduler::{Deadline, Executions, Freedom};

use super::{
    Campaign, Engine, Found, Hunt, Hunted, Minimised, Progress, Runs, Searched, Source, attempt, attempt_by, changed,
};
use crate::object::{MethodId, Role};
use crate::schemas::{Bounds, Pool, with_core_instead};
use crate::stress::Next;
use crate::systematic::{self, Limits, Settings};

/// So many schemas of a set of core methods are tried before a larger set is to blame.
const TRIED_TO_BLAME: u64 = 60;

/// So many schemas with core methods in the place of one method of a pair are tried before both are to blame.
const TRIED_INSTEAD: usize = 100;

/// A set of methods has so many executions of a schema to show that its calls alone have to be interrupted, and a set of which they are
/// long has as many as [`STEPS_TO_BLAME`] allow, but [`LONG_TO_BLAME`] at least.
const EXECUTIONS_TO_BLAME: u64 = 1_000;
const STEPS_TO_BLAME: u64 = 200_000;
const LONG_TO_BLAME: u64 = 50;

impl Campaign {
    /// What came of a search of one method, or of a pair: makes its finding smaller, and says which methods are to blame for it.
    ///
    /// Methods that run as one step are not at fault. Core methods are trusted, unless they are tested themselves or show a violation
    /// without the tested methods: so a method that sees what a core method has done in part is at fault, although it is the core method
    /// that is interrupted.
    pub(super) fn settled(
        &self,
        tested: &[MethodId],
        all: Hunted,
        deadline: Deadline,
        watch: &mut dyn FnMut(&Progress<'_>) -> Next,
    ) -> Searched {
        let alone =
            |found: &Found| tested.iter().find_map(|&method| self.core_alone_until(method, &found.schema, deadline));
        let found = all.found().map(|found| alone(found).unwrap_or_else(|| found.clone()));
        let (schemas, executions, took) = (all.schemas, all.executions, all.took);
        let smallest = found.map(|found| {
            self.minimised_until(found, deadline, &mut |schema, tried| {
                watch(&Progress { schema, schemas, executions, took, smaller: Some(tried) })
            })
        });
        let to_blame = |smallest: &Minimised| -> BTreeSet<MethodId> {
            self.called(&smallest.found.schema).into_iter().filter(|method| tested.contains(method)).collect()
        };
        let has_core = self.object.with_role(Role::Core).next().is_some();
        let trusts = has_core && tested.iter().any(|&method| self.object.method(method).role != Role::Core);
        let of_others = |interrupted: &[BTreeSet<MethodId>]| {
            !interrupted.is_empty() && !interrupted.iter().flatten().any(|method| tested.contains(method))
        };
        let settled = smallest.map(|smallest| {
            let (mut smallest, mut interrupted) = self.settle(smallest, tested, deadline);
            if (to_blame(&smallest).len() > 1 || trusts && of_others(&interrupted))
                && let Some(fewer) = self.of_fewer(&smallest, tested, &interrupted, deadline)
            {
                (smallest, interrupted) = self.settle(fewer, tested, deadline);
            }
            let is_clear = has_core && !to_blame(&smallest).is_empty();
            if interrupted.is_empty()
                && !is_clear
                && let Some(fewest) = self.fewest(&smallest, deadline)
            {
                (smallest, interrupted) = self.settle(fewest, tested, deadline);
            }
            (smallest, interrupted)
        });
        let (smallest, interrupted) = settled.unzip();
        let interrupted: Vec<BTreeSet<MethodId>> = interrupted.unwrap_or_default();
        let of_core = !trusts && of_others(&interrupted)
            || smallest.as_ref().is_some_and(|smallest| to_blame(smallest).is_empty());
        let blamed = match &smallest {
            Some(smallest) if of_core => {
                interrupted.first().cloned().unwrap_or_else(|| self.called(&smallest.found.schema))
            }
            Some(smallest) if tested.len() > 1 => to_blame(smallest),
            _ => BTreeSet::new(),
        };
        let reproduced = smallest.as_ref().and_then(|minimised| match minimised.found.runs {
            Runs::Stress(_) => Some(self.reproduce_until(&minimised.found, deadline)),
            Runs::Systematic(_) => None,
        });
        let (method, left_out) = (tested[0], Vec::new());
        Searched { method, hunted: all, smallest, of_core, blamed, interrupted, reproduced, left_out }
    }

    /// The smallest sets of methods whose calls have to be interrupted for this finding, and the finding when the calls of all methods
    /// outside of the first set run as one step. There are no sets if that is not known, or if it takes all methods that it calls.
    pub(super) fn settle(
        &self,
        minimised: Minimised,
        tested: &[MethodId],
        deadline: Deadline,
    ) -> (Minimised, Vec<BTreeSet<MethodId>>) {
        let (sets, found): (Vec<_>, Vec<_>) = self.interrupted(&minimised.found, tested, deadline).into_iter().unzip();
        let found = found.into_iter().next().unwrap_or(minimised.found);
        (Minimised { found, ..minimised }, sets)
    }

    /// The smallest sets of methods whose calls have to be interrupted for this finding, each with the finding when every other call runs
    /// as one step.
    ///
    /// A set with a method of these comes first, and is the only one, unless these are several: then it is followed by the sets of as many
    /// methods with another one of these. None if no set showed the violation under sequential consistency that is smaller than that of all
    /// methods, or if it takes no interruption.
    fn interrupted(&self, found: &Found, tested: &[MethodId], deadline: Deadline) -> Vec<(BTreeSet<MethodId>, Found)> {
        let Runs::Systematic(explored) = &found.runs else { return Vec::new() };
        let (Some(trace), Ok(program)) = (&explored.stopped, self.object.program(&found.schema)) else {
            return Vec::new();
        };
        let called = self.called(&found.schema);
        if called.len() < 2 {
            return Vec::new();
        }
        let steps = trace.steps.len().max(1) as u64;
        let executions = Executions::AtMost((STEPS_TO_BLAME / steps).clamp(LONG_TO_BLAME, EXECUTIONS_TO_BLAME));
        // Under weak memory a call can see what is out of date without being interrupted.
        let limits = Limits { freedoms: trace.limits.freedoms.with(Freedom::Memory, 0), ..trace.limits };
        let settings = Settings { limits, executions, deadline, ..Settings::default() };
        let settings = settings.at_random(self.seed);
        let found_with = |interrupted: &BTreeSet<MethodId>| {
            let calls = (0..).zip(program.calls()).filter(|(_, (method, _))| !interrupted.contains(method));
            let whole = calls.map(|(call, _)| call).collect();
            let attempt = attempt_by(&program, (&self.visibility, self.bound), deadline, |_, look| {
                let explored = systematic::run_whole(&program, settings.clone(), &whole, look);
                Ok(Runs::Systematic(Box::new(explored)))
            });
            attempt.ok()?.finding(&found.schema).filter(|again| again.what.is_like(&found.what))
        };
        if found_with(&BTreeSet::new()).is_some() {
            return Vec::new();
        }
        let is_tested = |set: &BTreeSet<MethodId>| tested.iter().any(|method| set.contains(method));
        let mut sets = proper_subsets(&called);
        sets.sort_by_key(|set| (set.len(), !is_tested(set)));
        let mut all: Vec<(BTreeSet<MethodId>, Found)> = Vec::new();
        for set in sets {
            if let Some((first, _)) = all.first()
                && (tested.len() == 1 || set.len() > first.len() || !is_tested(&set))
            {
                break;
            }
            all.extend(found_with(&set).map(|found| (set, found)));
        }
        all
    }

    /// Replaces the calls of one tested method by calls of core methods: the finding of such a schema, if there is one. It calls fewer
    /// tested methods, or none. Where it is known which methods have to be interrupted, the calls of these stay.
    fn of_fewer(
        &self,
        minimised: &Minimised,
        tested: &[MethodId],
        interrupted: &[BTreeSet<MethodId>],
        deadline: Deadline,
    ) -> Option<Minimised> {
        let mut engine = self.brief(deadline);
        let is_fault = |method: &MethodId| interrupted.iter().any(|set| set.contains(method));
        let some_is_not = tested.iter().any(|method| !is_fault(method));
        for &method in tested.iter().filter(|method| !some_is_not || !is_fault(method)) {
            for schema in
                with_core_instead(&self.object, &minimised.found.schema, method, self.seed).take(TRIED_INSTEAD)
            {
                if deadline.is_over() {
                    break;
                }
                let Ok(program) = self.object.program(&schema) else { continue };
                let attempt = attempt(&program, &self.visibility, self.bound, &mut engine).ok();
                if let Some(found) = attempt.and_then(|attempt| attempt.finding(&schema)) {
                    return Some(self.minimised_until(found, deadline, &mut |_, _| Next::Continue));
                }
            }
        }
        None
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

    /// The methods that a schema calls, but for those that are left out and run beside no other call. Postconditions only look at what the
    /// others have left.
    pub(super) fn called(&self, schema: &Schema) -> BTreeSet<MethodId> {
        let calls = self.object.program(schema).map_or_else(|_| Vec::new(), |program| program.calls().to_vec());
        let called = calls.into_iter().map(|(called, _)| called);
        let called = called.filter(|called| !self.object.left_out().contains(called));
        called.filter(|&called| self.object.method(called).role != Role::Postcondition).collect()
    }

    /// Many schemas are tried to blame, each as briefly as the first pass tries it.
    fn brief(&self, deadline: Deadline) -> Engine {
        match self.passes.first() {
            Some(first) => Engine::Passes(vec![first.clone()]).until(deadline),
            None => self.engine.until(deadline),
        }
    }

    /// A finding of fewer methods than this one, if a few schemas of some of its methods show one: the fewest are to blame.
    fn fewest(&self, minimised: &Minimised, deadline: Deadline) -> Option<Minimised> {
        let mut sets = proper_subsets(&self.called(&minimised.found.schema));
        sets.sort_by_key(BTreeSet::len);
        let engine = self.brief(deadline);
        for methods in sets {
            let bounds = Bounds { invocations: 2..=4, ..Bounds::default() };
            let hunt = Hunt {
                object: self.object.clone(),
                pool: Pool::Only(methods.into_iter().collect()),
                source: Source::Random { bounds, seed: self.seed },
                visibility: self.visibility.clone(),
                engine: engine.clone(),
                bound: self.bound,
                schemas: Some(TRIED_TO_BLAME),
                time: None,
            };
            if let Some(found) = hunt.run(&mut |_| Next::Continue).found() {
                return Some(self.minimised_until(found.clone(), deadline, &mut |_, _| Next::Continue));
            }
        }
        None
    }
}

/// The sets of some of these methods, but not of all.
fn proper_subsets(methods: &BTreeSet<MethodId>) -> Vec<BTreeSet<MethodId>> {
    let of = |set: u64| (0..).zip(methods).filter(move |(index, _)| set & 1 << index != 0).map(|(_, &method)| method);
    (1..(1 << methods.len()) - 1).map(|set| of(set).collect()).collect()
}

#[cfg(test)]
mod tests;
