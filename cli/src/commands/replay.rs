//! `interloper replay`.

use std::path::Path;

use interloper::blocks::{self, Settings as BlockSettings};
use interloper::objects::hunt::{self, Runs};
use interloper::objects::systematic::{Limits, Unlock};
use interloper::objects::{Schema, explain, history};
use interloper::{Decisions, Misuse, Settings};
use interloper_report::replay_file::{About, Moment, ReplayFile, Unusable, difference};
use interloper_report::{Counterexample, html, text};
use interloper_suite::objects;
use serde_json::json;

use crate::answer::{Answer, JSON_VERSION, json};
use crate::args::{Format, OutputArgs, SearchArgs};
use crate::catalogue::{self, Entry};
use crate::counts::plural;
use crate::failure::{Failure, Finding};
use crate::failures::{adversary, environment};
use crate::output;

/// What a recorded execution showed when it was run again.
struct Again {
    /// Where it goes another way, or what it shows instead.
    divergence: Option<String>,
    counterexample: Option<Counterexample>,
}

/// Runs the recorded execution again and compares the histories.
pub fn replay(path: &Path, search: &SearchArgs, output: &OutputArgs) -> Result<Answer, Failure> {
    search.only("replay", &[])?;
    let refuse = |reason: String| Failure::Request(format!("cannot replay {}: {reason}", path.display()));
    let file = ReplayFile::read(path).map_err(|unusable: Unusable| refuse(unusable.to_string()))?;
    let decisions: Decisions =
        file.decisions.parse().map_err(|error| refuse(format!("damaged: its decisions: {error}")))?;
    let again = match &file.about {
        About::Case { name, .. } => of_case(name, &file, &decisions),
        About::Program { name, .. } => of_program(name, &file, &decisions),
        About::Schema { .. } => of_schema(&file, &decisions),
        About::Test { name, .. } => {
            let test = name.split_once("::").map_or(name.as_str(), |(_, test)| test);
            let command = format!("INTERLOPER_REPLAY={} cargo test {test}", path.display());
            Err(Refused::Because(format!("it belongs to the test '{name}'; replay it with {command}")))
        }
    };
    let again = again.map_err(|refused| match refused {
        Refused::Because(reason) => refuse(reason),
        Refused::Internal(message) => Failure::Internal(message),
    })?;
    answer(path, &file, again, output)
}

/// Why an execution cannot be run again.
enum Refused {
    Because(String),
    Internal(String),
}

impl From<String> for Refused {
    fn from(reason: String) -> Refused {
        Refused::Because(reason)
    }
}

impl From<Failure> for Refused {
    fn from(failure: Failure) -> Refused {
        match failure {
            Failure::Internal(message) => Refused::Internal(message),
            Failure::Request(reason) => Refused::Because(reason),
            other => Refused::Because(other.to_string()),
        }
    }
}

fn of_case(name: &str, file: &ReplayFile, decisions: &Decisions) -> Result<Again, Refused> {
    let Entry::Case(case) = catalogue::find(name)? else {
        return Err(Refused::Because(format!("'{name}' is a program with blocks, not a composed operation")));
    };
    let method = (case.build)();
    let settings = case_settings(&file.about, file.seed, method.settings())?;
    let report = match method.replay_with(&settings, decisions) {
        Ok(report) => report,
        Err(Misuse::Diverged { reason }) => return Ok(Again { divergence: Some(reason), counterexample: None }),
        Err(Misuse::Contradiction(message)) => return Err(Refused::Internal(message)),
        Err(misuse) => return Err(Refused::Because(misuse.to_string())),
    };
    let Some(violation) = report.violation else {
        let divergence = format!("a sequential order now explains the execution: {name} is {}", report.verdict);
        return Ok(Again { divergence: Some(divergence), counterexample: None });
    };
    let operations = plural(u64::from(violation.environment_operations), "environment operation");
    let detail = format!("{operations}, replayed");
    let counterexample = Counterexample { name: name.to_owned(), detail, ..violation.counterexample };
    Ok(Again { divergence: difference(&file.history, &violation.history), counterexample: Some(counterexample) })
}

/// The settings of the case with the recorded options.
fn case_settings(about: &About, seed: u64, own: &Settings) -> Result<Settings, String> {
    let About::Case { adversary: chosen, environment: open, bound, .. } = about else { return Ok(own.clone()) };
    let unknown = |what: &str, word: &str| format!("damaged: '{word}' is not a valid {what}");
    if *bound == 0 {
        return Err(unknown("bound", "0"));
    }
    Ok(Settings {
        seed,
        adversary: adversary(chosen).ok_or_else(|| unknown("adversary", chosen))?,
        environment: environment(open).ok_or_else(|| unknown("environment", open))?,
        bound: *bound,
        ..own.clone()
    })
}

fn of_program(name: &str, file: &ReplayFile, decisions: &Decisions) -> Result<Again, Refused> {
    let Entry::Program(program) = catalogue::find(name)? else {
        return Err(Refused::Because(format!("'{name}' is a composed operation, not a program with blocks")));
    };
    let settings = BlockSettings { seed: file.seed, ..program.own_settings() };
    let report = match program.replay_with(&settings, decisions) {
        Ok(report) => report,
        Err(blocks::Misuse::Diverged { difference }) => {
            return Ok(Again { divergence: Some(difference), counterexample: None });
        }
        Err(misuse) => return Err(Refused::Because(misuse.to_string())),
    };
    let found = report.bug.or(report.error);
    let shows = found.as_ref().map_or("nothing", |found| found.finding.word());
    let history = found.as_ref().map_or(&[][..], |found| &found.history);
    let divergence = compare(file, shows, history);
    Ok(Again { divergence, counterexample: found.map(|found| found.counterexample) })
}

fn of_schema(file: &ReplayFile, decisions: &Decisions) -> Result<Again, Refused> {
    let About::Schema { object: name, method, schema, unlock_is_a_step } = &file.about else {
        return Err(Refused::Internal("a file about a schema was expected".to_owned()));
    };
    let studied = objects::all().into_iter().find(|studied| studied.name == name);
    let studied = studied.ok_or_else(|| format!("no object '{name}'; 'interloper objects' lists them"))?;
    let object = studied.object();
    let parsed = Schema::parse(schema).map_err(|error| format!("damaged: its schema: {error}"))?;
    let unlock = if *unlock_is_a_step { Unlock::Step } else { Unlock::Part };
    let limits = Limits { unlock, ..Limits::default() };
    let replayed = hunt::replay(&object, &parsed, limits, decisions);
    let replayed = replayed.map_err(|refusal| format!("its schema: {}", refusal.text(&parsed)))?;
    let Some((found, right)) = replayed else {
        let divergence = "the recorded decisions no longer fit the object".to_owned();
        return Ok(Again { divergence: Some(divergence), counterexample: None });
    };
    let Runs::Systematic(explored) = &found.runs else { return Err(Refused::Internal("no trace".to_owned())) };
    let again = explored.stopped.as_ref().map(history).unwrap_or_default();
    let divergence = match right {
        true => Some("a sequential order now gives the outcome".to_owned()),
        false => compare(file, &found.what.kind().replace(' ', "-"), &again),
    };
    let counterexample = explain(&object, method, object.visibility(), &found);
    let counterexample = Counterexample { detail: format!("{parsed}, replayed"), ..counterexample };
    Ok(Again { divergence, counterexample: Some(counterexample) })
}

/// How an execution differs from the recorded one, if it does.
fn compare(file: &ReplayFile, shows: &str, history: &[Moment]) -> Option<String> {
    match shows == file.finding {
        true => difference(&file.history, history),
        false => Some(format!("the recording shows {}, and the replay shows {shows}", file.finding)),
    }
}

fn answer(path: &Path, file: &ReplayFile, again: Again, output: &OutputArgs) -> Result<Answer, Failure> {
    let Again { divergence, counterexample } = again;
    let replay = Some(format!("interloper replay {}", path.display()));
    let counterexample = counterexample.map(|counterexample| Counterexample { replay, ..counterexample });
    let finding = Finding::unexpected_if(divergence.is_some());
    let text = match (output.format, counterexample) {
        (Format::Html, Some(counterexample)) => html::render(&counterexample),
        (Format::Html, None) => {
            let reason = "the violation no longer occurs, so there is no page to show";
            return Err(Failure::Request(format!("cannot replay {}: {reason}", path.display())));
        }
        (Format::Json, counterexample) => {
            let kind = match &file.about {
                About::Case { .. } => "case",
                About::Program { .. } => "program",
                About::Test { .. } => "test",
                About::Schema { .. } => "object",
            };
            json(&json!({
                "version": JSON_VERSION,
                kind: file.about.name(),
                "seed": file.seed,
                "same": divergence.is_none(),
                "divergence": divergence,
                "counterexample": counterexample,
            }))
        }
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
