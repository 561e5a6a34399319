//! `interloper` and `interloper run`: cases, their verdicts, and the reports of what is to be seen.

use std::fmt::Write;

use interloper::{Misuse, Report, Verdict};
use interloper_report::Counterexample;
use interloper_report::table::{Align, Table};
use interloper_report::text::{self, Style};
use serde::Serialize;

use super::{Answer, JSON_VERSION, json};
use crate::args::{Format, OutputArgs, SearchArgs};
use crate::catalogue;
use crate::checking::{Checked, Outcome, check_all, grouped, plural};
use crate::failure::{Failure, Finding};
use crate::failures::record;
use crate::output;

#[derive(Serialize)]
struct Document {
    version: u32,
    seed: u64,
    cases: Vec<CaseResult>,
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
    /// `run` shows every violation; the suite only what is unexpected, which its readers find in the replay files.
    #[serde(skip_serializing_if = "Option::is_none")]
    counterexample: Option<Counterexample>,
}

/// Checks every case. Only what is unexpected is reported in full.
pub fn suite(search: &SearchArgs, output: &OutputArgs) -> Result<Answer, Failure> {
    output.no_html("the suite")?;
    let checked = check_all(&interloper_suite::cases(), search)?;
    let counterexamples = checked
        .iter()
        .map(|checked| if checked.is_unexpected() { counterexample(checked, search) } else { Ok(None) })
        .collect::<Result<Vec<_>, _>>()?;
    let text = match output.format {
        Format::Json => document(&checked, search.seed(), Vec::new()),
        Format::Text | Format::Html => {
            let style = output::style(output.color);
            let mut out = table(&checked, style);
            for (checked, counterexample) in checked.iter().zip(&counterexamples).filter(|(of, _)| of.is_unexpected()) {
                out.push('\n');
                out.push_str(&report(checked, counterexample.as_ref(), style));
            }
            out + "\n" + &summary(&checked) + &format!("again: interloper {}\n", search.typed())
        }
    };
    Ok(Answer { text, finding: finding(&checked) })
}

/// Checks the named cases and reports every violation.
pub fn run(names: &[String], search: &SearchArgs, output: &OutputArgs) -> Result<Answer, Failure> {
    output.no_html("run")?;
    let cases = names.iter().map(|name| catalogue::find(name)).collect::<Result<Vec<_>, _>>()?;
    let checked = check_all(&cases, search)?;
    if let Some(checked) = checked.iter().find(|checked| matches!(checked.outcome, Outcome::NotApplicable)) {
        return Err(Failure::Request(format!("{}: {}", checked.case.name, Misuse::NoProgramEnvironment)));
    }
    let counterexamples =
        checked.iter().map(|checked| counterexample(checked, search)).collect::<Result<Vec<_>, _>>()?;
    let text = match output.format {
        Format::Json => document(&checked, search.seed(), counterexamples),
        Format::Text | Format::Html => {
            let style = output::style(output.color);
            let mut out = String::new();
            for (checked, counterexample) in checked.iter().zip(&counterexamples) {
                out.push_str(&report(checked, counterexample.as_ref(), style));
                out.push('\n');
            }
            let again = format!("again: interloper run {} {}\n", names.join(" "), search.typed());
            out + &table(&checked, style) + "\n" + &summary(&checked) + &again
        }
    };
    Ok(Answer { text, finding: finding(&checked) })
}

fn finding(checked: &[Checked]) -> Finding {
    Finding::unexpected_if(checked.iter().any(Checked::is_unexpected))
}

/// The counterexample of a case that has one, its replay file written.
fn counterexample(checked: &Checked, search: &SearchArgs) -> Result<Option<Counterexample>, Failure> {
    let violation = checked.report().and_then(|report| report.violation.as_ref());
    violation.map(|violation| record(checked, violation, search)).transpose()
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

fn document(checked: &[Checked], seed: u64, counterexamples: Vec<Option<Counterexample>>) -> String {
    let counterexamples = counterexamples.into_iter().chain(std::iter::repeat(None));
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
            counterexample,
        }
    };
    let cases = checked.iter().zip(counterexamples).map(result).collect();
    json(&Document { version: JSON_VERSION, seed, cases })
}
