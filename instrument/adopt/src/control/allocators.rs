//! The global allocators of the program, below which the checker has its own.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use proc_macro2::TokenTree;

use super::rust_files;
use super::work::Work;
use crate::edits::allocators::{ATTRIBUTE, Implementation, SIGN, SYSTEM};
use crate::edits::allocators::{above_ours, globals, implementations, marks};
use crate::edits::manifest::Changes;
use crate::place::Place;
use crate::project::{Package, Project, Role};
use crate::refusal::Refusal;
use crate::text;

/// Allocators that are other programs' and that a program takes for their speed: what it does is the same without them.
const FOR_SPEED: [&str; 5] = ["MiMalloc", "Jemalloc", "SnMalloc", "RpMalloc", "TCMalloc"];

/// What becomes of the global allocators of the program.
#[derive(Debug, Default)]
struct Allocators {
    /// The files with such allocators, and with what they consist of.
    files: BTreeSet<PathBuf>,
    /// The names of those that are above the checker's: each asks the system for memory, and so the checker.
    above: BTreeSet<String>,
    /// Those that are left out.
    left_out: Vec<String>,
    /// The file with one that stays, so that the checker has none.
    own: Option<PathBuf>,
}

/// What becomes of one.
enum Fate {
    Above,
    LeftOut,
    Stays,
}

impl Project {
    /// What becomes of the global allocators of the program.
    fn allocators(&self) -> Result<Allocators, Refusal> {
        let mut allocators = Allocators::default();
        let mut named = Vec::new();
        for package in &self.packages {
            let is_own = package.role == Role::Own;
            if !is_own && package.role != Role::Dependency {
                continue;
            }
            for (file, source) in self.files_with(package, ATTRIBUTE)? {
                if !is_own {
                    // The crate need not be one whose text is changed. Most name the attribute in an example.
                    if source.lines().any(|line| line.trim_start().starts_with("#[global_allocator]")) {
                        return Ok(Allocators { own: Some(file), ..Allocators::default() });
                    }
                    continue;
                }
                // A module that no build reaches need not be Rust.
                let Ok(tokens) = text::tokens(&source) else { continue };
                let Some(globals) = globals(&tokens) else {
                    return Ok(Allocators { own: Some(file), ..Allocators::default() });
                };
                let lines = globals.into_iter().map(|global| (global.line, global.of));
                named.extend(lines.map(|(line, of)| (package, file.clone(), line, of)));
            }
        }
        if named.is_empty() {
            return Ok(allocators);
        }
        let mut implemented = Vec::new();
        for package in self.packages.iter().filter(|package| package.role == Role::Own) {
            for (file, source) in self.files_with(package, SIGN)? {
                let tokens = text::tokens(&source).unwrap_or_default();
                implemented.extend(implementations(&tokens).into_iter().map(|found| (file.clone(), found)));
            }
        }
        for (package, file, line, of) in named {
            match self.fate(&of, &implemented) {
                Fate::Stays => return Ok(Allocators { own: Some(file), ..Allocators::default() }),
                Fate::Above => {
                    allocators
                        .files
                        .extend(implemented.iter().filter(|(_, found)| found.of == of).map(|(file, _)| file.clone()));
                    allocators.above.insert(of);
                }
                Fate::LeftOut if of == SYSTEM => {}
                Fate::LeftOut => {
                    let shown = file.strip_prefix(&package.folder).unwrap_or(&file).to_owned();
                    let place = Place { file: shown, line };
                    allocators.left_out.push(format!(
                        "{}: the allocator {of} at {place}: what it frees cannot be watched",
                        package.label()
                    ));
                }
            }
            allocators.files.insert(file);
        }
        Ok(allocators)
    }

    fn fate(&self, of: &str, implemented: &[(PathBuf, Implementation)]) -> Fate {
        let mut own = implemented.iter().filter(|(_, found)| found.of == of).map(|(_, found)| found).peekable();
        let is_own = own.peek().is_some();
        // Only there is it known how a static of the program registers itself before `main`.
        let is_possible = self.triple.contains("linux");
        match (is_possible, is_own) {
            (true, true) if own.all(Implementation::is_of_system) => Fate::Above,
            (true, false) if of == SYSTEM || FOR_SPEED.contains(&of) => Fate::LeftOut,
            _ => Fate::Stays,
        }
    }

    /// The files of a package that contain this.
    pub(super) fn files_with(&self, package: &Package, sign: &str) -> Result<Vec<(PathBuf, String)>, Refusal> {
        let mut files: BTreeSet<PathBuf> = BTreeSet::new();
        let folders = if package.role == Role::Own { &["src", "tests", "examples", "benches"][..] } else { &["src"] };
        for folder in folders.iter().map(|folder| package.folder.join(folder)).filter(|folder| folder.is_dir()) {
            rust_files(&folder, &mut files)?;
        }
        if package.role == Role::Own {
            files.extend(package.roots.iter().cloned());
        }
        let read = files.into_iter().map(|file| {
            let source = fs::read_to_string(&file).unwrap_or_default();
            (file, source)
        });
        Ok(read.filter(|(_, source)| source.contains(sign)).collect())
    }
}

impl Work<'_> {
    /// Puts the allocators of the program above the checker's, or leaves them out. Gives the file of one that stays, so that the checker
    /// has none.
    pub(super) fn allocators(&mut self) -> Result<Option<PathBuf>, Refusal> {
        let project = self.project;
        let allocators = project.allocators()?;
        self.off.extend(allocators.left_out.iter().cloned());
        for file in &allocators.files {
            let source = self.text(file)?;
            let Ok(tokens) = text::tokens(&source) else { continue };
            let edited = edited(&source, &tokens, &allocators.above);
            self.changed.insert(file.clone(), edited);
            let of_file = |package: &&Package| package.role == Role::Own && file.starts_with(&package.folder);
            let packages = project.packages.iter().filter(of_file);
            if let Some(package) = packages.max_by_key(|package| package.folder.as_os_str().len()) {
                self.manifest(package, Changes { mirror: true, cap_lints: false })?;
            }
        }
        Ok(allocators.own)
    }
}

/// The text in which the allocators with these names are above the checker's, and no static is a global allocator.
fn edited(source: &str, tokens: &[TokenTree], above: &BTreeSet<String>) -> String {
    let begin = text::preamble(source);
    let implementations = implementations(tokens);
    let mut pieces = marks(&implementations, &source[begin..]);
    let chosen: Vec<&Implementation> = implementations.iter().filter(|found| above.contains(&found.of)).collect();
    pieces.extend(above_ours(&chosen));
    let globals = globals(tokens).unwrap_or_default();
    pieces.extend(globals.iter().flat_map(|global| global.demoted(above.contains(&global.of))));
    pieces.iter_mut().for_each(|(range, _)| *range = begin + range.start..begin + range.end);
    text::replaced(source, pieces)
}
