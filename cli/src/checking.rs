//! Checks cases of the suite as the command line asks, and says what was unexpected.

use interloper::{Adversary, Environment, Misuse, Report, Search, Settings, Verdict};
use interloper_suite::Case;

use crate::args::{AdversaryArg, EnvironmentArg, SearchArgs};
use crate::failure::Failure;
use crate::jobs;
use crate::progress::Progress;

/// A case and what its check gave.
pub struct Checked {
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

impl Checked {
    pub fn report(&self) -> Option<&Report> {
        match &self.outcome {
            Outcome::Report(report) => Some(report),
            Outcome::NotApplicable | Outcome::Misuse(_) => None,
        }
    }

    /// Whether this is what nobody expected.
    pub fn is_unexpected(&self) -> bool {
        match &self.outcome {
            Outcome::Report(report) => self.expected.is_some_and(|expected| report.verdict != expected),
            Outcome::NotApplicable => false,
            Outcome::Misuse(_) => true,
        }
    }
}

/// Checks `cases` on as many threads as asked for. Results are in the order of the cases.
pub fn check_all(cases: &[Case], search: &SearchArgs) -> Result<Vec<Checked>, Failure> {
    if cases.is_empty() {
        return Ok(Vec::new());
    }
    let progress = Progress::start("case", cases.len());
    let jobs = search.jobs.unwrap_or_else(jobs::default_jobs);
    let checked = jobs::run(jobs, cases, |case| check(case, search), |case| progress.done(case.name))?;
    progress.finish();
    if let Some(Outcome::Misuse(Misuse::Contradiction(message))) =
        checked.iter().map(|checked| &checked.outcome).find(|outcome| is_contradiction(outcome))
    {
        return Err(Failure::Internal(message.clone()));
    }
    Ok(checked)
}

fn is_contradiction(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Misuse(Misuse::Contradiction(_)))
}

fn check(case: &Case, search: &SearchArgs) -> Checked {
    let method = (case.build)();
    let settings = settings(method.settings(), search);
    tracing::debug!(case = case.name, ?settings, "checking");
    let outcome = match method.check_with(&settings) {
        Ok(report) => Outcome::Report(Box::new(report)),
        Err(Misuse::NoProgramEnvironment) => Outcome::NotApplicable,
        Err(misuse) => Outcome::Misuse(misuse),
    };
    let checked = Checked { case: *case, expected: expected(case, settings.environment), outcome, settings };
    let executions = checked.report().map_or(0, Report::executions);
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

/// Where the naive adversary stops when nothing else is said.
pub const NAIVE_EXECUTIONS: u64 = 1_000_000;

/// What a case must give. A smaller environment finds no more than the open one, and may find less.
fn expected(case: &Case, environment: Environment) -> Option<Verdict> {
    match (environment, case.expected) {
        (Environment::Open, verdict) => Some(verdict),
        (Environment::Restricted | Environment::Closed, Verdict::Linearizable) => Some(Verdict::Linearizable),
        (Environment::Restricted | Environment::Closed, _) => None,
    }
}
