//! The replay files of what was found.

use std::path::Path;

use interloper::blocks;
use interloper::objects::history;
use interloper::objects::hunt::{Found, Runs};
use interloper::objects::systematic::Unlock;
use interloper::{Adversary, Environment, Violation};
use interloper_report::Counterexample;
use interloper_report::replay_file::{About, FOLDER, ReplayFile};

use crate::args::SearchArgs;
use crate::blocks::checking::Checked as CheckedProgram;
use crate::checking::Checked;
use crate::failure::Failure;
use crate::files::cannot_write;
use crate::subject::Subject;

/// Writes the replay file of a case's violation, and gives the counterexample with the command that replays it.
///
/// Runs of the naive adversary are reproduced by their seed: their counterexample names that command instead.
pub fn of_case(checked: &Checked, violation: &Violation, search: &SearchArgs) -> Result<Counterexample, Failure> {
    let settings = &checked.settings;
    let name = checked.case.name;
    let counterexample = Counterexample { name: name.to_owned(), ..violation.counterexample.clone() };
    if settings.adversary == Adversary::Naive {
        let replay = Some(format!("interloper run {name} {}", search.typed()));
        return Ok(Counterexample { replay, ..counterexample });
    }
    let about = About::Case {
        name: name.to_owned(),
        adversary: word(&ADVERSARIES, settings.adversary).to_owned(),
        environment: word(&ENVIRONMENTS, settings.environment).to_owned(),
        bound: settings.bound,
    };
    let (finding, decisions) = ("not-linearizable", format!("{:#}", violation.decisions));
    let history = violation.history.clone();
    let file = ReplayFile::new(about, settings.seed, violation.execution, finding, decisions, history);
    Ok(Counterexample { replay: Some(written(&file)?), ..counterexample })
}

/// Writes the replay file of a program's violation, and gives the counterexample with the command that replays it.
pub fn of_program(checked: &CheckedProgram, violation: &blocks::Violation) -> Result<Counterexample, Failure> {
    let (name, settings) = (checked.program.name, &checked.settings);
    let about = About::Program { name: name.to_owned(), strategy: settings.schedule.to_string() };
    let (finding, decisions) = (violation.finding.word(), format!("{:#}", violation.smallest));
    let history = violation.history.clone();
    let file = ReplayFile::new(about, settings.seed, violation.execution, finding, decisions, history);
    Ok(Counterexample { replay: Some(written(&file)?), ..violation.counterexample.clone() })
}

/// Writes the replay file of a finding of a hunt, and gives the command that replays it. Real threads leave no decisions:
/// what only they have shown has no file.
pub fn of_schema(subject: &Subject, method: &str, seed: u64, found: &Found) -> Result<Option<String>, Failure> {
    let Runs::Systematic(explored) = &found.runs else { return Ok(None) };
    let Some(trace) = &explored.stopped else { return Ok(None) };
    let about = About::Schema {
        object: subject.studied.name.to_owned(),
        method: method.to_owned(),
        schema: found.schema.to_string(),
        unlock_is_a_step: trace.limits.unlock == Unlock::Step,
    };
    let (finding, decisions) = (found.what.kind().replace(' ', "-"), format!("{:#}", trace.decisions()));
    let file = ReplayFile::new(about, seed, explored.executions, &finding, decisions, history(trace));
    written(&file).map(Some)
}

/// Writes a file into the folder of the working directory, and gives the command that replays it.
fn written(file: &ReplayFile) -> Result<String, Failure> {
    let path = file.path(Path::new(FOLDER));
    file.write(&path).map_err(|error| cannot_write(&path, &error))?;
    Ok(format!("interloper replay {}", path.display()))
}

const ADVERSARIES: [(Adversary, &str); 4] = [
    (Adversary::Nearest, "nearest"),
    (Adversary::Preceding, "preceding"),
    (Adversary::Naive, "naive"),
    (Adversary::Unfiltered, "unfiltered"),
];

const ENVIRONMENTS: [(Environment, &str); 3] =
    [(Environment::Open, "open"), (Environment::Restricted, "restricted"), (Environment::Closed, "closed")];

fn word<T: Copy + PartialEq>(words: &[(T, &'static str)], wanted: T) -> &'static str {
    words.iter().find(|(value, _)| *value == wanted).expect("every variant has a word").1
}

/// The adversary with this name.
pub fn adversary(word: &str) -> Option<Adversary> {
    ADVERSARIES.iter().find(|(_, known)| *known == word).map(|(value, _)| *value)
}

/// The environment with this name.
pub fn environment(word: &str) -> Option<Environment> {
    ENVIRONMENTS.iter().find(|(_, known)| *known == word).map(|(value, _)| *value)
}
