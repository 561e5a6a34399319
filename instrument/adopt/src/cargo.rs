//! Running cargo.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Output};

use cargo_metadata::Metadata;

use crate::edits::EVERY_TEST;
use crate::refusal::Refusal;

/// What is said to cargo, apart from what is to be done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The manifest, as given with `--manifest-path`.
    pub manifest: Option<PathBuf>,
    /// Which features, and for which target: known to `cargo metadata` and to a build.
    pub features: Vec<OsString>,
    /// The target triple.
    pub target: Option<String>,
    /// `--config` and `-Z`, `--offline`.
    pub settings: Vec<OsString>,
    /// Whether the lock file must be as it should be.
    pub locked: bool,
    /// The crates whose originals are wanted although there are mirrors of them.
    pub real: Vec<String>,
    /// Whether executions are judged for data races.
    pub races: Races,
    /// Whether tasks are preempted at loads and stores of plain memory.
    pub preempts: bool,
    /// Which packages, targets and profile, and how many jobs: known to a build alone.
    pub build: Vec<OsString>,
    /// What checks are told, as variables of their environment.
    pub checks: Vec<(&'static str, String)>,
    /// The command as typed, without the names of tests. A failing test prints this command. Empty if nobody typed one.
    pub again: String,
    /// Tests that the stand-in of a package has and the package does not.
    pub harness: Option<Harness>,
}

/// Tests for packages of the user's, which their stand-ins in the target directory have and the packages do not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Harness {
    /// The manifests of the packages.
    pub manifests: BTreeSet<PathBuf>,
    /// The folder of the crate interloper, which becomes a dev-dependency where a package has none.
    pub interloper: PathBuf,
    /// What these tests use of interloper: its features.
    pub features: Vec<&'static str>,
    /// The first files of the crates that come under control.
    pub roots: BTreeSet<PathBuf>,
    /// What follows the text of a file.
    pub appended: BTreeMap<PathBuf, String>,
    /// Whether each `#[test]` of the packages is checked.
    pub every_test: bool,
}

impl Harness {
    /// The crates that the tests name: the package of each, its folder and the features that are on.
    pub(crate) fn crates(&self) -> impl Iterator<Item = (&'static str, PathBuf, &[&'static str])> {
        let every_test = self.every_test.then(|| (EVERY_TEST, self.interloper.join("../macros/every-test"), &[][..]));
        std::iter::once(("interloper", self.interloper.clone(), &self.features[..])).chain(every_test)
    }
}

/// Whether executions are judged for data races.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Races {
    /// If no crate that synchronises is outside of control: what such a crate orders would look like a race.
    #[default]
    Auto,
    /// In any case.
    On,
    /// In no case.
    Off,
}

/// Cargo in a folder.
#[derive(Clone, Debug)]
pub(crate) struct Cargo {
    program: OsString,
    folder: PathBuf,
}

impl Cargo {
    /// The cargo that runs this command, or the one of the search path.
    pub(crate) fn new(folder: &Path) -> Cargo {
        let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        Cargo { program, folder: folder.to_owned() }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn command(&self, subcommand: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.arg(subcommand).current_dir(&self.folder);
        command
    }

    /// The manifest that cargo finds from its folder on.
    pub(crate) fn find_manifest(&self) -> Result<PathBuf, Refusal> {
        let mut command = self.command("locate-project");
        command.args(["--message-format", "plain"]);
        let found = self.output(&mut command)?;
        Ok(PathBuf::from(found.trim()))
    }

    /// `cargo metadata`.
    pub(crate) fn metadata<A: AsRef<OsStr>>(
        &self,
        manifest: &Path,
        arguments: impl IntoIterator<Item = A>,
    ) -> Result<Metadata, Refusal> {
        let mut command = self.command("metadata");
        command.args(["--format-version", "1", "--manifest-path"]).arg(manifest).args(arguments);
        let text = self.output(&mut command)?;
        let read = |error| Refusal::Cargo(format!("its metadata: {error}"));
        let mut metadata: Metadata = serde_json::from_str(&text).map_err(read)?;
        // What is in the folder is known by the paths that the compiler is given, and these are the system's.
        if let Ok(folder) = without_parents(metadata.target_directory.as_std_path()).try_into() {
            metadata.target_directory = folder;
        }
        Ok(metadata)
    }

    /// What the compiler that cargo uses prints.
    pub(crate) fn rustc(&self, arguments: &[&str]) -> Result<String, Refusal> {
        let program = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&self.folder);
        self.output(&mut command)
    }

    fn output(&self, command: &mut Command) -> Result<String, Refusal> {
        let Output { status, stdout, stderr } = command.output().map_err(|error| cannot_run(command, &error))?;
        if !status.success() {
            return Err(Refusal::Cargo(complaint(&String::from_utf8_lossy(&stderr))));
        }
        String::from_utf8(stdout).map_err(|error| Refusal::Cargo(error.to_string()))
    }
}

/// A path without `..`, which `CARGO_TARGET_DIR=../target` brings in. Whatever comes after the last one need not exist.
fn without_parents(path: &Path) -> PathBuf {
    let components: Vec<Component<'_>> = path.components().collect();
    let Some(last) = components.iter().rposition(|component| *component == Component::ParentDir) else {
        return path.to_owned();
    };
    let (before, after) = components.split_at(last + 1);
    let before: PathBuf = before.iter().collect();
    after.iter().fold(before.canonicalize().unwrap_or(before), |path, component| path.join(component))
}

pub(crate) fn cannot_run(command: &Command, error: &io::Error) -> Refusal {
    let doing = format!("run {}", command.get_program().to_string_lossy());
    Refusal::System { doing, reason: error.to_string() }
}

/// What cargo complains of, without its progress.
fn complaint(stderr: &str) -> String {
    let begin = stderr.find("error: ").map_or(0, |at| at + "error: ".len());
    stderr[begin..].trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_complaint_is_what_follows_the_word_error() {
        assert_eq!(
            complaint("    Updating crates.io index\nerror: no such crate\n\nCaused by:\n  x\n"),
            "no such crate\n\nCaused by:\n  x"
        );
        assert_eq!(complaint("what\n"), "what");
    }

    #[test]
    fn a_path_goes_to_no_parent() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        std::fs::create_dir(real.join("a")).unwrap();
        let check = |path: &str, expected: &str| assert_eq!(without_parents(&real.join(path)), real.join(expected));
        check("a/../b/c", "b/c");
        check("a/../a/../b", "b");
        check("b/c", "b/c");
        // There is no such folder, so where it leads is not known.
        check("none/../b", "none/../b");
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(real.join("a"), real.join("link")).unwrap();
            check("link/../b", "b");
            check("link/b", "link/b");
        }
    }
}
