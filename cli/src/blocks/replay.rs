//! Makes the execution of a program's replay file again.

use std::path::Path;

use interloper::Decisions;
use interloper::blocks::{Misuse, Settings};
use interloper_report::{Counterexample, html, text};
use serde::Serialize;

use super::files::ProgramFile;
use crate::args::{Format, OutputArgs};
use crate::catalogue::{self, Entry};
use crate::commands::{Answer, JSON_VERSION, difference, json};
use crate::failure::{Failure, Finding};
use crate::failures::history;
use crate::output;
use crate::replay_file::refuse;

#[derive(Serialize)]
struct Document {
    version: u32,
    program: String,
    seed: u64,
    /// Whether it shows the same, by the same steps.
    same: bool,
    /// Where it goes another way, or what it shows instead.
    divergence: Option<String>,
    counterexample: Option<Counterexample>,
}

/// Makes the recorded execution again and compares.
pub fn replay(path: &Path, file: ProgramFile, output: &OutputArgs) -> Result<Answer, Failure> {
    let refuse = |reason: &str| refuse(path, reason);
    let program = match catalogue::find(&file.program) {
        Ok(Entry::Program(program)) => program,
        Ok(Entry::Case(_)) => return Err(refuse(&format!("'{}' is no program with blocks", file.program))),
        Err(Failure::Request(reason)) => return Err(refuse(&reason)),
        Err(other) => return Err(other),
    };
    let decisions: Decisions =
        file.decisions.parse().map_err(|error| refuse(&format!("damaged: its decisions: {error}")))?;
    let settings = Settings { seed: file.seed, ..program.own_settings() };
    let (divergence, found) = match program.replay_with(&settings, &decisions) {
        Ok(report) => {
            let found = report.bug.or(report.error);
            let shows = found.as_ref().map_or("nothing".to_owned(), |found| found.finding.to_string());
            let moments = found.as_ref().map(|found| history(&found.counterexample)).unwrap_or_default();
            let divergence = match shows == file.finding {
                true => difference(&file.history, &moments),
                false => Some(format!("recorded was {}, and now it shows {shows}", file.finding)),
            };
            (divergence, found.map(|found| found.counterexample))
        }
        Err(Misuse::Diverged { difference }) => (Some(difference), None),
        Err(misuse) => return Err(refuse(&misuse.to_string())),
    };
    let replay = Some(format!("interloper replay {}", path.display()));
    let counterexample = found.map(|found| Counterexample { replay, ..found });
    let finding = Finding::unexpected_if(divergence.is_some());
    let text = match (output.format, counterexample) {
        (Format::Html, Some(counterexample)) => html::render(&counterexample),
        (Format::Html, None) => {
            return Err(refuse("there is no violation any more, so there is no page to show"));
        }
        (Format::Json, counterexample) => json(&Document {
            version: JSON_VERSION,
            program: file.program,
            seed: file.seed,
            same: divergence.is_none(),
            divergence,
            counterexample,
        }),
        (Format::Text, counterexample) => {
            let report = counterexample.map_or_else(String::new, |counterexample| {
                text::render(&counterexample, output::style(output.color)) + "\n"
            });
            let conclusion = match divergence {
                None => format!("the same {} steps as recorded\n", file.history.len()),
                Some(reason) => format!("diverged from the recorded execution: {reason}\n"),
            };
            report + &conclusion
        }
    };
    Ok(Answer::new(text, finding))
}
