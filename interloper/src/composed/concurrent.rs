//! Several concurrent calls on the fiber engine, with or without the environment around them.
//!
//! A run is a *program*: tasks, each a sequence of calls of the object's methods. Its history is judged by the general
//! search (Wing–Gong–Lowe) against what each method does when it runs alone.

use interloper_report::Counterexample;
use interloper_report::explorer::Exploration;
use interloper_scheduler::decisions::{Decisions, Question, ReplaySource, Source};
use interloper_scheduler::{Config, Engine};

use crate::composed::adversary::{Adversary, Environment};
use crate::composed::check::{count, nothing_yet, rules};
use crate::composed::explore::{self, Found};
use crate::composed::explored::{Again, explored};
use crate::composed::histories::{Shown, fingerprint};
use crate::composed::method::{Search, Settings};
use crate::composed::misuse::Misuse;
use crate::composed::outcome::{Coverage, Report, Violation};
use crate::composed::run::Rules;
use crate::composed::runner::{Runner, STACK, watchdog};
use crate::composed::world::{CallSet, StateId, hash_of};

mod describe;
mod execute;
mod history;
pub(crate) mod pairs;
mod sleep;

use describe::describe;
pub(crate) use execute::Came;
use execute::{How, On, execute};
use history::Made;
pub(crate) use sleep::Edges;
use sleep::Sleep;

/// How many calls of the object's own methods lead from a fresh object to the states that closed programs begin in.
pub(crate) const OWN_CALLS: usize = 2;

/// How many calls one task of a closed program makes at most. With two, another call can see the state between them.
const CALLS_IN_A_ROW: usize = 2;

/// One call of a program: which of the object's methods, with which of the arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Planned {
    method: usize,
    argument: usize,
}

/// The calls of a program by task.
type Program = Vec<Vec<Planned>>;

/// One call of a method, alone with the environment, on collections as they were published.
pub(crate) fn one_call(
    runner: &mut Runner<'_>,
    engine: &mut Engine,
    source: &mut dyn Source,
    rules: &Rules,
    (method, argument): (usize, usize),
    initial: StateId,
) -> Came {
    let program = vec![vec![Planned { method, argument }]];
    execute(runner, On::New, engine, source, rules, initial, &program, How::Alone)
}

/// Several calls of the method under test at once, in an open or restricted environment.
pub(crate) fn open(
    runner: &mut Runner<'_>,
    settings: &Settings,
    initial: &[StateId],
    allowed: CallSet,
    environment: &str,
) -> Result<Found, Misuse> {
    let rules = rules(runner, settings, allowed);
    let coverage = nothing_yet(runner, settings, initial, allowed, environment);
    let mut calls = SeveralCalls::new(runner, settings, rules, initial, Draw::AtOnce);
    explore::explore(&mut calls, settings, settings.bound, coverage)
}

/// Concurrent calls of the object's own methods, which alone touch the collections. If other methods are known, the
/// method under test runs beside a task that calls any of them; otherwise it runs beside itself.
pub(crate) fn closed(runner: &mut Runner<'_>, settings: &Settings, initial: &[StateId]) -> Result<Found, Misuse> {
    let rules = Rules { bound: 0, ..rules(runner, settings, 0) };
    let reachable = reachable(runner, initial)?;
    let (draw, calls) = closed_program(runner);
    let environment = format!("closed environment of {}", method_names(runner));
    let coverage = Coverage { bound: 0, calls, ..nothing_yet(runner, settings, &reachable, 0, &environment) };
    let mut calls = SeveralCalls::new(runner, settings, rules, &reachable, draw);
    explore::explore(&mut calls, settings, 0, coverage)
}

/// How a closed program is drawn, and how many calls it has at most.
fn closed_program(runner: &Runner<'_>) -> (Draw, usize) {
    if runner.description.beside.is_empty() {
        (Draw::AtOnce, at_once(runner))
    } else {
        let calls = runner.calls().map(|(method, argument)| Planned { method, argument });
        (Draw::BesideOthers(calls.collect()), 1 + CALLS_IN_A_ROW)
    }
}

/// How many tasks call the method at once: as many as requested, but at least two.
fn at_once(runner: &Runner<'_>) -> usize {
    runner.description.calls.max(2)
}

pub(crate) fn engine(settings: &Settings) -> Engine {
    // What happened is in the log of the run.
    let config = Config { trace: false, decisions: false, stack_size: STACK, ..Config::default() };
    Engine::new(Config { watchdog: watchdog(settings), ..config })
}

fn method_names(runner: &Runner<'_>) -> String {
    let names: Vec<&str> = (0..=runner.description.beside.len()).map(|method| runner.method_name(method)).collect();
    names.join(", ")
}

/// The states that the object's own methods reach from a fresh object. When they alone touch the collections, no other
/// state occurs.
fn reachable(runner: &mut Runner<'_>, initial: &[StateId]) -> Result<Vec<StateId>, Misuse> {
    let mut states = vec![initial[0]];
    let mut from = 0;
    for _ in 0..OWN_CALLS {
        let to = states.len();
        for index in from..to {
            for (method, argument) in runner.calls() {
                let next = runner.reference(method, argument, states[index])?.end;
                if !states.contains(&next) {
                    states.push(next);
                }
            }
        }
        from = to;
    }
    Ok(states)
}

/// Draws a program of tasks that call the method under test once each.
fn calls_at_once(runner: &Runner<'_>, source: &mut dyn Source) -> Program {
    let arguments = count(runner.arguments.len());
    let mut call = || vec![Planned { method: 0, argument: source.decide(Question::Argument, arguments) as usize }];
    (0..at_once(runner)).map(|_| call()).collect()
}

/// Draws a program in which the method under test runs beside one to [`CALLS_IN_A_ROW`] of these calls. How many there are is drawn
/// first, so that an exhaustive search makes all the smaller programs before the larger ones.
fn call_beside_others(runner: &Runner<'_>, calls: &[Planned], source: &mut dyn Source) -> Program {
    let further = source.decide(Question::Argument, count(CALLS_IN_A_ROW));
    let argument = source.decide(Question::Argument, count(runner.arguments.len())) as usize;
    let mut call = || calls[source.decide(Question::Argument, count(calls.len())) as usize];
    vec![vec![Planned { method: 0, argument }], (0..=further).map(|_| call()).collect()]
}

/// Which programs the runs of a search have.
enum Draw {
    /// The method under test at once with itself.
    AtOnce,
    /// The method under test beside such calls.
    BesideOthers(Vec<Planned>),
    /// One of these.
    OneOf(Vec<Program>),
}

impl Draw {
    fn draw(&self, runner: &Runner<'_>, source: &mut dyn Source) -> Program {
        match self {
            Draw::AtOnce => calls_at_once(runner, source),
            Draw::BesideOthers(calls) => call_beside_others(runner, calls, source),
            Draw::OneOf(programs) => {
                programs[source.decide(Question::Argument, count(programs.len())) as usize].clone()
            }
        }
    }
}

/// Runs of several calls on the engine.
struct SeveralCalls<'a, 'm> {
    runner: &'a mut Runner<'m>,
    engine: Engine,
    rules: Rules,
    initial: &'a [StateId],
    draw: Draw,
    /// Where the last run began.
    start: u64,
    /// What a search of all runs need not make.
    sleep: Option<Sleep>,
}

impl<'m> explore::Program<'m> for SeveralCalls<'_, 'm> {
    fn refuted(&mut self, source: &mut dyn Source) -> Result<Option<bool>, Misuse> {
        let Some(made) = self.searched(source)? else { return Ok(None) };
        match self.runner.log.abort {
            Some(abort) if abort.is_no_run() => Ok(None),
            _ => made.refuted(self.runner).map(Some),
        }
    }

    fn shown(&self) -> Shown {
        let Runner { log, world, split, .. } = &*self.runner;
        Shown { steps: log.steps_of_all(), history: Some(fingerprint(self.start, log, world, split.numbers())) }
    }

    fn runner(&mut self) -> &mut Runner<'m> {
        self.runner
    }

    fn saved(&self) -> Option<Vec<u64>> {
        Some(self.sleep.as_ref().map_or_else(Vec::new, Sleep::to_words))
    }

    fn restore(&mut self, saved: &[u64]) -> bool {
        let Some(sleep) = &mut self.sleep else { return saved.is_empty() };
        let kept = Sleep::of_words(saved);
        let fits = kept.is_some();
        *sleep = kept.unwrap_or_default();
        fits
    }

    fn describe(&mut self, decisions: &Decisions, execution: u64) -> Result<Violation, Misuse> {
        (self.rules.audit, self.rules.describes, self.rules.deadline) = (true, true, None);
        let mut source = ReplaySource::new(decisions.clone());
        let made = self.make(&mut source)?;
        if let Some(divergence) = source.divergence() {
            return Err(Misuse::Diverged { reason: divergence.to_string() });
        }
        if !made.refuted(self.runner)? {
            return Err(Misuse::not_reproduced());
        }
        describe(self.runner, &made, decisions, execution)
    }
}

impl<'a, 'm> SeveralCalls<'a, 'm> {
    fn new(
        runner: &'a mut Runner<'m>,
        settings: &Settings,
        rules: Rules,
        initial: &'a [StateId],
        draw: Draw,
    ) -> SeveralCalls<'a, 'm> {
        // With operations of the environment there are choices in between. Steps of wrappers do not say what they touch.
        let sleeps = rules.bound == 0
            && runner.places.is_some()
            && settings.adversary != Adversary::Unfiltered
            && matches!(settings.search, Search::Exhaustive);
        let sleep = sleeps.then(Sleep::default);
        SeveralCalls { runner, engine: engine(settings), rules, initial, draw, start: 0, sleep }
    }

    fn make(&mut self, source: &mut dyn Source) -> Result<Made, Misuse> {
        let (program, initial) = self.drawn(source);
        self.run(source, program, initial, None)
    }

    /// The next run of a search, unless another part of it has the run.
    fn searched(&mut self, source: &mut dyn Source) -> Result<Option<Made>, Misuse> {
        let (program, initial) = self.drawn(source);
        if !source.is_own() {
            return Ok(None);
        }
        let mut sleep = self.sleep.take();
        let made = self.run(source, program, initial, sleep.as_mut());
        self.sleep = sleep;
        made.map(Some)
    }

    /// What the next run runs, and from where.
    fn drawn(&self, source: &mut dyn Source) -> (Program, StateId) {
        let program = self.draw.draw(self.runner, source);
        let initial = self.initial[source.decide(Question::InitialState, count(self.initial.len())) as usize];
        (program, initial)
    }

    /// One run of a program.
    fn run(
        &mut self,
        source: &mut dyn Source,
        program: Program,
        initial: StateId,
        sleep: Option<&mut Sleep>,
    ) -> Result<Made, Misuse> {
        let Self { runner, engine, rules, .. } = self;
        let calls = program.iter().map(|calls| {
            calls.iter().map(|call| Planned { argument: runner.arguments.first_like(call.argument), ..*call })
        });
        self.start = hash_of(&(calls.map(Vec::from_iter).collect::<Program>(), initial));
        let how = How::Several(sleep);
        let Came { end, holds, .. } = if runner.places.is_some() {
            runner.log.clear();
            let came = execute(runner, On::New, engine, source, rules, initial, &program, how);
            runner.came(&came)?;
            came
        } else {
            runner.with_subject(initial, rules, |runner, subject, parts| {
                execute(runner, On::Subject(subject, parts), engine, source, rules, initial, &program, how)
            })?
        };
        Ok(Made { program, initial, end, holds })
    }
}

/// What determines the runs of a search, to make one of them again.
fn again(
    runner: &mut Runner<'_>,
    settings: &Settings,
    initial: &[StateId],
    allowed: CallSet,
) -> Result<(Rules, Vec<StateId>, Draw), Misuse> {
    Ok(match settings.environment {
        Environment::Closed => {
            (Rules { bound: 0, ..rules(runner, settings, 0) }, reachable(runner, initial)?, closed_program(runner).0)
        }
        _ => (rules(runner, settings, allowed), initial.to_vec(), Draw::AtOnce),
    })
}

/// What the page shows of the run that `decisions` determine.
pub(crate) fn page(
    runner: &mut Runner<'_>,
    settings: &Settings,
    initial: &[StateId],
    allowed: CallSet,
    (decisions, counterexample): (&Decisions, &Counterexample),
) -> Result<Exploration, Misuse> {
    with_calls(runner, settings, initial, allowed, |calls| explored(calls, decisions, counterexample))?
}

/// Gives the runs of a search, to make them again.
pub(crate) fn with_calls<'m, R>(
    runner: &mut Runner<'m>,
    settings: &Settings,
    initial: &[StateId],
    allowed: CallSet,
    body: impl FnOnce(&mut dyn Again<'m>) -> R,
) -> Result<R, Misuse> {
    let (rules, initial, draw) = again(runner, settings, initial, allowed)?;
    Ok(body(&mut SeveralCalls::new(runner, settings, rules, &initial, draw)))
}

impl<'m> Again<'m> for SeveralCalls<'_, 'm> {
    fn runner(&mut self) -> &mut Runner<'m> {
        self.runner
    }

    fn again(&mut self, source: &mut dyn Source) -> Result<(StateId, bool), Misuse> {
        let made = self.make(source)?;
        let refuted = made.refuted(self.runner)?;
        Ok((made.initial, refuted))
    }

    fn describes(&mut self, describes: bool) {
        (self.rules.audit, self.rules.describes, self.rules.deadline) = (describes, describes, None);
    }

    fn is_several(&self) -> bool {
        true
    }
}

/// The one run that `decisions` determine.
pub(crate) fn replay(
    runner: &mut Runner<'_>,
    settings: &Settings,
    initial: &[StateId],
    allowed: CallSet,
    decisions: &Decisions,
    mut coverage: Coverage,
) -> Result<Report, Misuse> {
    if settings.adversary == Adversary::Naive {
        return Err(Misuse::Diverged { reason: "runs of the naive adversary are not recorded".to_owned() });
    }
    let (rules, initial, draw) = again(runner, settings, initial, allowed)?;
    let rules = Rules { audit: true, describes: true, ..rules };
    let mut source = ReplaySource::new(decisions.clone());
    let mut calls = SeveralCalls::new(runner, settings, rules, &initial, draw);
    let made = calls.make(&mut source)?;
    if let Some(divergence) = source.divergence() {
        return Err(Misuse::Diverged { reason: divergence.to_string() });
    }
    let refuted = made.refuted(runner)?;
    coverage.steps = runner.log.steps_of_all();
    coverage.complete = !refuted;
    coverage.calls = made.program.iter().map(Vec::len).sum();
    let violation = if refuted { Some(describe(runner, &made, decisions, 1)?) } else { None };
    Ok(Report::of_one(runner.description.name.clone(), violation, coverage))
}
