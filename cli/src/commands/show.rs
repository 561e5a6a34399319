//! `interloper show`.

use std::fmt::Write;

use interloper_report::text::Style;
use interloper_report::{Counterexample, html};
use interloper_suite::Case;
use serde::Serialize;

use super::suite::{report, words};
use super::{Answer, JSON_VERSION, json};
use crate::args::{Format, OutputArgs, SearchArgs};
use crate::checking::{Checked, check_all};
use crate::failure::{Failure, Finding};
use crate::{catalogue, output};

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

/// Everything about one case: its source, and the smallest interleaving that proves it wrong.
pub fn show(name: &str, search: &SearchArgs, output: &OutputArgs) -> Result<Answer, Failure> {
    let case = catalogue::find(name)?;
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
    Ok(Answer { text, finding })
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
    let mut text = format!("{}\n", case.name);
    for line in textwrap::wrap(case.about, style.width.unwrap_or(WIDTH).saturating_sub(2)) {
        writeln!(text, "  {line}").expect("writing to a string");
    }
    let mut facts = vec![("origin", case.origin.to_owned()), ("expected", words(case.expected))];
    facts.extend(case.twin.map(|twin| ("atomic twin", twin.to_owned())));
    facts.extend(points(&case).into_iter().map(|point| ("linearization point", point)));
    for (fact, value) in facts {
        writeln!(text, "  {fact}: {value}").expect("writing to a string");
    }
    text.push('\n');
    for line in case.source.trim_end().lines() {
        writeln!(text, "{}", format!("    {line}").trim_end()).expect("writing to a string");
    }
    text + "\n" + &report(checked, counterexample, style)
}
