//! Programs in the documents and tables of the commands.

use std::fmt::Write;

use interloper::blocks::{Blocks, Bug, Expected, Finding, Grade, Program, Report};
use interloper_report::Counterexample;
use interloper_report::table::{Align, Table};
use interloper_report::text::{self, Style};
use serde::Serialize;

use super::checking::Checked;
use crate::counts::{Unseen, grouped, plural};
use crate::output;

/// A program in a JSON document.
#[derive(Serialize)]
pub struct ProgramResult {
    name: &'static str,
    origin: &'static str,
    expected: String,
    grade: &'static str,
    finding: Option<String>,
    schedule: String,
    executions_to_violation: Option<u64>,
    executions: u64,
    /// The different Mazurkiewicz traces that the executions belong to; with `more_traces`, there were more.
    traces: u64,
    more_traces: bool,
    steps: u64,
    /// For random schedules: of how many executions, how many were the only ones of their traces (Good–Turing).
    #[serde(skip_serializing_if = "Option::is_none")]
    unseen: Option<Unseen>,
    /// What the time did not suffice for.
    #[serde(skip_serializing_if = "String::is_empty")]
    cut_short: String,
    /// Executions in which a block was violated.
    violated: u64,
    bugs: u64,
    complete: bool,
    serial_executions: u64,
    warnings: Vec<String>,
    misuse: Option<String>,
    /// `run` shows every violation; the suite only what is unexpected, which its readers find in the replay files.
    #[serde(skip_serializing_if = "Option::is_none")]
    counterexample: Option<Counterexample>,
}

/// What a check gave, for a document.
pub fn result(checked: &Checked, counterexample: Option<Counterexample>) -> ProgramResult {
    let (program, report) = (checked.program, checked.report());
    let violation = report.and_then(Report::violation);
    let count = |of: fn(&Report) -> u64| report.map_or(0, of);
    ProgramResult {
        name: program.name,
        origin: program.origin,
        expected: program.expected.to_string(),
        grade: report.map_or("none", |report| report.grade.word()),
        finding: violation.map(|violation| violation.finding.to_string()),
        schedule: checked.settings.schedule.to_string(),
        executions_to_violation: violation.map(|violation| violation.execution),
        executions: count(|report| report.coverage.executions),
        traces: count(|report| report.coverage.traces),
        more_traces: report.is_some_and(|report| report.coverage.more_traces),
        steps: count(|report| report.coverage.steps),
        unseen: report.and_then(|report| report.coverage.unseen).map(Unseen::from),
        cut_short: report.map_or_else(String::new, |report| report.coverage.cut_short.to_string()),
        violated: count(|report| report.coverage.violated),
        bugs: count(|report| report.coverage.bugs),
        complete: report.is_some_and(|report| report.coverage.complete),
        serial_executions: count(|report| report.coverage.serial.executions),
        warnings: report.map_or_else(Vec::new, |report| report.warnings.iter().map(ToString::to_string).collect()),
        misuse: checked.outcome.as_ref().err().map(ToString::to_string),
        counterexample,
    }
}

/// What was found out about one program, in full.
pub fn report(checked: &Checked, counterexample: Option<&Counterexample>, style: Style) -> String {
    let name = checked.program.name;
    let mut out = match (&checked.outcome, counterexample) {
        (_, Some(counterexample)) => text::render(counterexample, style) + "\n",
        (Ok(report), None) => {
            let mark = if checked.is_unexpected() { "✗" } else { "✓" };
            text::headline(mark, name, &report.grade.to_string(), style)
        }
        (Err(misuse), None) => text::headline("✗", name, &misuse.to_string(), style),
    };
    if let Some(report) = checked.report() {
        for warning in &report.warnings {
            writeln!(out, "  warning: {warning}").expect("writing to a string");
        }
        writeln!(out, "  {}", report.coverage).expect("writing to a string");
    }
    if checked.is_unexpected() {
        writeln!(out, "  expected: {}", checked.program.expected).expect("writing to a string");
    }
    out
}

/// One line for each program.
pub fn table(checked: &[Checked], style: Style) -> String {
    let mut table = Table::new([
        ("  program", Align::Left),
        ("expected", Align::Left),
        ("found", Align::Left),
        ("executions\nto it", Align::Right),
        ("executions\nwith a violation", Align::Right),
        ("executions", Align::Right),
    ]);
    for checked in checked {
        let mark = if checked.is_unexpected() { "✗" } else { "✓" };
        let violation = checked.report().and_then(Report::violation);
        let number = |number: Option<u64>| number.map_or_else(|| "–".to_owned(), grouped);
        table.row([
            format!("{mark} {}", checked.program.name),
            checked
                .expected()
                .map_or_else(|| format!("at most {}", expected(checked.program)), |_| expected(checked.program)),
            found(checked),
            number(violation.map(|violation| violation.execution)),
            number(checked.report().map(|report| report.coverage.violated)),
            number(checked.report().map(|report| report.coverage.executions)),
        ]);
    }
    output::paint_marks(&table.to_string(), style)
}

/// What a program must give, in the words of a table.
pub fn expected(program: Program) -> String {
    match program.expected {
        Expected::Bug(Bug::Panic(_)) => "bug (panic)".to_owned(),
        Expected::Bug(Bug::Aborted(_)) => "bug (panic that cannot unwind)".to_owned(),
        other => other.to_string(),
    }
}

fn found(checked: &Checked) -> String {
    let Some(report) = checked.report() else {
        return if checked.is_unexplored() { "nothing explored" } else { "error" }.to_owned();
    };
    let kind = report.bug.as_ref().map(|violation| match &violation.finding {
        Finding::Unexplained { .. } => "not serialisable".to_owned(),
        Finding::StepBound => "no end".to_owned(),
        Finding::Failed { .. } => "failed".to_owned(),
        other => other.to_string(),
    });
    kind.map_or_else(|| report.grade.word().to_owned(), |kind| format!("bug ({kind})"))
}

/// How many of what, and which are not as expected.
pub fn summary(checked: &[Checked]) -> String {
    let grades = [Grade::Clean, Grade::Warning, Grade::Error, Grade::Bug];
    let with = |grade: Grade| checked.iter().filter_map(Checked::report).filter(|report| report.grade == grade).count();
    let counts = grades.into_iter().map(|grade| (with(grade), grade.word()));
    let refused = checked.iter().filter(|checked| checked.report().is_none()).count();
    let counts = counts.chain([(refused, "not checked")]).filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts.map(|(count, word)| format!("{count} {word}")).collect();
    let executions: u64 = checked.iter().filter_map(Checked::report).map(|report| report.coverage.executions).sum();
    let (programs, executions) = (plural(checked.len() as u64, "program"), plural(executions, "execution"));
    let unexpected = checked.iter().filter(|checked| checked.is_unexpected()).map(|checked| checked.program.name);
    let unexpected: Vec<&str> = unexpected.collect();
    let end = match &unexpected[..] {
        [] => "nothing unexpected".to_owned(),
        names => format!("{} unexpected: {}", names.len(), names.join(", ")),
    };
    format!("{programs} with blocks: {}; {executions}; {end}\n", counts.join(", "))
}

/// Which parts of the program are blocks.
pub fn blocks(program: Program) -> &'static str {
    match program.own_settings().blocks {
        Blocks::Marked => "marked",
        Blocks::CriticalSections => "critical sections",
    }
}
