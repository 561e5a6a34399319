//! The replay files of findings.

use std::path::Path;

use interloper::objects::history;
use interloper::objects::hunt::{Found, Runs};
use interloper::objects::systematic::Unlock;
use interloper_report::replay_file::{About, FOLDER, ReplayFile};

use crate::failure::Failure;
use crate::files::cannot_write;
use crate::subject::Subject;

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
pub fn written(file: &ReplayFile) -> Result<String, Failure> {
    let path = file.path(Path::new(FOLDER));
    file.write(&path).map_err(|error| cannot_write(&path, &error))?;
    Ok(command(&path))
}

/// The command that replays a file.
pub fn command(path: &Path) -> String {
    format!("interloper replay {}", path.display())
}
