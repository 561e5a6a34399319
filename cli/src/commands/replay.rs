//! `interloper replay`.

use std::path::Path;

use interloper_report::explorer::page;
use interloper_report::junit::Outcome;
use interloper_report::replay_file::ReplayFile;
use interloper_report::{Counterexample, text};
use serde_json::json;

use crate::answer::{Answer, JSON_VERSION, json};
use crate::args::{Format, OutputArgs, SearchArgs};
use crate::entries::recorded::{self, Again};
use crate::failure::{Failure, Finding};
use crate::files::{page_can_be_written, write_pages};
use crate::output;
use crate::progress::Progress;
use crate::services::{self, Judged};

/// Runs the recorded execution again and compares the histories.
pub fn replay(path: &Path, search: &SearchArgs, output: &OutputArgs) -> Result<Answer, Failure> {
    search.only("replay", &[])?;
    page_can_be_written(output.html.as_deref())?;
    let name = path.display().to_string();
    let progress = Progress::for_programs("replay");
    let (file, again) = rerun(path, output.format == Format::Html || output.html.is_some())?;
    if let Some(progress) = progress {
        // What the file says is expected.
        if let Some(found) = &again.counterexample {
            progress.found(&name, again.divergence.is_none(), found);
        }
        progress.done(&name);
        progress.finish();
    }
    answer(&name, &file, again, output)
}

/// A replay file, and what its execution shows when it is run again. `explore` asks for all that a page shows.
pub fn rerun(path: &Path, explore: bool) -> Result<(ReplayFile, Again), Failure> {
    let path_text = path.display().to_string();
    let refuse = |reason: String| Failure::Request(format!("cannot replay {path_text}: {reason}"));
    let file = ReplayFile::read(path).map_err(|unusable| refuse(unusable.to_string()))?;
    let again = recorded::again(&file, &path_text, explore).map_err(|failure| match failure {
        Failure::Request(reason) => refuse(reason),
        failure => failure,
    })?;
    Ok((file, again))
}

fn answer(path: &str, file: &ReplayFile, again: Again, output: &OutputArgs) -> Result<Answer, Failure> {
    let command = format!("interloper replay {path}");
    let (divergence, counterexample) = (again.divergence.clone(), again.counterexample.clone());
    let replay = Some(command.clone());
    let counterexample = counterexample.map(|counterexample| Counterexample { replay, ..counterexample });
    let finding = Finding::unexpected_if(divergence.is_some());
    let report =
        || counterexample.as_ref().map_or_else(String::new, |found| text::render(found, text::Style::default()));
    let result = match &divergence {
        None => Outcome::Passed,
        Some(reason) => Outcome::Failed { message: format!("diverged: {reason}"), report: report() },
    };
    let history = format!("history {}", file.history_hash);
    let shown = counterexample.clone();
    let judged = [Judged { suite: "replays", name: path.to_owned(), result, output: history, counterexample: shown }];
    services::annotate(&judged);
    let page = again.page(command);
    if let Some(target) = &output.html {
        write_pages(page.as_slice(), target, "the violation no longer occurs")?;
    }
    let text = match (output.format, counterexample) {
        (Format::Html, _) => match page {
            Some(exploration) => page::render(&exploration),
            None => {
                let reason = "the violation no longer occurs, so there is no page to show";
                return Err(Failure::Request(format!("cannot replay {path}: {reason}")));
            }
        },
        (Format::Json, counterexample) => json(&json!({
            "version": JSON_VERSION,
            file.about.kind(): file.about.name(),
            "seed": file.seed,
            "same": divergence.is_none(),
            "divergence": divergence,
            "counterexample": counterexample,
        })),
        (Format::Junit | Format::Sarif, _) => services::document(output.format, judged.into()),
        (Format::Text, counterexample) => {
            let report = counterexample.map_or_else(String::new, |counterexample| {
                text::render(&counterexample, output::style(output.color)) + "\n"
            });
            let conclusion = match divergence {
                None => format!("the same history as recorded ({})\n", file.history_hash),
                Some(reason) => format!("diverged from the recorded history: {reason}\n"),
            };
            report + &conclusion
        }
    };
    Ok(Answer::new(text, finding))
}
