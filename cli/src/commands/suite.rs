//! `interloper` and `interloper run`: cases, their verdicts, and the reports of what is to be seen.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use interloper::blocks::Program;
use interloper::{Coverage, Misuse, Report, Verdict};
use interloper_report::replay_file::{self, FOLDER};
use interloper_report::table::{Align, Table};
use interloper_report::text::{self, Style};
use interloper_report::{Counterexample, file};
use interloper_suite::Case;
use serde::Serialize;

use crate::answer::{Answer, JSON_VERSION, json};
use crate::args::{Format, OF_CASES, OF_PROGRAMS, OutputArgs, RunArgs, SearchArgs};
use crate::blocks;
use crate::blocks::files::{write_page, write_trace};
use crate::blocks::printing::{self, ProgramResult};
use crate::catalogue::{self, Entry};
use crate::checking::{Checked, Outcome, check_all};
use crate::counts::{Unseen, grouped, plural};
use crate::failure::{Failure, Finding};
use crate::failures;
use crate::files::{can_write, make_folder};
use crate::output;

#[derive(Serialize)]
struct Document {
    version: u32,
    seed: u64,
    cases: Vec<CaseResult>,
    programs: Vec<ProgramResult>,
}

#[derive(Serialize)]
struct CaseResult {
    name: &'static str,
    origin: &'static str,
    expected: Option<&'static str>,
    verdict: &'static str,
    environment_operations: Option<u32>,
    executions_to_violation: Option<u64>,
    executions: u64,
    /// What each search went through: the open environment first, then the program's where that was tried.
    searches: Vec<Searched>,
    /// `run` shows every violation; the suite only what is unexpected, which its readers find in the replay files.
    #[serde(skip_serializing_if = "Option::is_none")]
    counterexample: Option<Counterexample>,
}

#[derive(Serialize)]
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

/// Checks every case and every program. Only what is unexpected is reported in full.
pub fn suite(search: &SearchArgs, output: &OutputArgs) -> Result<Answer, Failure> {
    output.no_html("the suite")?;
    let checked = check_all(&interloper_suite::cases(), search)?;
    let programs = blocks::checking::check_all(&interloper_suite::blocks::programs(), search)?;
    let counterexamples = checked
        .iter()
        .map(|checked| if checked.is_unexpected() { counterexample(checked, search) } else { Ok(None) })
        .collect::<Result<Vec<_>, _>>()?;
    let of_programs = programs
        .iter()
        .map(|checked| if checked.is_unexpected() { counterexample_of_program(checked) } else { Ok(None) })
        .collect::<Result<Vec<_>, _>>()?;
    let finding = finding(&checked, &programs);
    let text = match output.format {
        Format::Json => {
            let counterexamples = [vec![None; checked.len()], vec![None; programs.len()]];
            document((&checked, &programs), search.seed(), counterexamples)
        }
        Format::Text | Format::Html => {
            let style = output::style(output.color);
            let mut out = table(&checked, style);
            for (checked, counterexample) in checked.iter().zip(&counterexamples).filter(|(of, _)| of.is_unexpected()) {
                out.push('\n');
                out.push_str(&report(checked, counterexample.as_ref(), style));
            }
            out.push_str(&format!("\n{}\n{}", summary(&checked), printing::table(&programs, style)));
            for (checked, counterexample) in programs.iter().zip(&of_programs).filter(|(of, _)| of.is_unexpected()) {
                out.push('\n');
                out.push_str(&printing::report(checked, counterexample.as_ref(), style));
            }
            format!("{out}\n{}again: interloper {}\n", printing::summary(&programs), search.typed())
        }
    };
    Ok(Answer::new(text, finding))
}

/// Checks the named cases and programs and reports every violation.
pub fn run(arguments: &RunArgs, search: &SearchArgs, output: &OutputArgs) -> Result<Answer, Failure> {
    output.no_html("run")?;
    let entries = arguments.names.iter().map(|name| catalogue::find(name)).collect::<Result<Vec<_>, _>>()?;
    let cases: Vec<Case> = entries.iter().filter_map(Entry::case).collect();
    let programs: Vec<Program> = entries.iter().filter_map(Entry::program).collect();
    refuse_unused("run", &cases, &programs, search)?;
    refuse_files(arguments, programs.len(), search)?;
    let checked = check_all(&cases, search)?;
    if let Some(checked) = checked.iter().find(|checked| matches!(checked.outcome, Outcome::NotApplicable)) {
        return Err(Failure::Request(format!("{}: {}", checked.case.name, Misuse::NoProgramEnvironment)));
    }
    let programs = blocks::checking::check_all(&programs, search)?;
    let counterexamples =
        checked.iter().map(|checked| counterexample(checked, search)).collect::<Result<Vec<_>, _>>()?;
    let of_programs = programs.iter().map(counterexample_of_program).collect::<Result<Vec<_>, _>>()?;
    if let (Some(path), Some(checked)) = (&arguments.trace, programs.first()) {
        write_trace(checked, path)?;
    }
    if let Some(path) = &arguments.html {
        let counterexample = counterexamples.iter().chain(&of_programs).next().and_then(Option::as_ref);
        write_page(&arguments.names[0], counterexample, path)?;
    }
    let finding = finding(&checked, &programs);
    let text = match output.format {
        Format::Json => document((&checked, &programs), search.seed(), [counterexamples, of_programs]),
        Format::Text | Format::Html => {
            let style = output::style(output.color);
            let mut of_cases = checked.iter().zip(&counterexamples);
            let mut of_programs = programs.iter().zip(&of_programs);
            let mut out = String::new();
            for entry in &entries {
                let report = match entry {
                    Entry::Case(_) => of_cases.next().map(|(checked, found)| report(checked, found.as_ref(), style)),
                    Entry::Program(_) => {
                        of_programs.next().map(|(checked, found)| printing::report(checked, found.as_ref(), style))
                    }
                };
                out.push_str(&report.expect("each entry was checked"));
                out.push('\n');
            }
            if !checked.is_empty() {
                out.push_str(&format!("{}\n{}", table(&checked, style), summary(&checked)));
            }
            if !programs.is_empty() {
                let gap = if checked.is_empty() { "" } else { "\n" };
                out.push_str(&format!("{gap}{}\n{}", printing::table(&programs, style), printing::summary(&programs)));
            }
            out + &format!("again: interloper run {} {}\n", arguments.names.join(" "), search.typed())
        }
    };
    Ok(Answer::new(text, finding))
}

/// Refuses options that no checked entry uses: an option that would be ignored is a misunderstanding.
pub fn refuse_unused(command: &str, cases: &[Case], programs: &[Program], search: &SearchArgs) -> Result<(), Failure> {
    let unused = |option: &&str| {
        (cases.is_empty() && OF_CASES.contains(option)) || (programs.is_empty() && OF_PROGRAMS.contains(option))
    };
    match search.given().find(unused) {
        Some(option) if programs.is_empty() => {
            Err(Failure::Request(format!("'{command}' uses {option} for programs with blocks only")))
        }
        Some(option) => Err(Failure::Request(format!("'{command}' uses {option} for composed operations only"))),
        None => Ok(()),
    }
}

/// Refuses to write files that are about one when there are several, that could not be written, or that would be written
/// over each other.
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

fn finding(checked: &[Checked], programs: &[blocks::checking::Checked]) -> Finding {
    let (unexplored, unexpected): (Vec<_>, Vec<_>) =
        programs.iter().filter(|program| program.is_unexpected()).partition(|program| program.is_unexplored());
    match () {
        () if checked.iter().any(Checked::is_unexpected) || !unexpected.is_empty() => Finding::Unexpected,
        () if !unexplored.is_empty() => Finding::Unexplored,
        () => Finding::Expected,
    }
}

/// The counterexample of a program that has one, its replay file written.
fn counterexample_of_program(checked: &blocks::checking::Checked) -> Result<Option<Counterexample>, Failure> {
    let violation = checked.report().and_then(|report| report.violation());
    violation.map(|violation| failures::of_program(checked, violation)).transpose()
}

/// The counterexample of a case that has one, its replay file written.
fn counterexample(checked: &Checked, search: &SearchArgs) -> Result<Option<Counterexample>, Failure> {
    let violation = checked.report().and_then(|report| report.violation.as_ref());
    violation.map(|violation| failures::of_case(checked, violation, search)).transpose()
}

/// What was found out about one case, in full.
pub fn report(checked: &Checked, counterexample: Option<&Counterexample>, style: Style) -> String {
    let name = checked.case.name;
    let mut out = match (&checked.outcome, counterexample) {
        (_, Some(counterexample)) => text::render(counterexample, style) + "\n",
        (Outcome::Report(report), None) => {
            let mark = match report.verdict {
                _ if checked.is_unexpected() => "✗",
                Verdict::Linearizable => "✓",
                _ => "?",
            };
            text::headline(mark, name, &report.verdict.to_string(), style)
        }
        (Outcome::NotApplicable, None) => text::headline("–", name, NOT_APPLICABLE, style),
        (Outcome::Misuse(misuse), None) => text::headline("✗", name, &misuse.to_string(), style),
    };
    for coverage in checked.report().map_or(&[][..], |report| &report.coverage) {
        writeln!(out, "  {coverage}").expect("writing to a string");
    }
    if let (true, Some(expected)) = (checked.is_unexpected(), checked.expected) {
        writeln!(out, "  expected: {expected}").expect("writing to a string");
    }
    out
}

const NOT_APPLICABLE: &str = "not applicable";

/// One line for each case.
fn table(checked: &[Checked], style: Style) -> String {
    let mut table = Table::new([
        ("  case", Align::Left),
        ("expected", Align::Left),
        ("verdict", Align::Left),
        ("environment\noperations", Align::Right),
        ("executions\nto it", Align::Right),
        ("executions", Align::Right),
    ]);
    for checked in checked {
        let mark = match &checked.outcome {
            _ if checked.is_unexpected() => "✗",
            Outcome::NotApplicable => "–",
            _ => "✓",
        };
        let violation = checked.report().and_then(|report| report.violation.as_ref());
        let number = |number: Option<u64>| number.map_or_else(|| "–".to_owned(), grouped);
        table.row([
            format!("{mark} {}", checked.case.name),
            checked.expected.map_or_else(|| "any".to_owned(), words),
            verdict(checked, words).unwrap_or_else(|word| word.to_owned()),
            number(violation.map(|violation| u64::from(violation.environment_operations))),
            number(violation.map(|violation| violation.execution)),
            number(checked.report().map(Report::executions)),
        ]);
    }
    output::paint_marks(&table.to_string(), style)
}

/// The verdict as `with` writes it, or the word for there being none.
fn verdict<T>(checked: &Checked, with: impl Fn(Verdict) -> T) -> Result<T, &'static str> {
    match &checked.outcome {
        Outcome::Report(report) => Ok(with(report.verdict)),
        Outcome::NotApplicable => Err(NOT_APPLICABLE),
        Outcome::Misuse(_) => Err("error"),
    }
}

/// The verdict in the words of a table.
pub fn words(verdict: Verdict) -> String {
    verdict.word().replace('-', " ")
}

/// How many of what, and which are not as expected.
fn summary(checked: &[Checked]) -> String {
    let unexpected: Vec<&str> =
        checked.iter().filter(|checked| checked.is_unexpected()).map(|checked| checked.case.name).collect();
    let mut out = plural(checked.len() as u64, "case");
    let order =
        [Verdict::Linearizable, Verdict::NotLinearizable, Verdict::Modular, Verdict::NothingFound, Verdict::Unfinished];
    let counts = order.into_iter().filter_map(|wanted| {
        let count = checked.iter().filter(|checked| verdict(checked, |found| found) == Ok(wanted)).count();
        (count > 0).then(|| format!("{count} {}", words(wanted)))
    });
    let without = checked.iter().filter_map(|checked| verdict(checked, |_| ()).err());
    let mut counts: Vec<String> = counts.collect();
    for word in [NOT_APPLICABLE, "error"] {
        let count = without.clone().filter(|without| *without == word).count();
        if count > 0 {
            counts.push(format!("{count} {word}"));
        }
    }
    let executions: u64 = checked.iter().filter_map(Checked::report).map(Report::executions).sum();
    write!(out, ": {}; {}; ", counts.join(", "), plural(executions, "execution")).expect("writing to a string");
    match &unexpected[..] {
        [] => out.push_str("nothing unexpected\n"),
        names => writeln!(out, "{} unexpected: {}", names.len(), names.join(", ")).expect("writing to a string"),
    }
    out
}

/// The document of what was checked, with the counterexamples of the cases and those of the programs.
fn document(
    (checked, programs): (&[Checked], &[blocks::checking::Checked]),
    seed: u64,
    [of_cases, of_programs]: [Vec<Option<Counterexample>>; 2],
) -> String {
    let result = |(checked, counterexample): (&Checked, Option<Counterexample>)| {
        let violation = checked.report().and_then(|report| report.violation.as_ref());
        CaseResult {
            name: checked.case.name,
            origin: checked.case.origin,
            expected: checked.expected.map(Verdict::word),
            verdict: verdict(checked, Verdict::word).unwrap_or_else(|word| word),
            environment_operations: violation.map(|violation| violation.environment_operations),
            executions_to_violation: violation.map(|violation| violation.execution),
            executions: checked.report().map_or(0, Report::executions),
            searches: checked.report().map_or_else(Vec::new, |report| report.coverage.iter().map(searched).collect()),
            counterexample,
        }
    };
    let cases = checked.iter().zip(of_cases).map(result).collect();
    let programs = programs.iter().zip(of_programs).map(|(checked, found)| printing::result(checked, found)).collect();
    json(&Document { version: JSON_VERSION, seed, cases, programs })
}
