//! `interloper compare`: how many executions each adversary needs, as in section 5.3 of the COLT paper.

use std::num::NonZeroU64;

use interloper::{Adversary, Misuse, Search, Settings, Verdict};
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
    output.judges_nothing("compare")?;
    let naive_executions = search.executions.map_or(NAIVE_EXECUTIONS, NonZeroU64::get);
    let cases: Vec<Case> =
        interloper_suite::cases().into_iter().filter(|case| case.expected != Verdict::Linearizable).collect();
    let progress = Progress::start("case", cases.len());
    let jobs = search.jobs.unwrap_or_else(jobs::default_jobs);
    let rows = jobs::run(jobs, &cases, |case| row(case, search), |case| progress.done(case.name))?;
    progress.finish();
    let rows = rows.into_iter().collect::<Result<Vec<Row>, Failure>>()?;
    Ok(Answer::expected(match output.format {
        Format::Json => json(&Document { version: JSON_VERSION, seed: search.seed(), naive_executions, cases: rows }),
        _ => table(&rows, naive_executions),
    }))
}

fn row(case: &Case, search: &SearchArgs) -> Result<Row, Failure> {
    let [naive, nearest, preceding] = ADVERSARIES.map(|(adversary, _)| executions(case, search, adversary));
    Ok(Row { name: case.name, naive: naive?, nearest: nearest?, preceding: preceding? })
}

/// Executions to the first violation in the open environment.
fn executions(case: &Case, search: &SearchArgs, adversary: Adversary) -> Result<Option<u64>, Failure> {
    let method = (case.build)();
    let mut settings: Settings = cases::settings(method.settings(), search);
    settings.adversary = adversary;
    if adversary == Adversary::Naive {
        settings.search = Search::Random { executions: search.executions.map_or(NAIVE_EXECUTIONS, NonZeroU64::get) };
    }
    match method.check_with(&settings) {
        Ok(report) => Ok(report.violation.map(|violation| violation.execution)),
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
