//! Which of the named crates have made steps: those that have not are under control in vain.
//!
//! The checks of a test run note this in a folder: see `blocks/reached.rs` of `interloper`. The folder has a file
//! `crates`, with a line for each crate: a number, and the folders of its sources, separated by tabs. A check leaves the file
//! `checked`, for each crate that has made a step a file with the number of the crate, and for each atomic block that has run
//! a file whose name begins with `block-` and whose content is the name of the block. Each test that has passed leaves a file whose name
//! begins with `passed-`, or with `trivial-` if it explored nothing, `no-time-` if it had no time for an execution, and `no-end-` if no
//! execution came to its end.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::control::Controlled;
use crate::orderings::TestBinary;
use crate::place::Place;
use crate::project::Role;
use crate::refusal::Refusal;

/// The variable with the folder.
pub(crate) const VARIABLE: &str = "INTERLOPER_REACHED";

/// What the tests of a project have reached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    /// Whether any program was checked.
    pub checked: bool,
    /// How many tests have passed.
    pub passed: usize,
    /// How many of those explored nothing, and were allowed to.
    pub trivial: usize,
    /// How many of those that passed had no time for an execution.
    pub no_time: usize,
    /// How many of those that passed had only executions that were stopped: at the step bound, at the end of the time, or for their
    /// number of threads.
    pub no_end: usize,
    /// The crates that were named, and of which no check has seen a step: `dashmap 6.1.0`.
    pub missed: Vec<String>,
    /// The same of crates that `all` put under control.
    pub unseen: Vec<String>,
    /// The atomic blocks that the sources of one's own crates mark, and that no check has run, with the place of each:
    /// `transfer`, `src/lib.rs:12`.
    pub idle: Vec<(String, String)>,
}

/// The folders of a package as cargo names them: what is inside the workspace from its root. Other packages are below the package at the
/// root, so that its own folders stand for it.
fn inside(sources: &Path, root: &Path) -> Vec<String> {
    match sources.strip_prefix(root) {
        Ok(inside) if inside.as_os_str().is_empty() => ["src", "tests"].map(str::to_owned).to_vec(),
        Ok(inside) => vec![inside.display().to_string()],
        Err(_) => Vec::new(),
    }
}

/// The names of the blocks that have run.
fn blocks(folder: &Path) -> BTreeSet<String> {
    files(folder, "block-").filter_map(|file| fs::read_to_string(file).ok()).collect()
}

/// The files of the folder whose names begin in this way.
fn files(folder: &Path, beginning: &'static str) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter(move |entry| entry.file_name().to_string_lossy().starts_with(beginning)).map(|entry| entry.path())
}

impl Controlled {
    /// Where the checks note what they reach: in a folder of this process, since several can run tests at once.
    pub(crate) fn reached_folder(&self) -> PathBuf {
        self.project.folder.join("reached").join(std::process::id().to_string())
    }

    /// [`test_command`](Self::test_command), whose checks note what they reach for [`reached`](Self::reached). Call
    /// [`prepare_reached`](Self::prepare_reached) before the first of them.
    pub fn noting_test_command(&self, binary: &TestBinary) -> Command {
        let mut command = self.test_command(binary);
        command.env(VARIABLE, self.reached_folder());
        command
    }

    /// Forgets what was reached before, and says which crates are looked for.
    ///
    /// # Errors
    /// When the folder for the notes cannot be written.
    pub fn prepare_reached(&self) -> Result<(), Refusal> {
        let folder = self.reached_folder();
        if folder.exists() {
            fs::remove_dir_all(&folder).map_err(|error| Refusal::file("remove", &folder, &error))?;
        }
        fs::create_dir_all(&folder).map_err(|error| Refusal::file("make", &folder, &error))?;
        let root = self.project.locals.manifest().parent().map(Path::to_owned).unwrap_or_default();
        let mut lines = String::new();
        for (number, (_, folders)) in self.named_crates().iter().enumerate() {
            let of = |sources: &PathBuf| {
                [vec![sources.display().to_string()], inside(sources, &root)]
                    .concat()
                    .into_iter()
                    .map(|name| format!("\t{name}"))
            };
            let folders: String = folders.iter().flat_map(of).collect();
            lines.push_str(&format!("{number}{folders}\n"));
        }
        let file = folder.join("crates");
        fs::write(&file, lines).map_err(|error| Refusal::file("write", &file, &error))
    }

    /// What the last test run has reached. It is forgotten then.
    pub fn reached(&self) -> Reached {
        let folder = self.reached_folder();
        let is_missed = |number: &usize| !folder.join(number.to_string()).exists();
        let crates = self.named_crates().into_iter().enumerate();
        let missed = crates.filter(|(number, _)| is_missed(number)).map(|(_, (index, _))| index);
        let (missed, unseen): (Vec<usize>, Vec<usize>) = missed.partition(|index| self.asked.contains(index));
        let labels = |indices: Vec<usize>| indices.iter().map(|index| self.project.packages[*index].label()).collect();
        let (missed, unseen) = (labels(missed), labels(unseen));
        let checked = folder.join("checked").exists();
        let ran = blocks(&folder);
        let [explored, trivial, no_time, no_end] =
            ["passed-", "trivial-", "no-time-", "no-end-"].map(|kind| files(&folder, kind).count());
        let passed = explored + trivial + no_time + no_end;
        let idle = self.marked_blocks().into_iter().filter(|(name, _)| !ran.contains(name)).collect();
        // What is left behind is in nobody's way.
        let _ = fs::remove_dir_all(&folder);
        Reached { checked, passed, trivial, no_time, no_end, missed, unseen, idle }
    }

    /// The atomic blocks that the sources of one's own crates mark, with their places. What a `cfg` may leave out is left out.
    fn marked_blocks(&self) -> Vec<(String, String)> {
        let own = self.project.packages.iter().filter(|package| package.role == Role::Own);
        let mut all = Vec::new();
        for package in own {
            let folder = self.named_folder(&package.folder);
            for root in &package.roots {
                // What cannot be read does not build either.
                let Ok(reading) = self.project.reading(package, root) else { continue };
                let place = |place: &Place| format!("{}:{}", folder.join(&place.file).display(), place.line);
                all.extend(reading.marked.iter().map(|(name, at)| (name.clone(), place(at))));
            }
        }
        all.sort_by(|a, b| (&a.1, &a.0).cmp(&(&b.1, &b.0)));
        all.dedup();
        all
    }

    /// The crates that were asked for, each with the folders of the sources whose steps are its own. What stands in for another crate
    /// has its sources elsewhere.
    fn named_crates(&self) -> Vec<(usize, Vec<PathBuf>)> {
        let packages = &self.project.packages;
        let named = self.copies.iter().filter(|copy| copy.named && copy.changed);
        let own = named.filter(|copy| !self.project.is_replaced(&packages[copy.package]));
        own.map(|copy| (copy.package, self.folders_of(copy.package))).collect()
    }

    /// The folder of a crate, and of what came under control along with it and is reached through it alone: whoever calls `rayon` makes
    /// the steps of `rayon-core`.
    fn folders_of(&self, index: usize) -> Vec<PathBuf> {
        let packages = &self.project.packages;
        let own = packages.iter().filter(|package| package.role == Role::Own);
        let direct = own.flat_map(|package| &package.edges).filter(|edge| edge.normal || edge.development);
        let others = self
            .project
            .closure(direct.map(|edge| edge.to).filter(|to| *to != index && packages[*to].role != Role::Own));
        let through_it = self.project.closure([index]);
        let along = self.copies.iter().filter(|copy| copy.changed && !copy.named).map(|copy| copy.package);
        let along = along.filter(|package| through_it.contains(package) && !others.contains(package));
        std::iter::once(index).chain(along).map(|package| packages[package].folder.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_at_the_root_of_the_workspace_is_known_by_its_own_folders() {
        let check = |sources: &str, expected: &[&str]| {
            assert_eq!(inside(Path::new(sources), Path::new("/project")), expected, "{sources}");
        };
        check("/project", &["src", "tests"]);
        check("/project/low", &["low"]);
        check("/registry/map-1.0.0", &[]);
    }
}
