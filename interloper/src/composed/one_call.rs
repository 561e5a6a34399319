//! The search with one call of the method under test, in an open or restricted environment.
//!
//! A method need not use all the collections of its subject. What the environment does to the others makes no difference, so the
//! search leaves it out: see [`Cone`].

use std::collections::BTreeSet;
use std::mem;

use interloper_scheduler::decisions::{Decisions, ReplaySource, Source};

use super::check::{Made, make_run, rules, violation};
use super::cone::Cone;
use super::explore::{Found, Program, explore};
use super::histories::{Shown, fingerprint};
use super::method::{Search, Settings};
use super::misuse::Misuse;
use super::outcome::{Coverage, Violation};
use super::run::{Abort, PartSet, Rules};
use super::runner::Runner;
use super::world::{CallSet, StateId};

/// Searches the runs from these states.
pub(crate) fn search(
    runner: &mut Runner<'_>,
    settings: &Settings,
    (rules, initial): (Rules, &[StateId]),
    coverage: Coverage,
) -> Result<Found, Misuse> {
    let cone = Cone::of(runner, settings, initial);
    if let Some(cone) = &cone {
        let rules = Rules { allowed: rules.allowed & cone.letters, ..rules.clone() };
        let coverage = cone.covers(coverage.clone(), &rules);
        let mut program = OneCall::new(runner, settings, rules, &cone.initial);
        program.cone = Some(cone.parts);
        let found = explore(&mut program, settings, settings.bound, coverage)?;
        let stands = found.violation.is_some() || !program.has_left_cone();
        // A part that has left the cone counts as not finished, so the merge makes the whole search again.
        if stands || runner.split.is_part() {
            return Ok(found);
        }
    }
    // What the parts have shown was looked at in the cone. What is kept says of each search which one it is.
    let is_of_cone = cone.is_some() && runner.split.keeping().is_none();
    let split = is_of_cone.then(|| mem::take(&mut runner.split));
    let found = explore(&mut OneCall::new(runner, settings, rules, initial), settings, settings.bound, coverage);
    if let Some(split) = split {
        runner.split = split;
    }
    found
}

/// The operations and the states that the search had whose run these decisions determine: those of the cone, or all.
pub(crate) fn searched(
    runner: &mut Runner<'_>,
    settings: &Settings,
    (allowed, initial): (CallSet, Vec<StateId>),
    decisions: &Decisions,
) -> Result<(CallSet, Vec<StateId>), Misuse> {
    let Some(cone) = Cone::of(runner, settings, &initial) else { return Ok((allowed, initial)) };
    let reduced = allowed & cone.letters;
    let mut refuted = |allowed: CallSet, initial: &[StateId]| {
        let rules = rules(runner, settings, allowed);
        let mut source = ReplaySource::new(decisions.clone());
        let made = make_run(runner, &mut source, &rules, initial)?;
        Ok(source.divergence().is_none().then_some(made.refuted))
    };
    // In their short form, decisions may fit both.
    let is_reduced = match refuted(reduced, &cone.initial)? {
        Some(true) => true,
        Some(false) => refuted(allowed, &initial)? != Some(true),
        None => false,
    };
    Ok(if is_reduced { (reduced, cone.initial) } else { (allowed, initial) })
}

/// Runs of one call of the method under test.
struct OneCall<'a, 'm> {
    runner: &'a mut Runner<'m>,
    rules: Rules,
    initial: &'a [StateId],
    /// Whether two runs may have the same history.
    again: bool,
    last: Start,
    /// The collections that the search takes for all that the method uses.
    cone: Option<PartSet>,
}

impl<'a, 'm> OneCall<'a, 'm> {
    fn new(runner: &'a mut Runner<'m>, settings: &Settings, rules: Rules, initial: &'a [StateId]) -> OneCall<'a, 'm> {
        let again = matches!(settings.search, Search::Random { .. }) || !tells_runs_apart(runner, initial);
        let last = Start { argument: 0, initial: initial[0] };
        OneCall { runner, rules, initial, again, last, cone: None }
    }

    /// Whether the method has used what the search takes for unused.
    fn has_left_cone(&self) -> bool {
        let places = self.runner.places.as_ref();
        self.cone.zip(places).is_some_and(|(cone, places)| places.any_used_outside(cone))
    }
}

/// Where a run begins.
#[derive(Clone, Copy)]
struct Start {
    argument: usize,
    initial: StateId,
}

/// Whether runs of one call with different decisions have different histories. At the first different decision, they
/// begin differently, or the environment makes another operation, or it acts in one run where the method makes its next
/// step or returns in the other.
fn tells_runs_apart(runner: &Runner<'_>, initial: &[StateId]) -> bool {
    fn differ<T: Ord>(all: &[T]) -> bool {
        all.iter().collect::<BTreeSet<_>>().len() == all.len()
    }
    differ(&runner.arguments.values) && differ(initial) && differ(runner.world.alphabet())
}

impl<'m> Program<'m> for OneCall<'_, 'm> {
    fn refuted(&mut self, source: &mut dyn Source) -> Result<Option<bool>, Misuse> {
        let Made { argument, initial, refuted, .. } = make_run(self.runner, source, &self.rules, self.initial)?;
        self.last = Start { argument, initial };
        if self.has_left_cone() {
            return Err(Misuse::CutShort);
        }
        Ok((self.runner.log.abort != Some(Abort::NotEnabled)).then_some(refuted))
    }

    fn shown(&self) -> Shown {
        let Runner { log, world, split, .. } = &*self.runner;
        let fingerprint = || {
            let Start { argument, initial } = self.last;
            let start = (self.runner.arguments.first_like(argument) as u64) << 32 | initial.index() as u64;
            fingerprint(start, log, world, split.numbers())
        };
        Shown { steps: log.events.len() as u64, history: self.again.then(fingerprint) }
    }

    fn describe(&mut self, decisions: &Decisions, execution: u64) -> Result<Violation, Misuse> {
        violation(self.runner, &self.rules, self.initial, decisions, execution)
    }

    fn runner(&mut self) -> &mut Runner<'m> {
        self.runner
    }
}
