//! `interloper replay`.

use std::path::Path;

use interloper::{Decisions, Misuse, Report, Settings};
use interloper_report::shorten::{LONGEST_TEXT, middle};
use interloper_report::{Counterexample, html, text};
use serde::Serialize;

use super::{Answer, JSON_VERSION, json};
use crate::args::{Format, OutputArgs, SearchArgs};
use crate::blocks::files::{About, read};
use crate::catalogue::{self, Entry};
use crate::checking::plural;
use crate::failure::{Failure, Finding};
use crate::failures::{adversary, environment, history};
use crate::replay_file::{Moment, ReplayFile, bytes, refuse};
use crate::{blocks, output};

#[derive(Serialize)]
struct Document {
    version: u32,
    case: String,
    seed: u64,
    /// Whether the history is the recorded one.
    same: bool,
    /// Where it goes another way, and why.
    divergence: Option<String>,
    counterexample: Option<Counterexample>,
}

/// Makes the recorded run again and compares the histories.
pub fn replay(path: &Path, search: &SearchArgs, output: &OutputArgs) -> Result<Answer, Failure> {
    search.only("replay", &[])?;
    let refuse = |reason: String| refuse(path, &reason);
    match read(&bytes(path)?).map_err(refuse)? {
        About::Program(file) => return blocks::replay::replay(path, *file, output),
        About::Test(test) => {
            let name = test.split_once("::").map_or(test.as_str(), |(_, name)| name);
            return Err(refuse(format!(
                "it is of the test '{test}', which replays it: INTERLOPER_REPLAY={} cargo test {name}",
                path.display()
            )));
        }
        About::Other => {}
    }
    let file = ReplayFile::read(path)?;
    let case = match catalogue::find(&file.case) {
        Ok(Entry::Case(case)) => case,
        Ok(Entry::Program(_)) => return Err(refuse(format!("'{}' is a program with blocks", file.case))),
        Err(Failure::Request(reason)) => return Err(refuse(reason)),
        Err(other) => return Err(other),
    };
    let decisions: Decisions =
        file.decisions.parse().map_err(|error| refuse(format!("damaged: its decisions: {error}")))?;
    let method = (case.build)();
    let settings = settings(&file, method.settings()).map_err(refuse)?;
    let (divergence, counterexample) = match method.replay_with(&settings, &decisions) {
        Ok(report) => compare(&file, report),
        Err(Misuse::Diverged { reason }) => (Some(reason), None),
        Err(Misuse::Contradiction(message)) => return Err(Failure::Internal(message)),
        Err(misuse) => return Err(refuse(misuse.to_string())),
    };
    let counterexample = counterexample.map(|counterexample| Counterexample {
        name: file.case.clone(),
        replay: Some(format!("interloper replay {}", path.display())),
        ..counterexample
    });
    let finding = Finding::unexpected_if(divergence.is_some());
    let text = match output.format {
        Format::Html => match counterexample {
            Some(counterexample) => html::render(&counterexample),
            None => return Err(refuse("there is no violation any more, so there is no page to show".to_owned())),
        },
        Format::Json => json(&Document {
            version: JSON_VERSION,
            case: file.case,
            seed: file.seed,
            same: divergence.is_none(),
            divergence,
            counterexample,
        }),
        Format::Text => {
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

/// The settings of the case with the recorded options.
fn settings(file: &ReplayFile, own: &Settings) -> Result<Settings, String> {
    let unknown = |what: &str, word: &str| format!("damaged: '{word}' is no {what}");
    let options = &file.options;
    if options.bound == 0 {
        return Err(unknown("bound", "0"));
    }
    Ok(Settings {
        seed: file.seed,
        adversary: adversary(&options.adversary).ok_or_else(|| unknown("adversary", &options.adversary))?,
        environment: environment(&options.environment).ok_or_else(|| unknown("environment", &options.environment))?,
        bound: options.bound,
        ..own.clone()
    })
}

/// Why the run is not the recorded one, if it is not; and what it shows.
fn compare(file: &ReplayFile, report: Report) -> (Option<String>, Option<Counterexample>) {
    let Some(violation) = report.violation else {
        return (
            Some(format!("the run is now explained by a sequential order, {} is {}", file.case, report.verdict)),
            None,
        );
    };
    let divergence = difference(&file.history, &history(&violation.counterexample));
    let operations = plural(u64::from(violation.environment_operations), "environment operation");
    (divergence, Some(Counterexample { detail: format!("{operations}, replayed"), ..violation.counterexample }))
}

/// The first moment in which two histories differ, if there is one.
pub fn difference(recorded: &[Moment], now: &[Moment]) -> Option<String> {
    let longer = recorded.len().max(now.len());
    let at = (0..longer).find(|&at| recorded.get(at) != now.get(at))?;
    let step = recorded.get(at).or(now.get(at)).map_or(0, |moment| moment.step);
    fn short(text: &str) -> std::borrow::Cow<'_, str> {
        middle(text, LONGEST_TEXT)
    }
    let describe = |moment: Option<&Moment>| match moment {
        Some(Moment { event, state: Some(state), .. }) => format!("'{}' giving {}", short(event), short(state)),
        Some(Moment { event, state: None, .. }) => format!("'{}'", short(event)),
        None => "the end".to_owned(),
    };
    let (recorded, now) = (describe(recorded.get(at)), describe(now.get(at)));
    Some(format!("at step {step}, recorded was {recorded}, and now it is {now}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(step: usize, event: &str, state: Option<&str>) -> Moment {
        Moment { step, event: event.into(), state: state.map(Into::into) }
    }

    #[test]
    fn the_first_difference_is_named() {
        let recorded = [moment(1, "a: get(1) → none", Some("{}")), moment(1, "a: returned none", None)];
        let other = [moment(1, "a: get(1) → 2", Some("{1: 2}")), moment(1, "a: returned none", None)];
        assert_eq!(
            difference(&recorded, &other).as_deref(),
            Some("at step 1, recorded was 'a: get(1) → none' giving {}, and now it is 'a: get(1) → 2' giving {1: 2}")
        );
        assert_eq!(
            difference(&recorded, &recorded[..1]).as_deref(),
            Some("at step 1, recorded was 'a: returned none', and now it is the end")
        );
        assert_eq!(difference(&recorded, &recorded), None);
    }
}
