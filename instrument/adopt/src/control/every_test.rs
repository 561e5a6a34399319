//! What is written into the copies where each test of the user's is checked.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::work::Work;
use super::{Copied, rust_files};
use crate::edits::manifest::Changes;
use crate::edits::{EVERY_TEST_CRATE, source};
use crate::place::Place;
use crate::project::{Package, Role};
use crate::reading;
use crate::refusal::Refusal;

/// How procedural macros that make a test of a function, such as `#[tokio::test]`, name the attribute of std.
const OF_STD: &str = "::core::prelude::v1::test";

impl Work<'_> {
    /// Puts one's own crates under control as dependencies are, and makes each `#[test]` of theirs a check.
    pub(super) fn every_test(&mut self) -> Result<(), Refusal> {
        let project = self.project;
        if project.options.harness.as_ref().is_none_or(|harness| !harness.every_test) {
            return Ok(());
        }
        for index in project.indices(|package| package.role == Role::Own) {
            let package = &project.packages[index];
            let (roots, modules) = self.roots_apart(package);
            let edits = self.change(index, &roots)?;
            for root in roots {
                let checked = source::check_every_test(&self.text(root)?).map_err(|bad| {
                    let file = root.strip_prefix(&package.folder).unwrap_or(root).to_owned();
                    Refusal::NoRust {
                        package: package.label(),
                        place: Place { file, line: bad.line },
                        reason: bad.reason,
                    }
                })?;
                self.changed.extend(checked.map(|edited| (root.to_owned(), edited.source)));
            }
            let of_module = |root: &Path| {
                let file = root.strip_prefix(&package.folder).unwrap_or(root).display();
                format!(
                    "{}: the tests of {file} are not checked, since the file is a module of another test, too",
                    package.label()
                )
            };
            self.unseen.extend(modules.into_iter().map(of_module));
            self.copies.push(Copied { package: index, named: false, changed: false, edits });
        }
        project.indices(|package| package.role == Role::Macro).into_iter().try_for_each(|index| self.test_macro(index))
    }

    /// The roots of a package, and apart from them those that are modules of others: the line with `#[macro_use]` can only be at a root.
    fn roots_apart<'p>(&self, package: &'p Package) -> (Vec<&'p Path>, Vec<&'p Path>) {
        let with_tests = self.project.with_tests(package);
        let files = |root: &PathBuf| {
            // What cannot be read is refused where it is changed.
            let read = reading::read(&package.folder, root, &with_tests).map(|reading| reading.files);
            BTreeSet::from_iter(read.unwrap_or_default())
        };
        let of_roots: BTreeMap<&PathBuf, BTreeSet<PathBuf>> =
            package.roots.iter().map(|root| (root, files(root))).collect();
        let is_module = |root: &PathBuf| of_roots.iter().any(|(other, files)| *other != root && files.contains(root));
        let (modules, roots): (Vec<&PathBuf>, Vec<&PathBuf>) = package.roots.iter().partition(|root| is_module(root));
        (roots.into_iter().map(PathBuf::as_path).collect(), modules.into_iter().map(PathBuf::as_path).collect())
    }

    /// Makes a procedural macro that writes std's attribute by its path write ours. One that writes `#[test]` means what the crate means
    /// in which it is used.
    fn test_macro(&mut self, index: usize) -> Result<(), Refusal> {
        let package = &self.project.packages[index];
        if package.source.is_none() || self.copies.iter().any(|copy| copy.package == index) {
            return Ok(());
        }
        let mut files = BTreeSet::new();
        rust_files(&package.folder.join("src"), &mut files)?;
        let mut edits = Vec::new();
        for file in files {
            let text = self.text(&file)?;
            if text.contains(OF_STD) {
                let shown = file.strip_prefix(&package.folder).unwrap_or(&file).display();
                edits.push(format!("{}: the tests that {shown} makes are checked", package.label()));
                self.changed.insert(file, text.replace(OF_STD, &format!("::{EVERY_TEST_CRATE}::test")));
            }
        }
        if !edits.is_empty() {
            self.manifest(package, Changes { mirror: false, cap_lints: true })?;
            self.copies.push(Copied { package: index, named: false, changed: false, edits });
        }
        Ok(())
    }
}
