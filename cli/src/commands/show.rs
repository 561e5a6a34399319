//! `interloper show`.

use std::fmt::Write;

use interloper_report::text::Style;
use interloper_report::{Counterexample, html};

use super::suite::{no_page, refuse_unused};
use crate::answer::Answer;
use crate::args::{Format, OutputArgs, SearchArgs};
use crate::catalogue::{self, Entry};
use crate::entries::{Checked, Description, cases, programs};
use crate::failure::{Failure, Finding};
use crate::output;

/// Everything about one case or program: its source, and the smallest interleaving that proves it wrong.
pub fn show(name: &str, search: &SearchArgs, output: &OutputArgs) -> Result<Answer, Failure> {
    match catalogue::find(name)? {
        Entry::Case(case) => {
            refuse_unused("show", &[case], &[], search)?;
            shown(&only(cases::check_all(&[case], search)?), search, output)
        }
        Entry::Program(program) => {
            refuse_unused("show", &[], &[program], search)?;
            shown(&only(programs::check_all(&[program], search)?), search, output)
        }
    }
}

fn only<C>(checked: Vec<C>) -> C {
    checked.into_iter().next().expect("one result for one entry")
}

fn shown(checked: &impl Checked, search: &SearchArgs, output: &OutputArgs) -> Result<Answer, Failure> {
    let name = checked.name();
    let counterexample = checked.counterexample().map(|counterexample| {
        // Showing writes no file: the command that finds the interleaving again stands in for a replay.
        let replay = Some(format!("interloper run {name} {}", search.typed()));
        Counterexample { replay, ..counterexample }
    });
    let finding =
        if checked.is_unexplored() { Finding::Unexplored } else { Finding::unexpected_if(checked.is_unexpected()) };
    let text = match (output.format, counterexample) {
        (Format::Html, Some(counterexample)) => html::render(&counterexample),
        (Format::Html, None) => return Err(no_page(name, "show")),
        (Format::Json, counterexample) => checked.document(counterexample, search.seed()),
        (Format::Text, counterexample) => {
            let style = output::style(output.color);
            heading(name, &checked.about(), style) + &checked.report(counterexample.as_ref(), style)
        }
    };
    Ok(Answer::new(text, finding))
}

/// How wide sentences are where there is no terminal.
const WIDTH: usize = 100;

/// What is said before the report: the name, the facts, and the source.
fn heading(name: &str, Description { about, facts, source }: &Description, style: Style) -> String {
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
