//! `cargo interloper init`: shows what it changes in the project, and writes it.

use std::fs;
use std::path::{Path, PathBuf};

use interloper_adopt::{Change, Refusal};
use interloper_report::file;
use similar::TextDiff;

use super::note;

/// The crate that dev-dependencies name when nothing else is asked for.
const CHECKOUT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../interloper");

/// The folder of the crate interloper.
///
/// # Errors
/// When there is no such crate.
pub fn interloper(folder: &Path, given: Option<PathBuf>) -> Result<PathBuf, Refusal> {
    let path = given.map_or_else(|| PathBuf::from(CHECKOUT), |path| folder.join(path));
    let found = fs::canonicalize(&path).ok().filter(|path| is_interloper(path));
    found.ok_or_else(|| Refusal::System {
        doing: format!("find the crate interloper in {}", path.display()),
        reason: "give its folder with --path".to_owned(),
    })
}

fn is_interloper(folder: &Path) -> bool {
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
    manifest.lines().any(|line| line.trim() == "name = \"interloper\"")
}

/// The changes as `diff -u` shows them, with paths relative to `folder`.
pub fn difference(folder: &Path, changes: &[Change]) -> String {
    let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let of = |change: &Change| {
        let name = change.file.strip_prefix(&folder).unwrap_or(&change.file).display().to_string();
        let diff = TextDiff::from_lines(&change.before, &change.after);
        diff.unified_diff().context_radius(2).header(&name, &name).to_string()
    };
    changes.iter().map(of).collect()
}

/// Writes the changes, and says so.
///
/// # Errors
/// When a file cannot be written. The files before it are then written.
pub fn write(changes: &[Change], undo: bool) -> Result<(), Refusal> {
    for change in changes {
        file::write(&change.file, change.after.as_bytes()).map_err(|error| Refusal::System {
            doing: format!("write {}", change.file.display()),
            reason: error.to_string(),
        })?;
    }
    let files = |count| if count == 1 { "1 file".to_owned() } else { format!("{count} files") };
    note(&match (changes.len(), undo) {
        (0, true) => "nothing to undo: the project has none of what `init` puts in".to_owned(),
        (0, false) => "nothing to change: the project has all that it needs".to_owned(),
        (count, true) => format!("{} changed back", files(count)),
        (count, false) => format!(
            "{} changed; `cargo interloper plan` says which dependencies need control, and `cargo interloper init --undo` \
             takes the changes back",
            files(count)
        ),
    });
    Ok(())
}
