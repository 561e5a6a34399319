//! The memory orderings in the sources of chosen crates, and the test binaries that are run to see what each is for.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::build::Task;
use crate::control::{Controlled, rust_files};
use crate::project::{Package, Role};
use crate::reading::orderings;
use crate::refusal::Refusal;
use crate::text;

/// A binary with tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestBinary {
    /// The name of the crate.
    pub name: String,
    /// The folder that its tests run in.
    pub folder: PathBuf,
    /// The file to run.
    pub executable: PathBuf,
}

/// A call with a memory ordering, as the sources have it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WrittenOrdering {
    /// The file, as the compiler names it.
    pub file: String,
    /// The line, counted from 1.
    pub line: u32,
    /// The column, counted from 1.
    pub column: u32,
    /// What has the ordering: `load`, `store`, `update` or `fence`.
    pub argument: &'static str,
    /// The name of the ordering.
    pub ordering: String,
}

/// The crates whose orderings are looked at, by the places of their files.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// The folders of all packages, as the compiler names them, and whether each is chosen.
    folders: Vec<(PathBuf, bool)>,
}

impl Chosen {
    /// Whether a file, as the compiler names it, is one of a chosen crate.
    pub fn has(&self, file: &str) -> bool {
        // The root of the workspace has no name, and everything would be inside.
        let file = Path::new(file);
        let is_around = |folder: &Path| folder.is_absolute() == file.is_absolute() && file.starts_with(folder);
        let around = self.folders.iter().filter(|(folder, _)| is_around(folder));
        // Packages can lie inside other packages.
        let innermost = around.max_by_key(|(folder, _)| folder.components().count());
        innermost.is_some_and(|(_, chosen)| *chosen)
    }
}

impl Controlled {
    /// The crates with these names; without names, the user's own crates, or those of them with the names `own`.
    ///
    /// # Errors
    /// When the project has no crate of a name.
    pub fn choose(&self, names: &[String], own: &[String]) -> Result<Chosen, Refusal> {
        let packages = &self.project.packages;
        for name in names {
            if !packages.iter().any(|package| package.name == *name) {
                return Err(Refusal::NotADependency { name: name.clone(), similar: None });
            }
        }
        let is_chosen = |package: &Package| match names {
            [] => package.role == Role::Own && (own.is_empty() || own.contains(&package.name)),
            names => names.contains(&package.name),
        };
        let folders = packages.iter().map(|package| (self.named_folder(&package.folder), is_chosen(package)));
        Ok(Chosen { folders: folders.collect() })
    }

    /// The memory orderings in the sources of the chosen crates, in the order of places. What macros expand to is left out, and
    /// so is what a file has that is not Rust.
    ///
    /// # Errors
    /// When a folder cannot be read.
    pub fn written_orderings(&self, chosen: &Chosen) -> Result<Vec<WrittenOrdering>, Refusal> {
        let mut files = BTreeSet::new();
        for package in &self.project.packages {
            let folder = self.named_folder(&package.folder);
            if chosen.folders.iter().any(|(known, chosen)| *chosen && *known == folder) {
                source_files(package, &mut files)?;
            }
        }
        let mut all = Vec::new();
        for file in &files {
            // What is built: the places are those of the copy.
            let built = self.tree.of(file);
            let Ok(source) = fs::read_to_string(if built.exists() { &built } else { file }) else { continue };
            let Ok(tokens) = text::tokens(&source) else { continue };
            let file = self.named_folder(file).display().to_string();
            all.extend(orderings::all(&tokens).into_iter().map(|written| WrittenOrdering {
                file: file.clone(),
                line: written.line,
                column: written.column,
                argument: written.argument,
                ordering: written.ordering,
            }));
        }
        all.sort();
        Ok(all)
    }

    /// A command that runs a test binary in the way in which cargo does, one test after the other. It reads nothing.
    pub fn test_command(&self, binary: &TestBinary) -> Command {
        let mut command = Command::new(&binary.executable);
        command.current_dir(&binary.folder).stdin(Stdio::null()).env("CARGO_MANIFEST_DIR", &binary.folder);
        let packages = &self.project.packages;
        if let Some(package) = packages.iter().find(|package| self.tree.of(&package.folder) == binary.folder) {
            command.env("CARGO_PKG_NAME", &package.name).env("CARGO_PKG_VERSION", package.version.to_string());
            // The tests of a procedural macro need the shared library of std, as cargo gives it to them.
            if package.is_macro
                && let Ok(libraries) = self.project.cargo.rustc(&["--print", "target-libdir"])
            {
                let variable = if cfg!(target_os = "macos") { "DYLD_FALLBACK_LIBRARY_PATH" } else { "LD_LIBRARY_PATH" };
                let before = std::env::var_os(variable).unwrap_or_default();
                let folders = std::env::split_paths(&before).filter(|folder| !folder.as_os_str().is_empty());
                let all = std::iter::once(PathBuf::from(libraries.trim())).chain(folders);
                command.envs(std::env::join_paths(all).ok().map(|all| (variable, all)));
            }
        }
        self.prepare(&mut command, Task::Test, &[]);
        command
    }

    /// The names of the user's own packages, or of those with these names.
    pub fn own_packages(&self, own: &[String]) -> Vec<String> {
        let packages = self.project.packages.iter().filter(|package| package.role == Role::Own);
        let named = packages.filter(|package| own.is_empty() || own.contains(&package.name));
        named.map(|package| package.name.clone()).collect()
    }

    /// As the compiler names it: what is inside the workspace from its root.
    pub(crate) fn named_folder(&self, path: &Path) -> PathBuf {
        let root = self.project.locals.manifest().parent().map(Path::to_owned).unwrap_or_default();
        path.strip_prefix(&root).unwrap_or(path).to_owned()
    }
}

/// The files of the crates of a package.
fn source_files(package: &Package, files: &mut BTreeSet<PathBuf>) -> Result<(), Refusal> {
    for root in package.roots.iter().filter(|root| root.is_file()) {
        files.insert(root.clone());
        match root.parent() {
            Some(folder) if folder != package.folder && folder.starts_with(&package.folder) => {
                rust_files(folder, files)?
            }
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_belongs_to_the_innermost_package() {
        let folder = |path: &str, chosen| (PathBuf::from(path), chosen);
        let chosen =
            Chosen { folders: vec![folder("", true), folder("low", false), folder("/registry/map-1.0.0", false)] };
        assert!(chosen.has("src/lib.rs") && chosen.has("lower/src/lib.rs"));
        assert!(!chosen.has("low/src/lib.rs") && !chosen.has("/registry/map-1.0.0/src/lib.rs"));
        assert!(!chosen.has("/rustc/library/core/src/lib.rs"));
    }
}
