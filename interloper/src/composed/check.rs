//! The driver: searches for an execution of a method under test that no sequential order explains.

use std::mem::ManuallyDrop;
use std::sync::Arc;

use interloper_collections::Subject;
use interloper_collections::session::Instrumented;
use interloper_commutativity::{Datum, ToValue, Value};
use interloper_report::Counterexample;
use interloper_report::explorer::Exploration;
use interloper_scheduler::Shard;
use interloper_scheduler::decisions::{Decisions, Question, ReplaySource, Source};

use crate::Notices;
use crate::blocks::leaving::Checking;
use crate::blocks::progress::Keeper;
use crate::composed::adversary::{Adversary, Environment, random_bits};
use crate::composed::alone::Alone;
use crate::composed::bench::Bench;
use crate::composed::explore::{Found, Program, explore};
use crate::composed::histories::{Numbers, Shown, fingerprint};
use crate::composed::kept::Keeping;
use crate::composed::method::{MethodUnderTest, Search, Settings};
use crate::composed::misuse::Misuse;
use crate::composed::outcome::{Coverage, Report, Verdict, Violation};
use crate::composed::parts::{Parts, Split};
use crate::composed::run::{Abort, Rules};
use crate::composed::runner::{self, Ended, Runner};
use crate::composed::world::{CallSet, Part, StateId, hash_of};
use crate::composed::{alone, concurrent, domain, explain, explored, one_call};

/// A method under test with its types erased, so that a suite can hold many of them.
pub trait Check {
    /// The method's name.
    fn name(&self) -> &str;

    /// How it is checked by default.
    fn settings(&self) -> &Settings;

    /// Checks the method with these settings instead of its own.
    ///
    /// # Errors
    /// When the description does not fit the method.
    fn check_with(&self, settings: &Settings) -> Result<Report, Misuse>;

    /// Makes a part of the check, which may know what other parts find. The decisions of a replay are not split.
    ///
    /// # Errors
    /// As [`Check::check_with`].
    fn part_with(&self, settings: &Settings, shard: Shard, notices: Option<Arc<dyn Notices>>) -> Result<Parts, Misuse>;

    /// As [`Check::check_with`], with progress that is kept: the check goes on where an earlier process was.
    ///
    /// # Errors
    /// As [`Check::check_with`].
    fn kept_with(&self, settings: &Settings, keeper: Keeper) -> Result<Report, Misuse>;

    /// The check of which all parts were made before: the report is that of [`Check::check_with`].
    ///
    /// # Errors
    /// As [`Check::check_with`].
    fn joined_with(&self, settings: &Settings, parts: Parts) -> Result<Report, Misuse>;

    /// Runs the one execution that `decisions` determine under `settings`.
    ///
    /// # Errors
    /// [`Misuse::Diverged`] when the decisions no longer fit the method, and the errors of [`Check::check_with`].
    fn replay_with(&self, settings: &Settings, decisions: &Decisions) -> Result<Report, Misuse>;

    /// A violating execution as its page shows it: the data of the counterexample, which steps depend on each other, and which
    /// decision mattered. Runs of the naive adversary have what the counterexample has.
    ///
    /// # Errors
    /// The errors of [`Check::check_with`].
    fn explored_with(
        &self,
        settings: &Settings,
        decisions: &Decisions,
        counterexample: &Counterexample,
    ) -> Result<Exploration, Misuse>;

    /// The steps that the program marks as linearization points ([`crate::linearization_point`]), when the method runs
    /// alone: `get at src/cache.rs:12:9`, in the order in which they are first reached.
    ///
    /// # Errors
    /// As [`Check::check_with`].
    fn linearization_points(&self) -> Result<Vec<String>, Misuse>;

    /// What the method does alone, with each argument: from these states, or from those where a search begins and those that
    /// its environment reaches from there.
    ///
    /// # Errors
    /// As [`Check::check_with`].
    fn alone_with(&self, settings: &Settings, states: Option<&[Vec<Value>]>) -> Result<Vec<Alone>, Misuse>;
}

/// Each method is one line, so that the driver is compiled once and not once for each type: see `Bench`.
impl<S: Subject, A: Datum, R: ToValue> Check for MethodUnderTest<S, A, R> {
    fn name(&self) -> &str {
        &self.description.name
    }

    fn settings(&self) -> &Settings {
        &self.description.settings
    }

    fn check_with(&self, settings: &Settings) -> Result<Report, Misuse> {
        check_bench(self, settings)
    }

    fn part_with(&self, settings: &Settings, shard: Shard, notices: Option<Arc<dyn Notices>>) -> Result<Parts, Misuse> {
        part(self, settings, shard, notices)
    }

    fn kept_with(&self, settings: &Settings, keeper: Keeper) -> Result<Report, Misuse> {
        check_split(self, settings, Split::Kept(Keeping::new(keeper)))
    }

    fn joined_with(&self, settings: &Settings, parts: Parts) -> Result<Report, Misuse> {
        check_split(self, settings, Split::joined(parts))
    }

    fn replay_with(&self, settings: &Settings, decisions: &Decisions) -> Result<Report, Misuse> {
        replay_bench(self, settings, decisions)
    }

    fn explored_with(
        &self,
        settings: &Settings,
        decisions: &Decisions,
        counterexample: &Counterexample,
    ) -> Result<Exploration, Misuse> {
        page_of(self, settings, decisions, counterexample)
    }

    fn linearization_points(&self) -> Result<Vec<String>, Misuse> {
        marked_steps(self)
    }

    fn alone_with(&self, settings: &Settings, states: Option<&[Vec<Value>]>) -> Result<Vec<Alone>, Misuse> {
        alone_on(self, settings, states)
    }
}

fn check_bench(bench: &dyn Bench, settings: &Settings) -> Result<Report, Misuse> {
    match &bench.description().replay {
        Some(text) => {
            let decisions =
                text.parse::<Decisions>().map_err(|error| Misuse::Diverged { reason: error.to_string() })?;
            replay_bench(bench, settings, &decisions)
        }
        None => with_runner(bench, settings, |runner| check(runner, settings)),
    }
}

fn check_split(bench: &dyn Bench, settings: &Settings, split: Split) -> Result<Report, Misuse> {
    with_runner(bench, settings, |runner| {
        runner.split = split;
        check(runner, settings)
    })
}

fn part(
    bench: &dyn Bench,
    settings: &Settings,
    shard: Shard,
    notices: Option<Arc<dyn Notices>>,
) -> Result<Parts, Misuse> {
    with_runner(bench, settings, |runner| {
        runner.split = Split::part(shard, notices);
        check(runner, settings)?;
        Ok(std::mem::take(&mut runner.split).into_parts())
    })
}

fn replay_bench(bench: &dyn Bench, settings: &Settings, decisions: &Decisions) -> Result<Report, Misuse> {
    with_runner(bench, settings, |runner| replay(runner, settings, decisions))
}

fn page_of(
    bench: &dyn Bench,
    settings: &Settings,
    decisions: &Decisions,
    counterexample: &Counterexample,
) -> Result<Exploration, Misuse> {
    with_runner(bench, settings, |runner| page(runner, settings, decisions, counterexample))
}

fn alone_on(bench: &dyn Bench, settings: &Settings, states: Option<&[Vec<Value>]>) -> Result<Vec<Alone>, Misuse> {
    with_runner(bench, settings, |runner| alone::alone(runner, settings, states))
}

fn marked_steps(bench: &dyn Bench) -> Result<Vec<String>, Misuse> {
    with_runner(bench, &bench.description().settings, marked_by)
}

fn marked_by(runner: &mut Runner<'_>) -> Result<Vec<String>, Misuse> {
    let initial = domain::choose(runner)?;
    let mut points = Vec::new();
    for argument in 0..runner.arguments.len() {
        for &state in &initial {
            runner.look(0, argument, state)?;
            for event in runner.log.events.iter().filter(|event| event.marked) {
                let point = explain::step_name(&runner.world, event);
                if !points.contains(&point) {
                    points.push(point);
                }
            }
        }
    }
    Ok(points)
}

/// Sets up a subject and the runner on it. To be called from code without type parameters: it is long, and compiled once for
/// each `body`.
pub(crate) fn with_runner<T>(
    bench: &dyn Bench,
    settings: &Settings,
    body: impl FnOnce(&mut Runner<'_>) -> Result<T, Misuse>,
) -> Result<T, Misuse> {
    if settings.bound == 0 {
        return Err(Misuse::ZeroBound);
    }
    let _checking = Checking::new(&bench.description().name);
    let stack = runner::stack(bench, settings);
    let subject = ManuallyDrop::new(runner::make(bench, &stack)?);
    let named = subject.parts();
    let given = &bench.description().names;
    let names: Vec<String> =
        named.iter().enumerate().map(|(index, (name, _))| given.get(index).unwrap_or(name).clone()).collect();
    let parts: Vec<&dyn Instrumented> = named.iter().map(|(_, part)| *part).collect();
    let mut runner = Runner::new(bench, settings, &**subject, &parts, &names, stack)?;
    let said = body(&mut runner);
    let spoilt = runner.is_spoilt();
    drop(runner);
    drop(parts);
    drop(named);
    if !spoilt {
        drop(ManuallyDrop::into_inner(subject));
    }
    said
}

fn check(runner: &mut Runner<'_>, settings: &Settings) -> Result<Report, Misuse> {
    let called = |runner: &Runner<'_>| runner.places.as_ref().map(|places| places.called());
    match check_in_time(runner, settings) {
        Ok(report) => Ok(Report { called: called(runner), ..report }),
        Err(Misuse::CutShort) => Ok(Report {
            name: runner.description.name.clone(),
            verdict: Verdict::Unfinished,
            violation: None,
            own: None,
            coverage: vec![Coverage {
                environment: "a limit (time, memory, lost calls) was reached before the first execution".to_owned(),
                arguments: runner.arguments.len(),
                bound: settings.bound,
                calls: runner.description.calls,
                ..Coverage::default()
            }],
            called: called(runner),
        }),
        said => said,
    }
}

fn check_in_time(runner: &mut Runner<'_>, settings: &Settings) -> Result<Report, Misuse> {
    let initial = domain::choose(runner)?;
    let program = OwnEnvironment::of(runner)?;
    let name = runner.description.name.clone();
    let report =
        |verdict, violation, own, coverage| Ok(Report { name, verdict, violation, own, coverage, called: None });
    let first = match settings.environment {
        Environment::Open => {
            let all = runner.world.all_letters();
            search(runner, settings, &initial, all, "open environment")?
        }
        Environment::Restricted => match program {
            OwnEnvironment::Without(allowed) => search(runner, settings, &initial, allowed, "restricted environment")?,
            OwnEnvironment::Beside | OwnEnvironment::Unknown => return Err(Misuse::NoProgramEnvironment),
        },
        Environment::Closed => concurrent::closed(runner, settings, &initial)?,
    };
    let nothing = first.nothing();
    // Not linearizable; only in the open environment?
    let second = match first.violation.is_some() || runner.split.was_told() {
        true => search_again(runner, settings, &initial, program)?,
        false => None,
    };
    let Some(violation) = first.violation else { return report(nothing, None, None, vec![first.coverage]) };
    let passes = |found: &Found| found.violation.is_none() && !found.cut;
    let verdict = if second.as_ref().is_some_and(passes) { Verdict::Modular } else { Verdict::NotLinearizable };
    let mut violation = violation;
    if violation.counterexample.verdict == Verdict::NotLinearizable.to_string() {
        violation.counterexample.verdict = verdict.to_string();
    }
    let (own, covered) = second.map(|found| (found.violation, found.coverage)).unzip();
    report(verdict, Some(violation), own.flatten(), [first.coverage].into_iter().chain(covered).collect())
}

/// The search in the environment of the method's own program, if there is one and its search is not the first one.
fn search_again(
    runner: &mut Runner<'_>,
    settings: &Settings,
    initial: &[StateId],
    program: OwnEnvironment,
) -> Result<Option<Found>, Misuse> {
    let found = match (settings.environment, program) {
        _ if settings.adversary == Adversary::Naive => return Ok(None),
        (Environment::Open, OwnEnvironment::Without(allowed)) => {
            search(runner, settings, initial, allowed, "restricted environment")
        }
        (Environment::Open, OwnEnvironment::Beside) => concurrent::closed(runner, settings, initial),
        _ => return Ok(None),
    };
    match found {
        // The search reached a limit before it began, so it has no result.
        Err(Misuse::CutShort) => Ok(None),
        found => found.map(Some),
    }
}

/// What is known of the program that a method belongs to.
enum OwnEnvironment {
    Unknown,
    /// It uses these operations of the collections only.
    Without(CallSet),
    /// It touches the collections only through the methods beside the one under test.
    Beside,
}

impl OwnEnvironment {
    fn of(runner: &Runner<'_>) -> Result<OwnEnvironment, Misuse> {
        let method = runner.description;
        if !method.beside.is_empty() {
            return Ok(OwnEnvironment::Beside);
        }
        if method.without.is_empty() {
            return Ok(OwnEnvironment::Unknown);
        }
        let parts = runner.world.parts();
        let names = |part: &Part, method: &str| [method.to_owned(), format!("{}.{method}", part.name)];
        let known: Vec<String> = parts
            .iter()
            .flat_map(|part| part.model.methods().iter().map(move |method| (part, method.name)))
            .flat_map(|(part, method)| names(part, method))
            .collect();
        if let Some(name) = method.without.iter().find(|name| !known.contains(name)) {
            let mut known: Vec<&str> =
                parts.iter().flat_map(|part| part.model.methods()).map(|method| method.name).collect();
            known.dedup();
            return Err(Misuse::UnknownMethod { name: name.clone(), known: known.join(", ") });
        }
        let allowed = runner.world.letters_where(|call| {
            let part = &parts[call.part.0 as usize];
            let name = part.model.method(call.invocation.method).name;
            !names(part, name).iter().any(|name| method.without.contains(name))
        });
        Ok(OwnEnvironment::Without(allowed))
    }
}

/// One search with one call of the method, or several concurrent ones.
fn search(
    runner: &mut Runner<'_>,
    settings: &Settings,
    initial: &[StateId],
    allowed: CallSet,
    environment: &str,
) -> Result<Found, Misuse> {
    if runner.description.calls > 1 {
        return concurrent::open(runner, settings, initial, allowed, environment);
    }
    let rules = rules(runner, settings, allowed);
    let coverage = nothing_yet(runner, settings, initial, allowed, environment);
    match settings.adversary {
        Adversary::Naive => explore(&mut Naive { base: runner.base(), runner, rules }, &random(settings), 0, coverage),
        _ => one_call::search(runner, settings, (rules, initial), coverage),
    }
}

/// What a search in an open or restricted environment covers before its first execution.
pub(super) fn nothing_yet(
    runner: &Runner<'_>,
    settings: &Settings,
    initial: &[StateId],
    allowed: CallSet,
    environment: &str,
) -> Coverage {
    Coverage {
        environment: environment.to_owned(),
        arguments: runner.arguments.len(),
        initial_states: initial.len(),
        alphabet: allowed.count_ones() as usize,
        bound: settings.bound,
        calls: runner.description.calls,
        ..Coverage::default()
    }
}

/// The naive adversary has no end: where no number of executions is given, the limit ends it.
fn random(settings: &Settings) -> Settings {
    let executions = match settings.search {
        Search::Random { executions } => executions,
        Search::Exhaustive => settings.executions.unwrap_or(u64::MAX),
    };
    Settings { search: Search::Random { executions }, ..settings.clone() }
}

pub(crate) fn rules(runner: &Runner<'_>, settings: &Settings, allowed: CallSet) -> Rules {
    Rules {
        adversary: settings.adversary,
        bound: settings.bound,
        allowed,
        interior: runner.interior(),
        step_bound: settings.step_bound,
        audit: settings.audit,
        describes: false,
        deadline: runner.clock.deadline,
        places: runner.places.clone(),
    }
}

pub(crate) struct Made {
    pub(crate) argument: usize,
    pub(crate) initial: StateId,
    ended: Ended,
    pub(crate) refuted: bool,
}

/// Draws an argument and an initial state, runs and judges.
pub(crate) fn make_run(
    runner: &mut Runner<'_>,
    source: &mut dyn Source,
    rules: &Rules,
    initial: &[StateId],
) -> Result<Made, Misuse> {
    let argument = source.decide(Question::Argument, count(runner.arguments.len())) as usize;
    let initial = initial[source.decide(Question::InitialState, count(initial.len())) as usize];
    let ended = runner.run(source, argument, initial, rules)?;
    let refuted = match runner.log.abort {
        Some(Abort::NotEnabled | Abort::Needless) => false,
        Some(_) => true,
        None => runner.refuted(argument, initial, ended)?,
    };
    Ok(Made { argument, initial, ended, refuted })
}

pub(crate) fn count(length: usize) -> u32 {
    u32::try_from(length).expect("fewer than 2^32 choices")
}

/// Makes the violating run again, with the state read back at each step, and describes it.
pub(crate) fn violation(
    runner: &mut Runner<'_>,
    rules: &Rules,
    initial: &[StateId],
    decisions: &Decisions,
    execution: u64,
) -> Result<Violation, Misuse> {
    let rules = Rules { audit: true, describes: true, deadline: None, ..rules.clone() };
    let mut source = ReplaySource::new(decisions.clone());
    let made = make_run(runner, &mut source, &rules, initial)?;
    if let Some(divergence) = source.divergence() {
        return Err(Misuse::Diverged { reason: divergence.to_string() });
    }
    if !made.refuted {
        return Err(Misuse::not_reproduced());
    }
    explain::violation(runner, made.argument, made.initial, made.ended, decisions, execution)
}

/// What an environment may do that is not the program's own concurrent calls, and what it is called.
fn allowed(runner: &Runner<'_>, settings: &Settings) -> Result<(CallSet, &'static str), Misuse> {
    match (settings.environment, OwnEnvironment::of(runner)?) {
        (Environment::Restricted, OwnEnvironment::Without(allowed)) => Ok((allowed, "restricted environment")),
        (Environment::Restricted, _) => Err(Misuse::NoProgramEnvironment),
        (Environment::Open | Environment::Closed, _) => Ok((runner.world.all_letters(), "open environment")),
    }
}

/// The page of the run that `decisions` determine.
fn page(
    runner: &mut Runner<'_>,
    settings: &Settings,
    decisions: &Decisions,
    counterexample: &Counterexample,
) -> Result<Exploration, Misuse> {
    if settings.adversary == Adversary::Naive {
        return Ok(Exploration::of(counterexample));
    }
    let initial = domain::choose(runner)?;
    let (allowed, _) = allowed(runner, settings)?;
    if runner.description.calls > 1 || settings.environment == Environment::Closed {
        return concurrent::page(runner, settings, &initial, allowed, (decisions, counterexample));
    }
    let (allowed, initial) = one_call::searched(runner, settings, (allowed, initial), decisions)?;
    let rules = rules(runner, settings, allowed);
    let mut program = explored::OneCall { runner, rules, initial: &initial };
    explored::explored(&mut program, decisions, counterexample)
}

/// The one run that `decisions` determine.
fn replay(runner: &mut Runner<'_>, settings: &Settings, decisions: &Decisions) -> Result<Report, Misuse> {
    let initial = domain::choose(runner)?;
    let (allowed, environment) = allowed(runner, settings)?;
    let mut coverage = Coverage {
        environment: format!("{environment}, replay"),
        arguments: 1,
        initial_states: 1,
        alphabet: allowed.count_ones() as usize,
        bound: settings.bound,
        calls: 1,
        executions: 1,
        histories: 1,
        ..Coverage::default()
    };
    if runner.description.calls > 1 || settings.environment == Environment::Closed {
        return concurrent::replay(runner, settings, &initial, allowed, decisions, coverage);
    }
    if settings.adversary == Adversary::Naive {
        return Err(Misuse::Diverged { reason: "runs of the naive adversary are not recorded".to_owned() });
    }
    let (allowed, initial) = one_call::searched(runner, settings, (allowed, initial), decisions)?;
    let rules = Rules { audit: true, describes: true, ..rules(runner, settings, allowed) };
    let mut source = ReplaySource::new(decisions.clone());
    let made = make_run(runner, &mut source, &rules, &initial)?;
    if let Some(divergence) = source.divergence() {
        return Err(Misuse::Diverged { reason: divergence.to_string() });
    }
    coverage.steps = runner.log.steps_of_all();
    coverage.violating = u64::from(made.refuted);
    coverage.complete = !made.refuted;
    let violation = match made.refuted {
        true => Some(explain::violation(runner, made.argument, made.initial, made.ended, decisions, 1)?),
        false => None,
    };
    Ok(Report::of_one(runner.description.name.clone(), violation, coverage))
}

/// How many calls the tables of the naive adversary may hold before they are emptied. Random calls hardly ever occur
/// twice, and the table of each new state is as long as their number.
const MAX_NAIVE_CALLS: usize = 64;

/// Runs against the naive adversary of section 4.2: random arguments, random operations, random moments.
struct Naive<'a, 'm> {
    runner: &'a mut Runner<'m>,
    rules: Rules,
    base: Vec<Value>,
}

impl<'m> Program<'m> for Naive<'_, 'm> {
    fn refuted(&mut self, source: &mut dyn Source) -> Result<Option<bool>, Misuse> {
        if self.runner.world.calls() > MAX_NAIVE_CALLS {
            self.runner.forget();
        }
        self.runner.draw_argument(random_bits(source));
        let initial = self.runner.world.state(&self.base);
        let ended = self.runner.run(source, 0, initial, &self.rules)?;
        match self.runner.log.abort {
            Some(Abort::NotEnabled | Abort::Needless) => Ok(None),
            Some(_) => Ok(Some(true)),
            None => self.runner.refuted(0, initial, ended).map(Some),
        }
    }

    fn shown(&self) -> Shown {
        let Runner { log, world, arguments, .. } = &*self.runner;
        // The state that runs begin in is the same for all.
        let history = fingerprint(hash_of(&arguments.values), log, world, Numbers::Forgotten);
        Shown { steps: log.events.len() as u64, history: Some(history) }
    }

    fn describe(&mut self, decisions: &Decisions, execution: u64) -> Result<Violation, Misuse> {
        let initial = self.runner.world.state(&self.base);
        let ended = self.runner.last();
        explain::violation(self.runner, 0, initial, ended, decisions, execution)
    }

    fn runner(&mut self) -> &mut Runner<'m> {
        self.runner
    }
}
