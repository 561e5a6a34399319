//! Composed operations, checked as the command line asks.

use std::sync::Arc;

use interloper::Notices;
use interloper::blocks::progress::{Keep, Keeper};
use interloper::{
    Adversary, Check, Coverage, Decisions, Environment, Misuse, Parts, Report, Search, Settings, Shard, Verdict,
    Violation,
};
use interloper_report::Counterexample;
use interloper_report::explorer::Exploration;
use interloper_report::replay_file::{About, ReplayFile};
use interloper_report::table::Align;
use interloper_suite::Case;
use serde::{Deserialize, Serialize};

use super::recorded::{Again, Recorded, refused};
use super::told::{Documented, Kept};
use super::{Begun, Checked, Description, Item, Listed, check_each, or_dash};
use crate::answer::{JSON_VERSION, json};
use crate::args::{AdversaryArg, EnvironmentArg, SearchArgs};
use crate::counts::{Unseen, plural};
use crate::failure::Failure;

/// A case and what its check gave.
pub struct CheckedCase {
    pub case: Case,
    /// What the case should give under these options; `None` where the options leave it open.
    pub expected: Option<Verdict>,
    pub outcome: Outcome,
    /// The settings that it was checked with.
    pub settings: Settings,
}

/// What the check of a case gave.
pub enum Outcome {
    Report(Box<Report>),
    /// The case says nothing about the environment that was asked for.
    NotApplicable,
    /// The case is described wrongly.
    Misuse(Misuse),
}

/// A case in a JSON document.
#[derive(Serialize, Deserialize)]
pub struct CaseResult {
    name: String,
    origin: String,
    expected: Option<String>,
    verdict: String,
    environment_operations: Option<u32>,
    executions_to_violation: Option<u64>,
    executions: u64,
    /// What each search went through: the open environment first, then the program's where that was tried.
    searches: Vec<Searched>,
    /// `run` shows every violation. The suite shows only what is unexpected: a reader finds it in the replay files.
    #[serde(skip_serializing_if = "Option::is_none")]
    counterexample: Option<Counterexample>,
}

impl Documented for CaseResult {
    fn with(self, counterexample: Option<Counterexample>) -> CaseResult {
        CaseResult { counterexample, ..self }
    }
}

#[derive(Serialize, Deserialize)]
struct Searched {
    environment: String,
    executions: u64,
    /// How many different histories these were; with `more_histories`, there were more.
    histories: u64,
    more_histories: bool,
    steps: u64,
    random: bool,
    complete: bool,
    /// For random executions: what they say about the histories that they have not shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    unseen: Option<Unseen>,
}

fn searched(coverage: &Coverage) -> Searched {
    Searched {
        environment: coverage.environment.clone(),
        executions: coverage.executions,
        histories: coverage.histories,
        more_histories: coverage.more_histories,
        steps: coverage.steps,
        random: coverage.random,
        complete: coverage.complete,
        unseen: coverage.unseen.map(Unseen::from),
    }
}

/// Everything about a case.
#[derive(Serialize)]
struct Document {
    version: u32,
    seed: u64,
    #[serde(flatten)]
    listed: Listed,
    source: &'static str,
    verdict: Option<&'static str>,
    counterexample: Option<Counterexample>,
    coverage: Vec<String>,
    linearization_points: Vec<String>,
}

impl CheckedCase {
    fn found(&self) -> Option<&Report> {
        match &self.outcome {
            Outcome::Report(report) => Some(report),
            Outcome::NotApplicable | Outcome::Misuse(_) => None,
        }
    }

    fn violation(&self) -> Option<&Violation> {
        self.found().and_then(|report| report.violation.as_ref())
    }
}

impl Checked for CheckedCase {
    type Result = CaseResult;

    fn name(&self) -> &'static str {
        self.case.name
    }

    fn is_unexpected(&self) -> bool {
        match &self.outcome {
            Outcome::Report(report) => self.expected.is_some_and(|expected| report.verdict != expected),
            Outcome::NotApplicable => false,
            Outcome::Misuse(_) => true,
        }
    }

    fn is_settled(&self) -> bool {
        self.settings.time.is_none() && !matches!(self.outcome, Outcome::Misuse(Misuse::Contradiction(_)))
    }

    fn refused(&self) -> Option<String> {
        matches!(self.outcome, Outcome::NotApplicable)
            .then(|| format!("{}: {}", self.case.name, Misuse::NoProgramEnvironment))
    }

    fn counterexample(&self) -> Option<Counterexample> {
        let violation = self.violation()?;
        Some(Counterexample { name: self.case.name.to_owned(), ..violation.counterexample.clone() })
    }

    /// Runs of the naive adversary are reproduced by their seed: their counterexample names that command instead.
    fn kept(&self, search: &SearchArgs) -> Option<Kept> {
        let (violation, counterexample) = (self.violation()?, self.counterexample()?);
        let settings = &self.settings;
        let name = self.case.name;
        let Some(file) = replay_file(name, settings, violation) else {
            let replay = Some(format!("interloper run {name} {}", search.typed()));
            return Some(Kept { counterexample: Counterexample { replay, ..counterexample }, file: None });
        };
        Some(Kept::with(file, counterexample))
    }

    fn mark(&self) -> &'static str {
        match &self.outcome {
            _ if self.is_unexpected() => "✗",
            Outcome::NotApplicable => "–",
            _ => "✓",
        }
    }

    fn headline(&self) -> (&'static str, String) {
        match &self.outcome {
            Outcome::Report(report) => {
                let unsure = !self.is_unexpected() && report.verdict != Verdict::Linearizable;
                (if unsure { "?" } else { self.mark() }, report.verdict.to_string())
            }
            Outcome::NotApplicable => (self.mark(), NOT_APPLICABLE.to_owned()),
            Outcome::Misuse(misuse) => (self.mark(), misuse.to_string()),
        }
    }

    fn details(&self) -> Vec<String> {
        self.found().map_or_else(Vec::new, |report| report.coverage.iter().map(ToString::to_string).collect())
    }

    fn expectation(&self) -> Option<String> {
        self.expected.map(|expected| expected.to_string())
    }

    fn executions(&self) -> Option<u64> {
        self.found().map(Report::executions)
    }

    fn word(&self) -> String {
        verdict(self, words).unwrap_or_else(|word| word.to_owned())
    }

    fn words() -> Vec<String> {
        let order = [
            Verdict::Linearizable,
            Verdict::NotLinearizable,
            Verdict::Modular,
            Verdict::NothingFound,
            Verdict::Unfinished,
        ];
        order.into_iter().map(words).chain([NOT_APPLICABLE, "error"].map(str::to_owned)).collect()
    }

    fn number(count: u64) -> String {
        plural(count, "case")
    }

    fn row(&self) -> Vec<String> {
        let violation = self.violation();
        vec![
            self.expected.map_or_else(|| "any".to_owned(), words),
            self.word(),
            or_dash(violation.map(|violation| u64::from(violation.environment_operations))),
            or_dash(violation.map(|violation| violation.execution)),
            or_dash(self.executions()),
        ]
    }

    fn heads() -> [(&'static str, Align); 6] {
        [
            ("  case", Align::Left),
            ("expected", Align::Left),
            ("verdict", Align::Left),
            ("environment\noperations", Align::Right),
            ("executions\nto it", Align::Right),
            ("executions", Align::Right),
        ]
    }

    fn result(&self) -> CaseResult {
        let violation = self.violation();
        CaseResult {
            name: self.case.name.to_owned(),
            origin: self.case.origin.to_owned(),
            expected: self.expected.map(|expected| expected.word().to_owned()),
            verdict: verdict(self, Verdict::word).unwrap_or_else(|word| word).to_owned(),
            environment_operations: violation.map(|violation| violation.environment_operations),
            executions_to_violation: violation.map(|violation| violation.execution),
            executions: self.executions().unwrap_or(0),
            searches: self.found().map_or_else(Vec::new, |report| report.coverage.iter().map(searched).collect()),
            counterexample: None,
        }
    }

    fn about(&self) -> Description {
        let case = self.case;
        let mut facts = vec![("origin", case.origin.to_owned()), ("expected", words(case.expected))];
        facts.extend(case.twin.map(|twin| ("atomic twin", twin.to_owned())));
        facts.extend(points(&case).into_iter().map(|point| ("linearization point", point)));
        Description { about: case.about, facts, source: case.source }
    }

    fn document(&self, counterexample: Option<Counterexample>, seed: u64) -> String {
        let (case, found) = (self.case, self.found());
        json(&Document {
            version: JSON_VERSION,
            seed,
            listed: case.listed(),
            source: case.source,
            verdict: found.map(|report| report.verdict.word()),
            coverage: self.details(),
            counterexample,
            linearization_points: points(&case),
        })
    }
}

impl Item for Case {
    type Checked = CheckedCase;

    fn listed(&self) -> Listed {
        Listed {
            name: self.name,
            origin: self.origin,
            about: self.about,
            expected: self.expected.word().to_owned(),
            in_table: words(self.expected),
            blocks: None,
            twin: self.twin,
        }
    }

    fn check_begun(
        cases: &[Begun<Case>],
        search: &SearchArgs,
        done: &(dyn Fn(&CheckedCase) + Sync),
    ) -> Result<Vec<CheckedCase>, Failure> {
        let work = |(case, keep): &Begun<Case>, _: &_| {
            let checked = check(case, keep.clone(), search);
            done(&checked);
            checked
        };
        let checked = check_each("case", cases, search, |(case, _)| case.name, work)?;
        let contradiction = checked.iter().find_map(|checked| match &checked.outcome {
            Outcome::Misuse(Misuse::Contradiction(message)) => Some(Failure::Internal(message.clone())),
            _ => None,
        });
        contradiction.map_or(Ok(checked), Err)
    }
}

impl Recorded for Case {
    fn replay(&self, file: &ReplayFile, decisions: &Decisions, explore: bool) -> Result<Again, Failure> {
        let method = (self.build)();
        let settings = recorded_settings(self.name, file, method.settings())?;
        let report = match method.replay_with(&settings, decisions) {
            Ok(report) => report,
            Err(Misuse::Diverged { reason }) => return Ok(Again::diverged(reason)),
            Err(Misuse::Contradiction(message)) => return Err(Failure::Internal(message)),
            Err(misuse) => return refused(misuse.to_string()),
        };
        let Some(violation) = report.violation else {
            let now = format!("a sequential order now explains the execution: {} is {}", self.name, report.verdict);
            return Ok(Again::diverged(now));
        };
        let operations = plural(u64::from(violation.environment_operations), "environment operation");
        let (name, detail) = (self.name.to_owned(), format!("{operations}, replayed"));
        let counterexample = Counterexample { name, detail, ..violation.counterexample };
        let exploration = explore.then(|| method.explored_with(&settings, decisions, &counterexample).ok()).flatten();
        let exploration = exploration.map(Exploration::with_sources);
        let showed = Again::showed(file, FINDING, &violation.history, counterexample);
        Ok(Again { exploration, ..showed })
    }
}

/// The replay file of a case's violation. Runs of the naive adversary have none: they are not recorded.
pub fn replay_file(name: &str, settings: &Settings, violation: &Violation) -> Option<ReplayFile> {
    if settings.adversary == Adversary::Naive {
        return None;
    }
    let about = About::Case {
        name: name.to_owned(),
        adversary: settings.adversary.word().to_owned(),
        environment: settings.environment.word().to_owned(),
        bound: settings.bound,
    };
    let (decisions, history) = (format!("{:#}", violation.decisions), violation.history.clone());
    Some(ReplayFile::new(about, settings.seed, violation.execution, FINDING, decisions, history))
}

/// What the replay file of a case says that its execution shows.
const FINDING: &str = "not-linearizable";

/// The settings of the case with the recorded options.
fn recorded_settings(name: &str, file: &ReplayFile, own: &Settings) -> Result<Settings, Failure> {
    let About::Case { adversary, environment, bound, .. } = &file.about else {
        return refused(format!("'{name}' is a composed operation, not a program with blocks"));
    };
    let damaged = |what: &str, word: &str| Failure::Request(format!("damaged: '{word}' is not a valid {what}"));
    if *bound == 0 {
        return Err(damaged("bound", "0"));
    }
    Ok(Settings {
        seed: file.seed,
        adversary: Adversary::of_word(adversary).ok_or_else(|| damaged("adversary", adversary))?,
        environment: Environment::of_word(environment).ok_or_else(|| damaged("environment", environment))?,
        bound: *bound,
        ..own.clone()
    })
}

fn check(case: &Case, keep: Option<Arc<dyn Keep>>, search: &SearchArgs) -> CheckedCase {
    let report = with_method(case, search, |method, settings| match keep {
        Some(keep) => method.kept_with(settings, Keeper::new(keep)),
        None => method.check_with(settings),
    });
    checked(case, report)
}

/// What the part of the check of a case gives that belongs to a shard. It may know what other parts find.
pub fn check_part(
    case: &Case,
    shard: Shard,
    notices: Option<Arc<dyn Notices>>,
    search: &SearchArgs,
) -> Result<Parts, Failure> {
    let (parts, _) = with_method(case, search, |method, settings| method.part_with(settings, shard, notices));
    match parts {
        Ok(parts) => Ok(parts),
        Err(Misuse::Contradiction(message)) => Err(Failure::Internal(message)),
        Err(misuse @ Misuse::NoProgramEnvironment) => Err(Failure::Request(format!("{}: {misuse}", case.name))),
        // The report of the whole says what is wrong.
        Err(_) => Ok(Parts::default()),
    }
}

/// Checks a case whose parts were made before.
pub fn check_joined(case: &Case, parts: Parts, search: &SearchArgs) -> Result<CheckedCase, Failure> {
    let checked = checked(case, with_method(case, search, |method, settings| method.joined_with(settings, parts)));
    match checked.outcome {
        Outcome::Misuse(Misuse::Contradiction(message)) => Err(Failure::Internal(message)),
        _ => Ok(checked),
    }
}

/// Gives what `check` says, and the settings.
fn with_method<T>(
    case: &Case,
    search: &SearchArgs,
    check: impl FnOnce(&dyn Check, &Settings) -> Result<T, Misuse>,
) -> (Result<T, Misuse>, Settings) {
    let method = (case.build)();
    let settings = settings(method.settings(), search);
    tracing::debug!(case = case.name, ?settings, "checking");
    (check(&*method, &settings), settings)
}

fn checked(case: &Case, (report, settings): (Result<Report, Misuse>, Settings)) -> CheckedCase {
    let outcome = match report {
        Ok(report) => Outcome::Report(Box::new(report)),
        Err(Misuse::NoProgramEnvironment) => Outcome::NotApplicable,
        Err(misuse) => Outcome::Misuse(misuse),
    };
    let checked = CheckedCase { case: *case, expected: expected(case, settings.environment), outcome, settings };
    let executions = checked.executions().unwrap_or(0);
    tracing::info!(case = case.name, executions, unexpected = checked.is_unexpected(), "checked");
    checked
}

/// The settings of a case with what the command line says instead.
pub fn settings(own: &Settings, search: &SearchArgs) -> Settings {
    let mut settings = own.clone();
    settings.seed = search.seed();
    if let Some(bound) = search.bound {
        settings.bound = bound.get();
    }
    if let Some(adversary) = search.adversary {
        settings.adversary = match adversary {
            AdversaryArg::Nearest => Adversary::Nearest,
            AdversaryArg::Preceding => Adversary::Preceding,
            AdversaryArg::Naive => Adversary::Naive,
        };
    }
    if let Some(environment) = search.environment {
        settings.environment = match environment {
            EnvironmentArg::Open => Environment::Open,
            EnvironmentArg::Restricted => Environment::Restricted,
            EnvironmentArg::Closed => Environment::Closed,
        };
    }
    let stop = search.executions.map(std::num::NonZeroU64::get);
    if settings.adversary == Adversary::Naive {
        // Its space has no end: it needs a number of runs.
        settings.search = Search::Random { executions: stop.unwrap_or(NAIVE_EXECUTIONS) };
    }
    settings.executions = stop.or(settings.executions);
    settings.time = search.time.or(settings.time);
    settings
}

/// How many executions the naive adversary runs without an option.
pub const NAIVE_EXECUTIONS: u64 = 1_000_000;

/// What a case must give. A smaller environment finds no more than the open one, and may find less.
fn expected(case: &Case, environment: Environment) -> Option<Verdict> {
    match (environment, case.expected) {
        (Environment::Open, verdict) => Some(verdict),
        (Environment::Restricted | Environment::Closed, Verdict::Linearizable) => Some(Verdict::Linearizable),
        (Environment::Restricted | Environment::Closed, _) => None,
    }
}

const NOT_APPLICABLE: &str = "not applicable";

/// The verdict as `with` writes it, or the word for a case without a verdict.
fn verdict<T>(checked: &CheckedCase, with: impl Fn(Verdict) -> T) -> Result<T, &'static str> {
    match &checked.outcome {
        Outcome::Report(report) => Ok(with(report.verdict)),
        Outcome::NotApplicable => Err(NOT_APPLICABLE),
        Outcome::Misuse(_) => Err("error"),
    }
}

/// The verdict in the words of a table.
fn words(verdict: Verdict) -> String {
    verdict.word().replace('-', " ")
}

/// The steps that the case marks as its linearization points, if it does.
fn points(case: &Case) -> Vec<String> {
    // What is wrong with the case, if anything is, the check has said.
    (case.build)().linearization_points().unwrap_or_default()
}
