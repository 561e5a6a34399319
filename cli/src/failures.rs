//! The replay files of findings.

use std::path::Path;

use interloper::objects;
use interloper::objects::hunt::Found;
use interloper_report::replay_file::{FOLDER, ReplayFile};

use crate::failure::Failure;
use crate::files::cannot_write;
use crate::subject::Subject;

/// Writes the replay file of a finding of a hunt, and gives the command that replays it. Real threads leave no decisions:
/// what only they have shown has no file.
pub fn of_schema(subject: &Subject, method: &str, seed: u64, found: &Found) -> Result<Option<String>, Failure> {
    objects::recorded::file(subject.studied.name, method, seed, found).map(|file| written(&file)).transpose()
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
