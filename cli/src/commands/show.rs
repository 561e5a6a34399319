//! `interloper show`.

use std::fmt::Write;

use interloper::blocks::Program;
use interloper_report::text::Style;
use interloper_report::{Counterexample, html};
use interloper_suite::Case;
use serde::Serialize;

use super::suite::{refuse_unused, report, words};
use crate::answer::{Answer, JSON_VERSION, json};
use crate::args::{Format, OutputArgs, SearchArgs};
use crate::blocks::printing::{self, ProgramResult};
use crate::catalogue::{self, Entry};
use crate::checking::{Checked, check_all};
use crate::failure::{Failure, Finding};
use crate::{blocks, output};

#[derive(Serialize)]
struct Document {
    version: u32,
    seed: u64,
    name: &'static str,
    origin: &'static str,
    about: &'static str,
    expected: &'static str,
    twin: Option<&'static str>,
    source: &'static str,
    verdict: Option<&'static str>,
    counterexample: Option<Counterexample>,
    coverage: Vec<String>,
    linearization_points: Vec<String>,
}

/// A program with blocks.
#[derive(Serialize)]
struct ProgramDocument {
    version: u32,
    seed: u64,
    about: &'static str,
    blocks: &'static str,
    twin: Option<&'static str>,
    source: &'static str,
    #[serde(flatten)]
    result: ProgramResult,
}

/// Everything about one case: its source, and the smallest interleaving that proves it wrong.
pub fn show(name: &str, search: &SearchArgs, output: &OutputArgs) -> Result<Answer, Failure> {
    let case = match catalogue::find(name)? {
        Entry::Case(case) => case,
        Entry::Program(program) => return show_program(program, search, output),
    };
    refuse_unused("show", &[case], &[], search)?;
    let checked = check_all(&[case], search)?.pop().expect("one result for one case");
    let found = checked.report();
    let counterexample = found.and_then(|report| report.violation.as_ref()).map(|violation| {
        // Showing writes no file: the command that finds the interleaving again stands in for a replay.
        let replay = Some(format!("interloper run {name} {}", search.typed()));
        Counterexample { name: name.to_owned(), replay, ..violation.counterexample.clone() }
    });
    let finding = Finding::unexpected_if(checked.is_unexpected());
    let text = match (output.format, counterexample) {
        (Format::Html, Some(counterexample)) => html::render(&counterexample),
        (Format::Html, None) => {
            return Err(Failure::Request(format!("{name} has no violation, so there is no page to show")));
        }
        (Format::Json, counterexample) => json(&document(&checked, counterexample, search.seed())),
        (Format::Text, counterexample) => plain(&checked, counterexample.as_ref(), output::style(output.color)),
    };
    Ok(Answer::new(text, finding))
}

/// Everything about one program.
fn show_program(program: Program, search: &SearchArgs, output: &OutputArgs) -> Result<Answer, Failure> {
    refuse_unused("show", &[], &[program], search)?;
    let checked = blocks::checking::check_all(&[program], search)?.pop().expect("one result for one program");
    let violation = checked.report().and_then(|report| report.violation());
    let counterexample = violation.map(|violation| {
        let replay = Some(format!("interloper run {} {}", program.name, search.typed()));
        Counterexample { replay, ..violation.counterexample.clone() }
    });
    let finding =
        if checked.is_unexplored() { Finding::Unexplored } else { Finding::unexpected_if(checked.is_unexpected()) };
    let text = match (output.format, counterexample) {
        (Format::Html, Some(counterexample)) => html::render(&counterexample),
        (Format::Html, None) => {
            return Err(Failure::Request(format!("{} has no violation, so there is no page to show", program.name)));
        }
        (Format::Json, counterexample) => json(&ProgramDocument {
            version: JSON_VERSION,
            seed: search.seed(),
            about: program.about,
            blocks: printing::blocks(program),
            twin: program.twin,
            source: program.source,
            result: printing::result(&checked, counterexample),
        }),
        (Format::Text, counterexample) => {
            let style = output::style(output.color);
            let mut facts = vec![("origin", program.origin.to_owned()), ("expected", program.expected.to_string())];
            facts.push(("blocks", printing::blocks(program).to_owned()));
            facts.extend(program.twin.map(|twin| ("twin without a bug", twin.to_owned())));
            heading(program.name, program.about, &facts, program.source, style)
                + &printing::report(&checked, counterexample.as_ref(), style)
        }
    };
    Ok(Answer::new(text, finding))
}

fn document(checked: &Checked, counterexample: Option<Counterexample>, seed: u64) -> Document {
    let (case, found) = (checked.case, checked.report());
    Document {
        version: JSON_VERSION,
        seed,
        name: case.name,
        origin: case.origin,
        about: case.about,
        expected: case.expected.word(),
        twin: case.twin,
        source: case.source,
        verdict: found.map(|report| report.verdict.word()),
        coverage: found.map_or_else(Vec::new, |report| report.coverage.iter().map(ToString::to_string).collect()),
        counterexample,
        linearization_points: points(&case),
    }
}

/// The steps that the case marks as its linearization points, if it does.
fn points(case: &Case) -> Vec<String> {
    // What is wrong with the case, if anything is, the check has said.
    (case.build)().linearization_points().unwrap_or_default()
}

/// How wide sentences are where there is no terminal.
const WIDTH: usize = 100;

fn plain(checked: &Checked, counterexample: Option<&Counterexample>, style: Style) -> String {
    let case = checked.case;
    let mut facts = vec![("origin", case.origin.to_owned()), ("expected", words(case.expected))];
    facts.extend(case.twin.map(|twin| ("atomic twin", twin.to_owned())));
    facts.extend(points(&case).into_iter().map(|point| ("linearization point", point)));
    heading(case.name, case.about, &facts, case.source, style) + &report(checked, counterexample, style)
}

/// What is said before the report: the name, the facts, and the source.
fn heading(name: &str, about: &str, facts: &[(&str, String)], source: &str, style: Style) -> String {
    let mut text = format!("{name}\n");
    for line in textwrap::wrap(about, style.width.unwrap_or(WIDTH).saturating_sub(2)) {
        writeln!(text, "  {line}").expect("writing to a string");
    }
    for (fact, value) in facts {
        writeln!(text, "  {fact}: {value}").expect("writing to a string");
    }
    text.push('\n');
    for line in source.trim_end().lines() {
        writeln!(text, "{}", format!("    {line}").trim_end()).expect("writing to a string");
    }
    text + "\n"
}
