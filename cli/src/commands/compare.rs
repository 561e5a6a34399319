//! `interloper compare`: how many executions each adversary needs, as in section 5.3 of the COLT paper.

use std::num::NonZeroU64;

use interloper::{Adversary, Misuse, Search, Settings, Shard, Verdict};
use interloper_report::Counterexample;
use interloper_report::explorer::Exploration;
use interloper_report::junit::Outcome;
use interloper_report::replay_file::ReplayFile;
use interloper_report::table::{Align, Table};
use interloper_suite::Case;
use serde::{Deserialize, Serialize};

use crate::answer::{Answer, JSON_VERSION, json};
use crate::args::{Format, OutputArgs, SearchArgs};
use crate::counts::{grouped, plural};
use crate::entries::cases::{self, NAIVE_EXECUTIONS};
use crate::entries::told::Kept;
use crate::failure::Failure;
use crate::files::{page_can_be_written, write_pages};
use crate::jobs;
use crate::progress::Progress;
use crate::services::{self, Judged};
use crate::shards::{Asked, ShardResult, Split, refuse_form};

/// The adversaries in the order of their columns.
const ADVERSARIES: [(Adversary, &str); 3] =
    [(Adversary::Naive, "naive"), (Adversary::Nearest, "nearest"), (Adversary::Preceding, "preceding")];

#[derive(Serialize)]
struct Document<'c> {
    version: u32,
    seed: u64,
    /// Where the naive adversary stopped.
    naive_executions: u64,
    cases: Vec<Row<'c>>,
}

/// Executions to the first violation; `null` if no violation was found.
#[derive(Serialize)]
struct Row<'c> {
    name: &'c str,
    naive: Option<u64>,
    nearest: Option<u64>,
    preceding: Option<u64>,
}

/// A case under each adversary, in the order of the columns.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Compared {
    name: String,
    /// The first violations; `None` if no violation was found.
    found: [Option<Hit>; 3],
}

/// The first violation of a case under an adversary.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Hit {
    /// The executions up to it.
    executions: u64,
    counterexample: Counterexample,
    /// What runs it again. None of the naive adversary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    file: Option<ReplayFile>,
}

/// Every case with a violation, under each adversary.
pub fn compare(search: &SearchArgs, output: &OutputArgs) -> Result<Answer, Failure> {
    search.only("compare", &["--seed", "--bound", "--executions", "--time", "--jobs", "--shard"])?;
    output.no_html("compare")?;
    refuse_form(search, output)?;
    page_can_be_written(output.html.as_deref())?;
    let shard = search.shard.unwrap_or(Shard::WHOLE);
    let cases: Vec<Case> = (0..).zip(cases()).filter(|(number, _)| shard.has(*number)).map(|(_, case)| case).collect();
    let progress = Progress::start("case", cases.len());
    let jobs = search.jobs.unwrap_or_else(jobs::default_jobs);
    let compared = jobs::run(jobs, &cases, |case| compared(case, search), |case| progress.done(case.name))?;
    progress.finish();
    let compared = compared.into_iter().collect::<Result<Vec<Compared>, Failure>>()?;
    if search.shard.is_none() {
        return answer(&compared, search, output);
    }
    let (asked, nothing_to_do) = (Asked::command(vec!["compare".to_owned()], search), cases.is_empty());
    let result = ShardResult::of(shard, asked, Split::Compared(compared), nothing_to_do);
    Ok(Answer::expected(result.said().document()))
}

/// The cases with a violation.
fn cases() -> Vec<Case> {
    interloper_suite::cases().into_iter().filter(|case| case.expected != Verdict::Linearizable).collect()
}

/// The table of cases that shards have searched.
pub fn concluded(mut compared: Vec<Compared>, search: &SearchArgs, output: &OutputArgs) -> Result<Answer, Failure> {
    let names: Vec<&str> = cases().iter().map(|case| case.name).collect();
    compared.sort_by_key(|one| names.iter().position(|name| *name == one.name));
    if compared.iter().map(|one| one.name.as_str()).ne(names) {
        return Err(Failure::Request("not the results of all shards: other cases".to_owned()));
    }
    answer(&compared, search, output)
}

fn answer(compared: &[Compared], search: &SearchArgs, output: &OutputArgs) -> Result<Answer, Failure> {
    if let Some(path) = &output.html {
        let pages = compared.iter().flat_map(|one| pages(one, search)).collect::<Result<Vec<_>, Failure>>()?;
        write_pages(&pages, path, "no violation was found")?;
    }
    let naive_executions = search.executions.map_or(NAIVE_EXECUTIONS, NonZeroU64::get);
    let rows: Vec<Row> = compared.iter().map(row).collect();
    let judged = compared.iter().map(|one| judged_by_all(one, search)).collect();
    Ok(Answer::expected(match output.format {
        Format::Junit | Format::Sarif => services::document(output.format, by_adversary(judged)),
        Format::Json => json(&Document { version: JSON_VERSION, seed: search.seed(), naive_executions, cases: rows }),
        Format::Text | Format::Html => table(&rows, naive_executions),
    }))
}

/// The page of the violation of a case under each adversary that has found one.
fn pages(compared: &Compared, search: &SearchArgs) -> Vec<Result<Exploration, Failure>> {
    let found = ADVERSARIES.iter().zip(&compared.found).filter_map(|(adversary, hit)| Some((adversary, hit.as_ref()?)));
    found
        .map(|((_, adversary), hit)| {
            let counterexample = shown(&compared.name, adversary, hit, search);
            Kept { counterexample, file: hit.file.clone() }.page()
        })
        .collect()
}

/// A violation under an adversary, with the command that finds it again.
fn shown(name: &str, adversary: &str, hit: &Hit, search: &SearchArgs) -> Counterexample {
    Counterexample {
        name: format!("{name}, {adversary} adversary"),
        replay: Some(format!("interloper run {name} --adversary {adversary} {}", search.typed())),
        ..hit.counterexample.clone()
    }
}

/// Searches a case under each adversary.
fn compared(case: &Case, search: &SearchArgs) -> Result<Compared, Failure> {
    let found = |(adversary, _)| violation(case, search, adversary);
    let [naive, nearest, preceding] = ADVERSARIES.map(found);
    Ok(Compared { name: case.name.to_owned(), found: [naive?, nearest?, preceding?] })
}

/// A case in a row of the table.
fn row(Compared { name, found }: &Compared) -> Row<'_> {
    let [naive, nearest, preceding] = found.each_ref().map(|found| found.as_ref().map(|hit| hit.executions));
    Row { name, naive, nearest, preceding }
}

/// A case under each adversary, for services.
fn judged_by_all(Compared { name, found }: &Compared, search: &SearchArgs) -> Vec<Judged> {
    let all = ADVERSARIES.iter().zip(found);
    all.map(|((_, adversary), found)| judged(name, adversary, found.as_ref(), search)).collect()
}

/// What services read of a case under an adversary. That an adversary misses a violation is what the comparison is about, and no
/// failure.
fn judged(name: &str, adversary: &'static str, found: Option<&Hit>, search: &SearchArgs) -> Judged {
    let (result, output) = match found {
        Some(hit) => (Outcome::Passed, format!("a violation after {}", plural(hit.executions, "execution"))),
        None => (Outcome::Skipped { reason: "no violation found".to_owned() }, String::new()),
    };
    let counterexample = found.map(|hit| shown(name, adversary, hit, search));
    Judged { suite: adversary, name: name.to_owned(), result, output, counterexample }
}

/// The results of one adversary after those of another.
fn by_adversary(judged: Vec<Vec<Judged>>) -> Vec<Judged> {
    let mut judged: Vec<Judged> = judged.into_iter().flatten().collect();
    let place = |one: &Judged| ADVERSARIES.iter().position(|(_, word)| *word == one.suite);
    judged.sort_by_key(place);
    judged
}

/// The first violation in the open environment.
fn violation(case: &Case, search: &SearchArgs, adversary: Adversary) -> Result<Option<Hit>, Failure> {
    let method = (case.build)();
    let mut settings: Settings = cases::settings(method.settings(), search);
    settings.adversary = adversary;
    if adversary == Adversary::Naive {
        settings.search = Search::Random { executions: search.executions.map_or(NAIVE_EXECUTIONS, NonZeroU64::get) };
    }
    match method.check_with(&settings) {
        Ok(report) => Ok(report.violation.map(|found| Hit {
            executions: found.execution,
            file: cases::replay_file(case.name, &settings, &found),
            counterexample: found.counterexample,
        })),
        Err(Misuse::Contradiction(message)) => Err(Failure::Internal(message)),
        Err(misuse) => Err(Failure::Request(format!("{}: {misuse}", case.name))),
    }
}

fn table(rows: &[Row<'_>], naive_executions: u64) -> String {
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
    let found = |of: fn(&Row<'_>) -> Option<u64>| rows.iter().filter(|row| of(row).is_some()).count();
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
