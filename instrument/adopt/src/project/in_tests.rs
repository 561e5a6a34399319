//! Which dev-dependencies are part of programs under control.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::Package;
use crate::control::rust_files;

/// The sources of those crates of a package that may have checks, a text for each.
pub(super) struct Checked(Vec<String>);

impl Checked {
    /// Of a package: of its library, binaries and integration tests, since benchmarks and examples are not run. A crate that does not name
    /// interloper has no checks, unless `all` tests are checked.
    pub(super) fn of(package: &Package, all: bool) -> Checked {
        let is_run = |root: &&Path| {
            let path = root.strip_prefix(&package.folder).unwrap_or(root);
            !path.starts_with("benches") && !path.starts_with("examples")
        };
        let roots = package.roots.iter().map(|root| root.as_path()).filter(is_run);
        let texts = roots.map(|root| text(package, root));
        Checked(texts.filter(|text| all || text.contains("interloper")).collect())
    }

    /// Whether one of them names a crate: then a check may run it.
    pub(super) fn name(&self, dependency: &str) -> bool {
        self.0.iter().any(|text| text.lines().any(|line| names(line, dependency)))
    }
}

/// The files that a crate may consist of: its root, and all others in the folder of the root that are roots of no other crate, with what
/// they include.
fn text(package: &Package, root: &Path) -> String {
    let mut files = BTreeSet::new();
    if let Some(folder) = root.parent() {
        // A file that cannot be read is missed by whoever compiles it.
        let _ = rust_files(folder, &mut files);
    }
    let own = files.iter().filter(|file| *file == root || !package.roots.contains(file));
    let read = |file: &Path| fs::read_to_string(file).unwrap_or_default();
    let whole = |file: &PathBuf| {
        let text = read(file);
        let folder = file.parent().unwrap_or(file);
        let included: Vec<String> = included(&text).map(|name| read(&folder.join(name))).collect();
        [text, included.join("\n")].join("\n")
    };
    own.map(whole).collect::<Vec<String>>().join("\n")
}

/// The names in `include!("…")`.
fn included(text: &str) -> impl Iterator<Item = &str> {
    text.split("include!(\"").skip(1).filter_map(|rest| Some(rest.split_once('"')?.0))
}

/// Whether a line of code names a crate as the beginning of a path.
fn names(line: &str, dependency: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let line = line.trim_start();
    !line.starts_with("//")
        && line.match_indices(dependency).any(|(at, _)| {
            let (before, after) = (&line[..at], &line[at + dependency.len()..]);
            let is_word = !before.ends_with(is_part) && !after.starts_with(is_part);
            let declares = before.ends_with("use ") || before.ends_with("crate ");
            is_word && (after.starts_with("::") || declares)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_names_its_crate() {
        for line in [
            "use tokio::sync::Mutex;",
            "    #[tokio::test]",
            "let x = ::tokio::spawn(f);",
            "use tokio as t;",
            "extern crate tokio;",
        ] {
            assert!(names(line, "tokio"), "{line}");
        }
        for line in [
            "// tokio::spawn is not used",
            "use tokio_util::sync;",
            "use my_tokio::sync;",
            "let tokio = 1;",
            "use flume::Sender;",
        ] {
            assert!(!names(line, "tokio"), "{line}");
        }
    }
}
