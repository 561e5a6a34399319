//! `interloper compare`: how many executions each adversary needs, as in section 5.3 of the COLT paper.

use std::num::NonZeroU64;

use interloper::{Adversary, Misuse, Search, Settings, Verdict, Violation};
use interloper_report::Counterexample;
use interloper_report::junit::Outcome;
use interloper_report::table::{Align, Table};
use interloper_suite::Case;
use serde::Serialize;

use crate::answer::{Answer, JSON_VERSION, json};
use crate::args::{Format, OutputArgs, SearchArgs};
use crate::counts::{grouped, plural};
use crate::entries::cases::{self, NAIVE_EXECUTIONS};
use crate::failure::Failure;
use crate::jobs;
use crate::progress::Progress;
use crate::services::{self, Judged};

/// The adversaries in the order of their columns.
const ADVERSARIES: [(Adversary, &str); 3] =
    [(Adversary::Naive, "naive"), (Adversary::Nearest, "nearest"), (Adversary::Preceding, "preceding")];

#[derive(Serialize)]
struct Document {
    version: u32,
    seed: u64,
    /// Where the naive adversary stopped.
    naive_executions: u64,
    cases: Vec<Row>,
}

/// Executions to the first violation; `null` if no violation was found.
#[derive(Serialize)]
struct Row {
    name: &'static str,
    naive: Option<u64>,
    nearest: Option<u64>,
    preceding: Option<u64>,
}

/// Every case with a violation, under each adversary.
pub fn compare(search: &SearchArgs, output: &OutputArgs) -> Result<Answer, Failure> {
    search.only("compare", &["--seed", "--bound", "--executions", "--time", "--jobs"])?;
    output.no_html("compare")?;
    if output.html.is_some() {
        return Err(Failure::Request("'compare' writes no pages: 'run NAME --html FILE' shows a violation".to_owned()));
    }
    let naive_executions = search.executions.map_or(NAIVE_EXECUTIONS, NonZeroU64::get);
    let cases: Vec<Case> =
        interloper_suite::cases().into_iter().filter(|case| case.expected != Verdict::Linearizable).collect();
    let progress = Progress::start("case", cases.len());
    let jobs = search.jobs.unwrap_or_else(jobs::default_jobs);
    let rows = jobs::run(jobs, &cases, |case| row(case, search), |case| progress.done(case.name))?;
    progress.finish();
    let (rows, judged): (Vec<Row>, Vec<Vec<Judged>>) = rows.into_iter().collect::<Result<_, Failure>>()?;
    Ok(Answer::expected(match output.format {
        Format::Junit | Format::Sarif => services::document(output.format, by_adversary(judged)),
        Format::Json => json(&Document { version: JSON_VERSION, seed: search.seed(), naive_executions, cases: rows }),
        Format::Text | Format::Html => table(&rows, naive_executions),
    }))
}

/// A case under each adversary, in a row and for services.
fn row(case: &Case, search: &SearchArgs) -> Result<(Row, Vec<Judged>), Failure> {
    let found = ADVERSARIES.map(|(adversary, _)| violation(case, search, adversary));
    let found = found.into_iter().collect::<Result<Vec<Option<Violation>>, Failure>>()?;
    let executions = |index: usize| found[index].as_ref().map(|violation: &Violation| violation.execution);
    let row = Row { name: case.name, naive: executions(0), nearest: executions(1), preceding: executions(2) };
    let judged =
        ADVERSARIES.iter().zip(&found).map(|((_, adversary), found)| judged(case, adversary, found.as_ref(), search));
    Ok((row, judged.collect()))
}

/// What services read of a case under an adversary. That an adversary misses a violation is what the comparison is about, and no
/// failure.
fn judged(case: &Case, adversary: &'static str, found: Option<&Violation>, search: &SearchArgs) -> Judged {
    let name = case.name.to_owned();
    let (result, output) = match found {
        Some(found) => (Outcome::Passed, format!("a violation after {}", plural(found.execution, "execution"))),
        None => (Outcome::Skipped { reason: "no violation found".to_owned() }, String::new()),
    };
    let counterexample = found.map(|found| Counterexample {
        name: format!("{name}, {adversary} adversary"),
        replay: Some(format!("interloper run {name} --adversary {adversary} {}", search.typed())),
        ..found.counterexample.clone()
    });
    Judged { suite: adversary, name, result, output, counterexample }
}

/// The results of one adversary after those of another.
fn by_adversary(judged: Vec<Vec<Judged>>) -> Vec<Judged> {
    let mut judged: Vec<Judged> = judged.into_iter().flatten().collect();
    let place = |one: &Judged| ADVERSARIES.iter().position(|(_, word)| *word == one.suite);
    judged.sort_by_key(place);
    judged
}

/// The first violation in the open environment.
fn violation(case: &Case, search: &SearchArgs, adversary: Adversary) -> Result<Option<Violation>, Failure> {
    let method = (case.build)();
    let mut settings: Settings = cases::settings(method.settings(), search);
    settings.adversary = adversary;
    if adversary == Adversary::Naive {
        settings.search = Search::Random { executions: search.executions.map_or(NAIVE_EXECUTIONS, NonZeroU64::get) };
    }
    match method.check_with(&settings) {
        Ok(report) => Ok(report.violation),
        Err(Misuse::Contradiction(message)) => Err(Failure::Internal(message)),
        Err(misuse) => Err(Failure::Request(format!("{}: {misuse}", case.name))),
    }
}

fn table(rows: &[Row], naive_executions: u64) -> String {
    let mut table = Table::new([
        ("case", Align::Left),
        ("naive", Align::Right),
        ("nearest", Align::Right),
        ("preceding", Align::Right),
    ]);
    let number = |number: Option<u64>| number.map_or_else(|| "not found".to_owned(), grouped);
    for row in rows {
        table.row([row.name.to_owned(), number(row.naive), number(row.nearest), number(row.preceding)]);
    }
    let found = |of: fn(&Row) -> Option<u64>| rows.iter().filter(|row| of(row).is_some()).count();
    format!(
        "Executions to the first violation; the naive adversary stops after {}.\n\n{table}\n{}: naive found {}, nearest \
         {}, preceding {}\n",
        plural(naive_executions, "execution"),
        plural(rows.len() as u64, "case"),
        found(|row| row.naive),
        found(|row| row.nearest),
        found(|row| row.preceding),
    )
}
