//! `interloper` and `interloper run`: cases and programs, their verdicts, and the reports of what is to be seen.

use std::path::{Path, PathBuf};

use interloper::blocks::Program;
use interloper_report::explorer::{Exploration, page};
use interloper_report::replay_file::{self, FOLDER};
use interloper_report::text::Style;
use interloper_report::{Counterexample, file};
use interloper_suite::Case;
use serde::Serialize;

use crate::answer::{Answer, JSON_VERSION, json};
use crate::args::{Format, OF_CASES, OF_PROGRAMS, OutputArgs, RunArgs, SearchArgs};
use crate::catalogue::{self, Entry};
use crate::entries::cases::{CaseResult, CheckedCase};
use crate::entries::programs::{CheckedProgram, ProgramResult};
use crate::entries::{Checked, Item};
use crate::failure::{Failure, Finding};
use crate::files::{can_write, make_folder, write_text};
use crate::output;
use crate::services::{self, Judged};

#[derive(Serialize)]
struct Document {
    version: u32,
    seed: u64,
    cases: Vec<CaseResult>,
    programs: Vec<ProgramResult>,
}

/// Checked entries of one kind, each with the counterexample that its report shows, if it shows one.
struct Part<C> {
    checked: Vec<C>,
    counterexamples: Vec<Option<Counterexample>>,
}

impl<C: Checked> Part<C> {
    /// Writes the replay files of the entries that are `shown`.
    fn new(checked: Vec<C>, shown: fn(&C) -> bool, search: &SearchArgs) -> Result<Part<C>, Failure> {
        let kept = checked.iter().map(|one| if shown(one) { one.kept(search) } else { Ok(None) });
        Ok(Part { counterexamples: kept.collect::<Result<_, Failure>>()?, checked })
    }

    /// The reports of all entries, in their order.
    fn reports(&self, style: Style) -> impl Iterator<Item = String> {
        self.checked.iter().zip(&self.counterexamples).map(move |(one, found)| one.report(found.as_ref(), style))
    }

    /// What the page of the first entry shows, if the entry has a counterexample.
    fn page(&self) -> Option<Exploration> {
        Some(self.checked.first()?.page(self.counterexamples.first()?.as_ref()?))
    }

    /// What services read of the entries, in this suite.
    fn judged(&self, suite: &'static str) -> impl Iterator<Item = Judged> {
        self.checked.iter().zip(&self.counterexamples).map(move |(one, found)| one.judged(suite, found.as_ref()))
    }

    /// The table, with what comes between it and the summary.
    fn overview(&self, between: &str, style: Style) -> String {
        format!("{}{between}\n{}", C::table(&self.checked, style), C::summary(&self.checked))
    }

    /// The table, the reports of what is unexpected, and the summary.
    fn unexpected(&self, style: Style) -> String {
        let reports = self.reports(style).zip(&self.checked).filter(|(_, one)| one.is_unexpected());
        let reports: String = reports.map(|(report, _)| format!("\n{report}")).collect();
        self.overview(&reports, style)
    }

    /// The same for a document: with the counterexamples, or without.
    fn results(self, with: bool) -> Vec<C::Result> {
        let found = self.counterexamples.into_iter().map(|found| found.filter(|_| with));
        self.checked.iter().zip(found).map(|(one, found)| one.result(found)).collect()
    }

    fn finding(&self) -> Finding {
        let unexpected = || self.checked.iter().filter(|one| one.is_unexpected());
        match () {
            () if unexpected().any(|one| !one.is_unexplored()) => Finding::Unexpected,
            () if unexpected().next().is_some() => Finding::Unexplored,
            () => Finding::Expected,
        }
    }
}

/// Checks every case and every program. Only what is unexpected is reported in full.
pub fn suite(search: &SearchArgs, output: &OutputArgs) -> Result<Answer, Failure> {
    output.no_html("the suite")?;
    let of_cases = Item::check_all(&interloper_suite::cases(), search)?;
    let of_programs = Item::check_all(&interloper_suite::blocks::programs(), search)?;
    let of_cases = Part::new(of_cases, Checked::is_unexpected, search)?;
    let of_programs = Part::new(of_programs, Checked::is_unexpected, search)?;
    let finding = finding(&of_cases, &of_programs);
    let text = match output.format {
        Format::Json => document(of_cases, of_programs, search.seed(), false),
        Format::Junit | Format::Sarif => services::document(output.format, judged(&of_cases, &of_programs)),
        Format::Text | Format::Html => {
            let style = output::style(output.color);
            let (of_cases, of_programs) = (of_cases.unexpected(style), of_programs.unexpected(style));
            format!("{of_cases}\n{of_programs}again: interloper {}\n", search.typed())
        }
    };
    Ok(Answer::new(text, finding))
}

/// Checks the named cases and programs and reports every violation.
pub fn run(arguments: &RunArgs, search: &SearchArgs, output: &OutputArgs) -> Result<Answer, Failure> {
    output.no_html("run")?;
    let entries = arguments.names.iter().map(|name| catalogue::find(name)).collect::<Result<Vec<_>, _>>()?;
    let of_cases: Vec<Case> = entries.iter().filter_map(Entry::case).collect();
    let of_programs: Vec<Program> = entries.iter().filter_map(Entry::program).collect();
    refuse_unused("run", &entries, search)?;
    refuse_files(arguments, of_programs.len(), search)?;
    let of_cases = Item::check_all(&of_cases, search)?;
    if let Some(reason) = of_cases.iter().find_map(Checked::refused) {
        return Err(Failure::Request(reason));
    }
    let of_programs = Item::check_all(&of_programs, search)?;
    let of_cases = Part::new(of_cases, |_| true, search)?;
    let of_programs = Part::new(of_programs, |_| true, search)?;
    if let (Some(path), Some(checked)) = (&arguments.trace, of_programs.checked.first()) {
        checked.write_trace(path)?;
    }
    if let Some(path) = &arguments.html {
        match of_cases.page().or_else(|| of_programs.page()) {
            Some(exploration) => write_text(&page::render(&exploration), path)?,
            None => return Err(no_page(&arguments.names[0], "write")),
        }
    }
    let finding = finding(&of_cases, &of_programs);
    let text = match output.format {
        Format::Json => document(of_cases, of_programs, search.seed(), true),
        Format::Junit | Format::Sarif => services::document(output.format, judged(&of_cases, &of_programs)),
        Format::Text | Format::Html => {
            let style = output::style(output.color);
            let (mut case_reports, mut program_reports) = (of_cases.reports(style), of_programs.reports(style));
            let report = |entry: &Entry| match entry {
                Entry::Case(_) => case_reports.next(),
                Entry::Program(_) => program_reports.next(),
            };
            let reports = entries.iter().map(report).map(|report| report.expect("each entry was checked") + "\n");
            let reports: String = reports.collect();
            let mut overviews = Vec::new();
            if !of_cases.checked.is_empty() {
                overviews.push(of_cases.overview("", style));
            }
            if !of_programs.checked.is_empty() {
                overviews.push(of_programs.overview("", style));
            }
            let (names, typed) = (arguments.names.join(" "), search.typed());
            format!("{reports}{}again: interloper run {names} {typed}\n", overviews.join("\n"))
        }
    };
    Ok(Answer::new(text, finding))
}

/// The refusal to write a page for an entry without a violation.
pub fn no_page(name: &str, to: &str) -> Failure {
    Failure::Request(format!("{name} has no violation, so there is no page to {to}"))
}

/// Refuses options that no checked entry uses: an option that would be ignored is a misunderstanding.
pub fn refuse_unused(command: &str, entries: &[Entry], search: &SearchArgs) -> Result<(), Failure> {
    let has_cases = entries.iter().any(|entry| entry.case().is_some());
    let has_programs = entries.iter().any(|entry| entry.program().is_some());
    let unused =
        |option: &&str| (!has_cases && OF_CASES.contains(option)) || (!has_programs && OF_PROGRAMS.contains(option));
    match search.given().find(unused) {
        Some(option) => {
            let others = if has_programs { "composed operations" } else { "programs with blocks" };
            Err(Failure::Request(format!("'{command}' uses {option} for {others} only")))
        }
        None => Ok(()),
    }
}

/// Refuses files that describe one entry when several are checked, that cannot be written, or that would overwrite each
/// other.
fn refuse_files(arguments: &RunArgs, programs: usize, search: &SearchArgs) -> Result<(), Failure> {
    let names = arguments.names.len();
    if arguments.trace.is_some() && (names, programs) != (1, 1) {
        return Err(Failure::Request("--trace is for one program with blocks".to_owned()));
    }
    if arguments.html.is_some() && names != 1 {
        return Err(Failure::Request("--html is for one case or program".to_owned()));
    }
    let files: Vec<&PathBuf> = arguments.trace.iter().chain(&arguments.html).collect();
    let replay = replay_file::path(&arguments.names[0], search.seed(), Path::new(FOLDER));
    for (index, path) in files.iter().enumerate() {
        make_folder(path)?;
        can_write(path)?;
        let other = files[..index].iter().any(|other| file::same(other, path));
        if other || file::same(path, &replay) {
            let what = if other { "the trace" } else { "the replay file" };
            return Err(Failure::Request(format!("cannot write {}: {what} is written there", path.display())));
        }
    }
    Ok(())
}

fn judged(of_cases: &Part<CheckedCase>, of_programs: &Part<CheckedProgram>) -> Vec<Judged> {
    of_cases.judged("composed operations").chain(of_programs.judged("programs with blocks")).collect()
}

fn finding(of_cases: &Part<CheckedCase>, of_programs: &Part<CheckedProgram>) -> Finding {
    let findings = [of_cases.finding(), of_programs.finding()];
    let worst = [Finding::Unexpected, Finding::Unexplored].into_iter().find(|finding| findings.contains(finding));
    worst.unwrap_or(Finding::Expected)
}

/// The document of what was checked, with counterexamples or without.
fn document(of_cases: Part<CheckedCase>, of_programs: Part<CheckedProgram>, seed: u64, with: bool) -> String {
    let (cases, programs) = (of_cases.results(with), of_programs.results(with));
    json(&Document { version: JSON_VERSION, seed, cases, programs })
}
