//! The copies that are put under control.

mod allocators;
mod every_test;
mod line;
mod plain_memory;
mod selection;
mod work;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

pub use self::selection::Selection;
use self::work::Work;
use crate::edits::manifest::Mirror;
use crate::project::{Package, Project, Role};
use crate::refusal::Refusal;
use crate::tree::{self, Tree};

/// A project whose copies are made.
pub struct Controlled {
    pub(crate) project: Project,
    pub(crate) tree: Tree,
    /// In the order of names and versions.
    pub(crate) copies: Vec<Copied>,
    /// The packages that were asked for by their names, and not by `all`.
    pub(crate) asked: BTreeSet<usize>,
    /// Whether `all` was said.
    pub takes_all: bool,
    /// The packages of which the checker has one of its own, as it was published.
    pub(crate) kept: BTreeSet<usize>,
    /// What waits unseen below what is under control, with the reason.
    pub unseen: Vec<String>,
    /// The features that are off in the copies, although the project turns them on, with the reason.
    pub off: Vec<String>,
    /// Whether executions are judged for data races; if not, why.
    pub races: Result<(), String>,
    /// The file with an allocator of the project's own, if there is one.
    pub own_allocator: Option<PathBuf>,
    /// Whether each load and each store is announced, so that they can be steps.
    pub announces_all: bool,
    /// Whether a test starts an example: `cargo test` builds them, too.
    pub(crate) starts_examples: bool,
}

/// A package that is built from its copy.
#[derive(Clone, Debug)]
pub(crate) struct Copied {
    pub(crate) package: usize,
    /// Whether it was asked for, or has come along.
    pub(crate) named: bool,
    /// Whether it is under control by being copied. Otherwise it is copied for others that are, or it is a crate of one's own whose
    /// line puts it under control.
    pub(crate) changed: bool,
    /// What was done, in the words of a report.
    pub(crate) edits: Vec<String>,
}

impl Controlled {
    /// The same selection with the packages to which types of std cross by these messages of the compiler, where `all` was said: as
    /// `name@version`. `None` if all of them are under control.
    pub fn with_what_crosses(&self, selection: Selection, messages: &[String]) -> Option<(Selection, Vec<String>)> {
        let controlled = self.keys();
        let crossing = crate::crossing(messages);
        let mut more: Vec<String> = crossing.difference(&controlled).cloned().collect();
        if more.is_empty() {
            // The type comes from a crate that the compiler does not name: one below what it names.
            let within = crate::crossing::crossing_within(messages).into_iter().chain(crossing);
            let below: BTreeSet<String> = within.flat_map(|key| self.may_share_types(&key)).collect();
            more = below.difference(&controlled).cloned().collect();
        }
        (self.takes_all && !more.is_empty()).then(|| (Selection::With(Box::new(selection), more.clone()), more))
    }

    /// What a package is made of that may have types of std which the mirror replaces in its own types.
    fn may_share_types(&self, key: &str) -> Vec<String> {
        let packages = &self.project.packages;
        let names_some = |package: &Package| {
            let mut files = BTreeSet::new();
            // What cannot be read shares nothing.
            let _ = rust_files(&package.folder.join("src"), &mut files);
            let has =
                |text: &str| ["HashMap", "HashSet", "RandomState", "Instant"].iter().any(|name| text.contains(name));
            files.iter().any(|file| fs::read_to_string(file).is_ok_and(|text| has(&text)))
        };
        let direct = packages.iter().filter(|package| package.key() == key).flat_map(|package| &package.edges);
        let direct = direct.filter(|edge| edge.normal).map(|edge| &packages[edge.to]);
        let direct = direct.filter(|package| matches!(package.role, Role::Dependency | Role::Development));
        direct.filter(|package| names_some(package)).map(Package::key).collect()
    }

    /// What is under control by being copied, as `name@version`.
    pub(crate) fn keys(&self) -> BTreeSet<String> {
        let changed = self.copies.iter().filter(|copy| copy.changed).map(|copy| &self.project.packages[copy.package]);
        changed.map(Package::key).collect()
    }
}

impl Project {
    /// Copies what is to be put under control, and what it needs, into the target directory.
    ///
    /// What `leave` in `[package.metadata.interloper]` lists stays as it is, whoever needs it: its steps are not seen.
    ///
    /// # Errors
    /// When something of it is not a dependency or cannot be changed. Then nothing was written.
    pub fn control(self, selection: &Selection) -> Result<Controlled, Refusal> {
        let mirror = self.mirror()?;
        let leave = self.named(self.listed("leave")?)?;
        let (asked, proposed) = self.select(selection)?;
        let takes_all = proposed.is_some();
        let named = asked.iter().copied().chain(proposed.into_iter().flatten());
        let named = named.filter(|package| !leave.contains(package)).collect();
        let tree = Tree::new(self.folder.join("tree"));
        let mut work = Work {
            project: &self,
            mirror,
            asked: &asked,
            changed: self.locals.manifests(&tree)?,
            marked: self.marked()?,
            copies: Vec::new(),
            unwanted: BTreeSet::new(),
            kept: BTreeSet::new(),
            unseen: Vec::new(),
            off: Vec::new(),
            starts_examples: false,
        };
        work.come_along(&named, &leave)?;
        work.every_test()?;
        work.own_crates()?;
        work.harness()?;
        let own_allocator = work.allocators()?;
        work.traits()?;
        work.unwanted()?;
        work.keep_for_checker()?;
        work.companions();
        let nodes = work.nodes(&tree)?;
        let Work { copies, kept, unseen, off, starts_examples, .. } = work;
        let races = self.judges_races(&copies, own_allocator.as_deref());
        let announces_all = self.announces_all(own_allocator.as_deref())?;
        tree.make(nodes)?;
        let lock = fs::read(&self.lock).map_err(|error| Refusal::file("read", &self.lock, &error))?;
        tree::write_file(&tree.of(&self.locals.lock()), &lock)?;
        Ok(Controlled {
            project: self,
            tree,
            copies,
            asked,
            takes_all,
            kept,
            unseen,
            off,
            races,
            own_allocator,
            announces_all,
            starts_examples,
        })
    }

    /// Where the mirror comes from.
    fn mirror(&self) -> Result<Mirror, Refusal> {
        let (Some(mirror), 0..=1) = (self.mirror, self.mirrors.len()) else {
            let several = Refusal::SeveralMirrors(self.mirrors.clone());
            return Err(if self.mirrors.is_empty() { Refusal::NoMirror } else { several });
        };
        let package = &self.packages[mirror];
        let tree = Tree::new(self.folder.join("tree"));
        Ok(match &package.source {
            None => Mirror::Path(tree.of(&package.folder)),
            Some(source) => Mirror::Elsewhere(keys(source, package)),
        })
    }
}

/// How a dependency names a source that is not a folder.
fn keys(source: &str, package: &Package) -> BTreeMap<String, String> {
    let mut keys = BTreeMap::from([("version".to_owned(), format!("={}", package.version))]);
    let mut put = |key: &str, value: &str| keys.insert(key.to_owned(), value.to_owned());
    if let Some(repository) = source.strip_prefix("git+") {
        let address = repository.split('#').next().unwrap_or(repository);
        let (address, reference) = address.split_once('?').unwrap_or((address, ""));
        put("git", address);
        if let Some((key, value)) = reference.split_once('=') {
            put(key, value);
        }
    } else if crate::project::patch_key(source) != "crates-io" {
        put("registry-index", source.strip_prefix("registry+").unwrap_or(source));
    }
    keys
}

/// The Rust files below a folder.
pub(crate) fn rust_files(folder: &Path, files: &mut BTreeSet<PathBuf>) -> Result<(), Refusal> {
    let wrong = |error| Refusal::file("read", folder, &error);
    for entry in fs::read_dir(folder).map_err(wrong)? {
        let entry = entry.map_err(wrong)?.path();
        if entry.is_dir() {
            rust_files(&entry, files)?;
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            files.insert(entry);
        }
    }
    Ok(())
}
