//! `interloper show`.

use std::fmt::Write;

use interloper_report::Counterexample;
use interloper_report::explorer::{Exploration, page};
use interloper_report::text::Style;

use super::suite::{CASES, PROGRAMS, refuse_unused};
use crate::answer::Answer;
use crate::args::{Format, OutputArgs, SearchArgs};
use crate::catalogue::{self, Entry};
use crate::entries::told::{Kept, Told};
use crate::entries::{Checked, Description, Item};
use crate::failure::{Failure, Finding};
use crate::files::{page_can_be_written, write_pages};
use crate::output;
use crate::services;

/// Everything about one case or program: its source, and the smallest interleaving that proves it wrong.
pub fn show(name: &str, search: &SearchArgs, output: &OutputArgs) -> Result<Answer, Failure> {
    if search.shard.is_some() {
        return Err(Failure::Request("'show' does not use --shard".to_owned()));
    }
    let entry = catalogue::find(name)?;
    refuse_unused("show", &[entry], search)?;
    page_can_be_written(output.html.as_deref())?;
    match entry {
        Entry::Case(case) => shown(case, CASES, search, output),
        Entry::Program(program) => shown(program, PROGRAMS, search, output),
    }
}

/// The command that finds what is shown again.
fn replay(name: &str, search: &SearchArgs) -> String {
    format!("interloper run {name} {}", search.typed())
}

/// What the page shows, with that command.
fn page(kept: Kept, replay: &str) -> Result<Exploration, Failure> {
    Ok(Exploration { replay: Some(replay.to_owned()), ..kept.page()? })
}

fn shown<I: Item>(item: I, suite: &'static str, search: &SearchArgs, output: &OutputArgs) -> Result<Answer, Failure> {
    let checked = &I::check_all(&[item], search)?[0];
    let name = checked.name();
    let page = match output.format == Format::Html || output.html.is_some() {
        true => checked.kept(search).map(|kept| page(kept, &replay(name, search))).transpose()?,
        false => None,
    };
    let counterexample = checked.counterexample().map(|counterexample| {
        // Showing writes no file: the command that finds the interleaving again stands in for a replay.
        Counterexample { replay: Some(replay(name, search)), ..counterexample }
    });
    let finding =
        if checked.is_unexplored() { Finding::Unexplored } else { Finding::unexpected_if(checked.is_unexpected()) };
    let kept = counterexample.clone().map(|counterexample| Kept { counterexample, file: None });
    let told = Told::new(checked, kept);
    let judged = [told.judged(suite)];
    services::annotate(&judged);
    if let Some(path) = &output.html {
        write_pages(page.as_slice(), path, &format!("{name} has no violation"))?;
    }
    let text = match (output.format, counterexample) {
        (Format::Html, _) => match page {
            Some(page) => page::render(&page),
            None => {
                let reason = format!("{name} has no violation, so there is no page to show");
                return Err(Failure::Request(reason));
            }
        },
        (Format::Json, counterexample) => checked.document(counterexample, search.seed()),
        (Format::Junit | Format::Sarif, _) => services::document(output.format, judged.into()),
        (Format::Text, _) => {
            let style = output::style(output.color);
            heading(name, &checked.about(), style) + &told.report(style)
        }
    };
    Ok(Answer::new(text, finding))
}

/// How wide sentences are without a terminal.
const WIDTH: usize = 100;

/// The text before the report: the name, the facts, and the source.
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
