//! The line at the root of a crate of one's own, which puts the crate under control: who has it, and who needs it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::edits::{MIRROR_CRATE, root};
use crate::plan::hidden;
use crate::project::{Package, Project};
use crate::reading::condition::Configuration;
use crate::reading::{self, Kind};

impl Project {
    /// The first use of std that stays outside of control because the root of its crate lacks the line. If another crate of the
    /// package has the line, only the files in `tests/` are asked: the line may have been left out of a binary on purpose.
    pub(super) fn lacks_line(&self, package: &Package) -> Option<String> {
        let (with, without): (Vec<&PathBuf>, Vec<_>) =
            package.roots.iter().partition(|root| has_line(root) && !has_only_macros(package, root));
        let is_asked = |root: &&PathBuf| with.is_empty() || root.starts_with(package.folder.join("tests"));
        let with_tests = self.with_tests(package);
        without.into_iter().filter(is_asked).find_map(|root| of_std(package, root, &with_tests))
    }

    /// The same for the library alone, as other crates of the project use it.
    pub(super) fn library_lacks_line(&self, package: &Package) -> Option<String> {
        let library = package.library().filter(|root| !has_line(root) || has_only_macros(package, root))?;
        of_std(package, library, &self.configuration(package))
    }

    /// The first root whose crate names through `core` what is mirrored, while its line puts std alone under control. In the edition of
    /// 2015 the line covers both.
    pub(super) fn lacks_core(&self, package: &Package) -> Option<String> {
        if package.is_of_2015() {
            return None;
        }
        let with_tests = self.with_tests(package);
        let is_outside = |root: &&PathBuf| {
            has_line(root)
                && !has_core(root)
                && reading::read(&package.folder, root, &with_tests).is_ok_and(|it| it.names_core)
        };
        let root = package.roots.iter().find(is_outside)?;
        Some(format!(
            "{}: what it names through `core::`, unless {} says `#[cfg(interloper)] extern crate {MIRROR_CRATE} as core;`, which \
         `cargo interloper init` puts in",
            package.label(),
            root.strip_prefix(&package.folder).unwrap_or(root).display()
        ))
    }

    /// How a crate with the line synchronises in a way that nobody can see.
    pub(super) fn hides(&self, package: &Package) -> Option<String> {
        let with_tests = self.with_tests(package);
        let mut roots = package.roots.iter().filter(|root| self.is_controlled(root));
        roots.find_map(|root| {
            let reading = reading::read(&package.folder, root, &with_tests).ok()?;
            let (what, found) = hidden(&reading)?;
            Some(format!("{}: {what}: {} at {}", package.label(), found.text, found.place))
        })
    }

    /// The first module of a crate with the line that declares std itself: there the line says nothing.
    pub(super) fn declares_std_inside(&self, package: &Package) -> Option<String> {
        let with_tests = self.with_tests(package);
        let roots = package.roots.iter().filter(|root| !package.is_of_2015() && has_line(root));
        roots.into_iter().find_map(|root| {
            let files = reading::read(&package.folder, root, &with_tests).ok()?.files;
            files.iter().find_map(|file| {
                let text = fs::read_to_string(file).ok()?;
                let (line, can_be_left_out) = root::unguarded_inside(&text, file == root, has_core(root))?;
                let file = file.strip_prefix(&package.folder).unwrap_or(file).display();
                let advice = match can_be_left_out {
                    true => "`cargo interloper init` puts `#[cfg(not(interloper))]` above it".to_owned(),
                    false => format!(
                        "with `#[cfg(interloper)]`, it is to be `extern crate {MIRROR_CRATE}` under the same name"
                    ),
                };
                Some(format!(
                    "{}: the module with `extern crate std` at {file}:{line} has the real std there; {advice}",
                    package.label(),
                ))
            })
        })
    }

    /// Whether the crate with this root is under control: it has the line, or its stand-in has.
    pub(super) fn is_controlled(&self, root: &Path) -> bool {
        has_line(root) || self.options.harness.as_ref().is_some_and(|harness| harness.roots.contains(root))
    }

    pub(super) fn with_tests(&self, package: &Package) -> Configuration {
        let mut with_tests = self.configuration(package);
        with_tests.target.insert("test".to_owned());
        with_tests
    }
}

/// What the crate with this root uses of std, which the line would put under control.
fn of_std(package: &Package, root: &Path, configuration: &Configuration) -> Option<String> {
    let reading = reading::read(&package.folder, root, configuration).ok()?;
    let found = reading.first(Kind::Synchronises)?;
    let (label, root) = (package.label(), root.strip_prefix(&package.folder).unwrap_or(root).display());
    let (name, place) = (&found.text, &found.place);
    Some(format!(
        "{label}: {name} at {place} is that of std, since {root} lacks the line that `cargo interloper init` puts there"
    ))
}

/// Whether the root of a crate has the line that puts it under control.
pub(super) fn has_line(root: &Path) -> bool {
    fs::read_to_string(root).is_ok_and(|text| text.contains(MIRROR_CRATE))
}

/// Whether it has the line of the edition of 2015, which brings the macros alone where paths stay as they are.
fn has_only_macros(package: &Package, root: &Path) -> bool {
    let line = format!("extern crate {MIRROR_CRATE};");
    !package.is_of_2015() && fs::read_to_string(root).is_ok_and(|text| text.contains(&line))
}

/// Whether it has the line for core, too.
fn has_core(root: &Path) -> bool {
    fs::read_to_string(root).is_ok_and(|text| text.contains(&format!("{MIRROR_CRATE} as core;")))
}
