//! What is written into the copies, put together before anything is written.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::line::has_line;
use super::{Copied, rust_files};
use crate::edits::manifest::{self, Changes, Mirror, Stand};
use crate::edits::source::{self, Edited, Refused, Role as File, Way};
use crate::edits::traits::{UNWANTED, Unwanted};
use crate::edits::{choices, features, traits};
use crate::place::Place;
use crate::plan::Class;
use crate::project::{Edge, Package, Project, Role};
use crate::refusal::Refusal;
use crate::replacement::{self, Choice, Replacement};
use crate::tree::{self, Node, Nodes, Tree};

/// What a crate calls points in time by.
const STD_TIME: &str = "std::time::";

/// The crates of ours that are made over others whose types a program uses, too.
const OVER_OTHERS: [&str; 2] = ["interloper-collections", "interloper-parking-lot"];

/// What is to be written, before anything is.
pub(super) struct Work<'a> {
    pub(super) project: &'a Project,
    pub(super) mirror: Mirror,
    /// The packages that were asked for by their names.
    pub(super) asked: &'a BTreeSet<usize>,
    /// The files that are not as they were, by the paths of the originals.
    pub(super) changed: BTreeMap<PathBuf, String>,
    /// Those whose methods are marked.
    pub(super) marked: BTreeSet<usize>,
    pub(super) copies: Vec<Copied>,
    /// The packages that implement too much for a checker that a project may share them with: see [`Unwanted`].
    pub(super) unwanted: BTreeSet<usize>,
    /// The packages of which the checker has one of its own.
    pub(super) kept: BTreeSet<usize>,
    pub(super) unseen: Vec<String>,
    /// The features that are off in the copies, with the reason.
    pub(super) off: Vec<String>,
    /// Whether a text of a test that is checked names the folder of examples.
    pub(super) starts_examples: bool,
}

impl Work<'_> {
    /// Puts what is named under control, and with it what synchronises among what it is made of, and among what is made
    /// of it: whoever speaks to a crate under control about a mutex must mean the same mutex.
    pub(super) fn come_along(&mut self, named: &BTreeSet<usize>, leave: &BTreeSet<usize>) -> Result<(), Refusal> {
        let project = self.project;
        // What draws random numbers of the system comes along with any project: the same seed, the same execution.
        let random = project.indices(Package::draws_random_numbers).into_iter();
        let is_used = |index: &usize| matches!(project.packages[*index].role, Role::Dependency | Role::Development);
        let mut chosen: BTreeSet<usize> =
            random.filter(is_used).filter(|index| !leave.contains(index)).chain(named.iter().copied()).collect();
        for package in project.packages.iter().filter(|package| package.draws_unseen_numbers()) {
            self.unseen.push(format!("{}: its random numbers come from the system", package.label()));
        }
        let mut open: Vec<usize> = named.iter().copied().collect();
        let mut met = BTreeSet::new();
        while let Some(index) = open.pop() {
            let below = project.closure([index]);
            let above = project.indices(|package| package.edges.iter().any(|edge| edge.normal && edge.to == index));
            for near in below.into_iter().chain(above) {
                let package = &project.packages[near];
                let fixed = matches!(package.role, Role::Own | Role::Interloper) || package.is_macro;
                if fixed || !met.insert(near) || chosen.contains(&near) {
                    continue;
                }
                let judged = project.read(package);
                if leave.contains(&near) {
                    self.unseen.push(format!("{}: `leave` lists it", package.label()));
                } else if matches!(judged.class, Class::Instrument | Class::Replace) && !judged.only_reads {
                    chosen.insert(near);
                    open.push(near);
                } else if judged.class == Class::Cannot && package.role != Role::BelowInterloper {
                    let place = judged.place.map(|place| format!(" at {place}")).unwrap_or_default();
                    self.unseen.push(format!("{}: {}{place}", package.label(), judged.reason));
                }
            }
        }
        for index in chosen {
            let package = &project.packages[index];
            match project.replacement(package) {
                Choice::Replace(replacement) => self.replace(index, replacement, named.contains(&index))?,
                Choice::Real(_) | Choice::None => {
                    let edits = match self.change(index, &built_roots(package)) {
                        Ok(edits) => edits,
                        // Nobody has named it, so the rest comes under control without it.
                        Err(Refusal::Unsuitable { package, reason }) if !self.asked.contains(&index) => {
                            self.unseen.push(format!("{package}: {reason}"));
                            continue;
                        }
                        Err(refusal) => return Err(refusal),
                    };
                    self.copies.push(Copied { package: index, named: named.contains(&index), changed: true, edits });
                }
            }
        }
        self.unseen.sort();
        self.off.sort();
        Ok(())
    }

    fn replace(&mut self, index: usize, replacement: &Replacement, named: bool) -> Result<(), Refusal> {
        let package = &self.project.packages[index];
        let folder = self.project.built_folder(package);
        for (file, text) in replacement.files() {
            self.changed.insert(folder.join(file), text);
        }
        if replacement.is_mirror() {
            self.keep_original(package)?;
        }
        let manifest = replacement.manifest(&package.version, &package.all_features);
        self.changed.insert(folder.join("Cargo.toml"), manifest);
        self.manifest(package, Changes { mirror: true, cap_lints: true })?;
        let mut edit = format!("{} is replaced by a version written for interloper", package.label());
        if replacement.is_mirror() {
            edit.push_str(&format!("; `--real {}` builds the original instead", package.name));
        }
        let mut edits = vec![edit];
        for off in self.project.switched_off(package) {
            self.switch_off(package, off, &mut edits);
        }
        self.copies.push(Copied { package: index, named, changed: true, edits });
        Ok(())
    }

    /// Puts the original of a package beside what replaces it, under another name. It is not under control, but its points in
    /// time are those of the crates that it speaks to, which are.
    fn keep_original(&mut self, package: &Package) -> Result<(), Refusal> {
        let mut files = BTreeSet::new();
        rust_files(&package.folder.join("src"), &mut files)?;
        let file = package.folder.join("Cargo.toml");
        let read = |file: &Path| fs::read_to_string(file).map_err(|error| Refusal::file("read", file, &error));
        let manifest = manifest::renamed(&read(&file)?, &replacement::original(&package.name));
        let manifest = manifest.map_err(|reason| Refusal::Manifest { file: file.clone(), reason })?;
        let time = (STD_TIME, format!("{}::time::", crate::edits::MIRROR_CRATE));
        let folder = self.project.built_folder(package).join(replacement::FOLDER);
        self.changed.insert(folder.join("Cargo.toml"), manifest);
        for file in files {
            let relative = file.strip_prefix(&package.folder).unwrap_or(&file);
            self.changed.insert(folder.join(relative), read(&file)?.replace(time.0, &time.1));
        }
        self.manifest_at(folder.join("Cargo.toml"), Changes { mirror: true, cap_lints: true })
    }

    /// Builds what the checker calls, and what is under control, once more for the checker, as it was published. A strategy of the
    /// checker runs in the middle of a step, perhaps while a task is in the same crate: it must neither make steps there, nor meet a
    /// static of the crate that the task is about to change, nor find it as it was at the beginning of the execution.
    ///
    /// What such a crate needs of others under control is not built once more: the checker calls it under no runtime.
    ///
    /// The same goes for a crate of which the checker must not bring along all, whether the project has the crate or not: what is built of
    /// the checker does not depend on it.
    pub(super) fn keep_for_checker(&mut self) -> Result<(), Refusal> {
        let project = self.project;
        let ours =
            |package: &Package| package.role == Role::Interloper && package.source.is_none() && !package.is_macro;
        let (over_others, checker): (Vec<usize>, Vec<usize>) =
            project.indices(ours).into_iter().partition(|&index| OVER_OTHERS.contains(&&*project.packages[index].name));
        let below =
            |index: &usize| project.packages[*index].edges.iter().filter(|edge| edge.normal).map(|edge| edge.to);
        let of_types = project.closure(over_others.iter().flat_map(below));
        let is_kept = |index: &usize| {
            let package = &project.packages[*index];
            let is_changed = self.copies.iter().any(|copy| copy.changed && copy.package == *index);
            let is_kept = is_changed && !project.is_replaced(package) && !of_types.contains(index);
            package.source.is_some() && (is_kept || self.unwanted.contains(index))
        };
        self.kept = checker.iter().flat_map(below).filter(is_kept).collect();
        for index in self.kept.clone() {
            self.keep_whole(&project.packages[index])?;
        }
        for index in checker {
            let stand = |edge: &Edge| {
                let package = &project.packages[edge.to];
                let folder = Tree::new(project.folder.join("tree")).of(&package.folder.join(replacement::FOLDER));
                let stand =
                    Stand { package: replacement::original(&package.name), folder, features: edge.features.clone() };
                (package.name.clone(), stand)
            };
            let edges = project.packages[index].edges.iter().filter(|edge| edge.normal);
            let stands: BTreeMap<String, Stand> =
                edges.filter(|edge| self.kept.contains(&edge.to)).map(stand).collect();
            if !stands.is_empty() {
                let file = project.packages[index].folder.join("Cargo.toml");
                let redirected = manifest::redirect(&self.text(&file)?, &stands);
                let redirected = redirected.map_err(|reason| Refusal::Manifest { file: file.clone(), reason })?;
                self.changed.insert(file, redirected);
            }
        }
        Ok(())
    }

    /// Puts a package beside its copy as it was published, but for what is [`Unwanted`], under another name.
    fn keep_whole(&mut self, package: &Package) -> Result<(), Refusal> {
        let folder = package.folder.join(replacement::FOLDER);
        let mut files = Vec::new();
        tree::files(&package.folder, &mut files)?;
        for file in files {
            // What is not text is data of tests.
            if let Ok(text) = fs::read_to_string(&file) {
                let relative = file.strip_prefix(&package.folder).unwrap_or(&file);
                let text = Unwanted::without(&package.name, relative, &text).unwrap_or(text);
                self.changed.insert(folder.join(relative), text);
            }
        }
        let file = folder.join("Cargo.toml");
        let wrong = |reason| Refusal::Manifest { file: package.folder.join("Cargo.toml"), reason };
        let text = manifest::renamed_wholly(&self.text(&file)?, &replacement::original(&package.name));
        let text = text.map_err(wrong)?;
        let pinned = manifest::pin(&text, &self.versions_below(package)).map_err(wrong)?;
        self.changed.insert(file.clone(), pinned.unwrap_or(text));
        self.manifest_at(file, Changes { mirror: false, cap_lints: true })
    }

    /// A file as it is to be written.
    pub(super) fn text(&self, file: &Path) -> Result<String, Refusal> {
        match self.changed.get(file) {
            Some(text) => Ok(text.clone()),
            None => fs::read_to_string(file).map_err(|error| Refusal::file("read", file, &error)),
        }
    }

    /// Edits the manifest of a package, these roots and the files beside them; gives what was done.
    pub(super) fn change(&mut self, index: usize, roots: &[&Path]) -> Result<Vec<String>, Refusal> {
        let package = &self.project.packages[index];
        if !package.folder.is_dir() {
            return Err(Refusal::NoSource { package: package.label(), folder: package.folder.clone() });
        }
        for root in roots {
            if !root.is_file() {
                return Err(Refusal::NoRoot { package: package.label(), file: root.to_path_buf() });
            }
        }
        let core = self.project.read(package).names_core;
        let way = Way { paths: package.is_of_2015(), core, calls: self.marked.contains(&index) };
        let mut files = BTreeSet::new();
        for folder in roots.iter().filter_map(|root| root.parent()).filter(|folder| *folder != package.folder) {
            rust_files(folder, &mut files)?;
        }
        let mut edits = Vec::new();
        for off in self.project.switched_off(package) {
            let mut found = false;
            for file in roots.iter().copied().chain(files.iter().map(PathBuf::as_path)) {
                let text = fs::read_to_string(file).map_err(|error| Refusal::file("read", file, &error))?;
                if let Some(text) = features::without(&text, off.feature) {
                    self.changed.insert(file.to_owned(), text);
                    found = true;
                }
            }
            if !found {
                let (label, feature) = (package.label(), off.feature);
                self.unseen
                    .push(format!("{label}: its feature `{feature}` stays on, since no file names it as expected"));
                continue;
            }
            self.switch_off(package, off, &mut edits);
        }
        for choice in choices::of(&package.name, &package.version.to_string()) {
            self.choose(package, choice, &mut edits)?;
        }
        for root in roots {
            self.edit(package, root, File::Root, way, &mut edits)?;
        }
        for file in files.iter().filter(|file| !package.roots.contains(file)) {
            self.edit(package, file, File::Module, way, &mut edits)?;
        }
        self.manifest(package, Changes { mirror: true, cap_lints: package.source.is_some() })?;
        Ok(edits)
    }

    /// Notes that a feature is off in the copy of a package.
    fn switch_off(&mut self, package: &Package, off: &features::Off, edits: &mut Vec<String>) {
        let note = format!("{}: {}", package.label(), off.said());
        edits.push(note.clone());
        self.off.push(note);
    }

    /// Makes a choice of a crate a decision of the scheduler, if the crate still has the lines that make the choice.
    fn choose(&mut self, package: &Package, choice: &choices::Choice, edits: &mut Vec<String>) -> Result<(), Refusal> {
        let read = |file: &str| {
            let file = package.folder.join(file);
            match self.changed.get(&file) {
                Some(text) => Ok(text.clone()),
                None if file.is_file() => {
                    fs::read_to_string(&file).map_err(|error| Refusal::file("read", &file, &error))
                }
                None => Ok(String::new()),
            }
        };
        let needed = choice.needs.iter().map(|(file, text)| Ok(read(file)?.contains(text)));
        let needed = needed.collect::<Result<Vec<bool>, Refusal>>()?.into_iter().all(|found| found);
        match choice.edit(&read(choice.file)?).filter(|_| needed) {
            Some(Edited { source, changes }) => {
                let file = package.folder.join(choice.file);
                let place = |line| Place { file: PathBuf::from(choice.file), line };
                let changes = changes.into_iter();
                edits.extend(changes.map(|(line, what)| format!("{} at {}: {what}", package.label(), place(line))));
                self.changed.insert(file, source);
            }
            None => {
                let (what, label, file) = (choice.what, package.label(), choice.file);
                let otherwise = choice.otherwise();
                let note = format!("{what} of {label}: {file} is not as expected, so {otherwise}");
                if !self.unseen.contains(&note) {
                    self.unseen.push(note);
                }
            }
        }
        Ok(())
    }

    fn edit(
        &mut self,
        package: &Package,
        file: &Path,
        role: File,
        way: Way,
        edits: &mut Vec<String>,
    ) -> Result<(), Refusal> {
        let text = self.text(file)?;
        if role == File::Module && !way.paths && !way.calls && !source::may_change(&text) {
            return Ok(());
        }
        let relative = file.strip_prefix(&package.folder).unwrap_or(file).to_owned();
        let place = |line| Place { file: relative.clone(), line };
        match source::edit(&text, role, way) {
            Ok(None) => Ok(()),
            Ok(Some(Edited { source, changes })) => {
                let changes = changes.into_iter();
                edits.extend(changes.map(|(line, what)| format!("{} at {}: {what}", package.label(), place(line))));
                self.changed.insert(file.to_owned(), source);
                Ok(())
            }
            // A module that no build reaches need not be Rust.
            Err(Refused::Bad(_)) if role == File::Module => Ok(()),
            Err(Refused::Bad(bad)) => {
                Err(Refusal::NoRust { package: package.label(), place: place(bad.line), reason: bad.reason })
            }
            Err(Refused::Taken { line, name }) => Err(Refusal::Unsuitable {
                package: package.label(),
                reason: format!("it has its own module named `{name}`, at {}", place(line)),
            }),
        }
    }

    pub(super) fn manifest(&mut self, package: &Package, changes: Changes) -> Result<(), Refusal> {
        let file = self.project.built_folder(package).join("Cargo.toml");
        self.manifest_at(file.clone(), changes)?;
        if package.source.is_some()
            && let Some(text) = self.changed.get(&file)
        {
            let wrong = |reason| Refusal::Manifest { file: file.clone(), reason };
            let mut text = text.clone();
            text = manifest::pin(&text, &self.versions_below(package)).map_err(wrong)?.unwrap_or(text);
            // Cargo knows folders by names and versions.
            let is_same = |own: &&Package| own.role == Role::Own && own.key() == package.key();
            if self.project.packages.iter().any(|own| is_same(&own)) {
                text = manifest::of_copy(&text, &package.version).map_err(wrong)?;
            }
            self.changed.insert(file, text);
        }
        Ok(())
    }

    /// The versions of the dependencies of a package, by name. One that it has in several versions is left out.
    fn versions_below(&self, package: &Package) -> BTreeMap<String, String> {
        let mut all: BTreeMap<String, Option<String>> = BTreeMap::new();
        for edge in package.edges.iter().filter(|edge| !edge.by_path) {
            let to = &self.project.packages[edge.to];
            let version = to.version.to_string();
            let one = all.entry(to.name.clone()).or_insert_with(|| Some(version.clone()));
            one.take_if(|other| *other != version);
        }
        all.into_iter().filter_map(|(name, version)| Some((name, version?))).collect()
    }

    fn manifest_at(&mut self, file: PathBuf, changes: Changes) -> Result<(), Refusal> {
        let text = self.text(&file)?;
        let edited = manifest::edit(&text, Some(&self.mirror), changes);
        let edited = edited.map_err(|reason| Refusal::Manifest { file: file.clone(), reason })?;
        self.changed.extend(edited.map(|text| (file, text)));
        Ok(())
    }

    /// Own crates that have the line, or that use interloper in tests, get the mirror as a dependency. In the edition of 2015 the paths
    /// of those that have the line are changed, too.
    pub(super) fn own_crates(&mut self) -> Result<(), Refusal> {
        let project = self.project;
        let is_own = |package: &Package| package.role == Role::Own;
        let uses_it = |package: &Package| {
            package.declares.contains("interloper") || package.declares.contains(crate::edits::MIRROR)
        };
        // What such crates are made of runs with them.
        let along = project.closure(project.indices(|package| is_own(package) && uses_it(package)));
        for (index, package) in project.packages.iter().enumerate().filter(|(_, package)| is_own(package)) {
            if self.copies.iter().any(|copy| copy.package == index) {
                continue;
            }
            let with_line: Vec<&Path> =
                package.roots.iter().map(PathBuf::as_path).filter(|root| has_line(root)).collect();
            if package.is_of_2015() && !with_line.is_empty() {
                let edits = self.change(index, &with_line)?;
                self.copies.push(Copied { package: index, named: false, changed: false, edits });
            } else if !with_line.is_empty() || uses_it(package) {
                self.manifest(package, Changes { mirror: true, cap_lints: false })?;
            }
            if self.project.options.harness.is_some() {
                continue;
            }
            if uses_it(package) {
                self.unseen.extend(self.project.lacks_line(package).or_else(|| self.project.lacks_core(package)));
                self.unseen.extend(self.project.declares_std_inside(package));
                self.unseen.extend(self.project.hides(package));
            } else if along.contains(&index) {
                self.unseen.extend(self.project.library_lacks_line(package));
            }
        }
        Ok(())
    }

    /// The line at the roots of the crates with a harness, and the harness at the ends of their files.
    pub(super) fn harness(&mut self) -> Result<(), Refusal> {
        let project = self.project;
        let Some(harness) = &project.options.harness else { return Ok(()) };
        let mut edits = Vec::new();
        for root in harness.roots.iter().filter(|_| !harness.every_test) {
            if self.changed.contains_key(root) {
                continue;
            }
            let own = project.packages.iter().find(|package| package.roots.contains(root));
            let Some(package) = own else { continue };
            let core = project.read(package).names_core;
            let way = Way { paths: package.is_of_2015(), core, calls: false };
            self.edit(package, root, File::Root, way, &mut edits)?;
        }
        for (file, appended) in &harness.appended {
            let mut text = self.text(file)?;
            if !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(appended);
            self.changed.insert(file.clone(), text);
        }
        Ok(())
    }

    /// The traits of other crates for the mirror's types, where a crate under control may need them.
    pub(super) fn traits(&mut self) -> Result<(), Refusal> {
        let project = self.project;
        let is_controlled = |index: usize, package: &Package| match package.role {
            Role::Own => package.roots.iter().any(|root| project.is_controlled(root)),
            _ => self.copies.iter().any(|copy| copy.changed && copy.package == index),
        };
        let controlled = project.packages.iter().enumerate().filter(|(index, package)| is_controlled(*index, package));
        let needed: BTreeSet<usize> =
            controlled.flat_map(|(_, package)| package.edges.iter().map(|edge| edge.to)).collect();
        for family in &traits::FAMILIES {
            let needed =
                needed.iter().filter(|index| family.asked_for.contains(&project.packages[**index].name.as_str()));
            for index in project.closure(needed.copied()) {
                let package = &project.packages[index];
                let (Some(implemented), Some(root)) = (family.of(&package.name, &package.version), package.library())
                else {
                    continue;
                };
                if package.source.is_none() || self.copies.iter().any(|copy| copy.package == index) {
                    continue;
                }
                let text = fs::read_to_string(root).map_err(|error| Refusal::file("read", root, &error))?;
                self.changed.insert(root.to_owned(), text + implemented.source);
                self.manifest(package, Changes { mirror: true, cap_lints: true })?;
                let edits = vec![format!("{} implements its traits for the types of the mirror", package.label())];
                self.copies.push(Copied { package: index, named: false, changed: false, edits });
            }
        }
        Ok(())
    }

    /// What Interloper brings along implements nothing that the project does not have without it: the checker gets such a crate for
    /// itself, see [`Work::keep_for_checker`]. The manifests of a checker that is not in a folder stay as they are, so there the crate
    /// is changed, unless others need it, too.
    pub(super) fn unwanted(&mut self) -> Result<(), Refusal> {
        let Unwanted { package: name, file, .. } = UNWANTED;
        let project = self.project;
        for index in project.indices(|package| package.source.is_some() && package.name == name) {
            let package = &project.packages[index];
            let path = package.folder.join(file);
            // A version that is written in another way stays as it is: a build that fails for it says what to do.
            let Ok(text) = fs::read_to_string(&path) else { continue };
            let Some(without) = Unwanted::without(name, Path::new(file), &text) else { continue };
            let mut above = project.packages.iter().filter(|other| other.needs(index));
            if above.clone().any(|other| other.role == Role::Interloper && other.source.is_none()) {
                self.unwanted.insert(index);
                continue;
            }
            let is_copied = self.copies.iter().any(|copy| copy.package == index);
            if is_copied || above.any(|other| other.role != Role::Interloper) {
                continue;
            }
            self.changed.insert(path, without);
            self.manifest(package, Changes { mirror: false, cap_lints: true })?;
            let edits = vec![format!("{} compares its values with those of no other types", package.label())];
            self.copies.push(Copied { package: index, named: false, changed: false, edits });
        }
        Ok(())
    }

    /// What a copy of a repository's package names by its folder is beside it, so it is copied, too.
    pub(super) fn companions(&mut self) {
        let mut at = 0;
        while at < self.copies.len() {
            let package = &self.project.packages[self.copies[at].package];
            at += 1;
            if package.source.is_none() {
                continue;
            }
            for edge in package.edges.iter().filter(|edge| edge.by_path) {
                if !self.copies.iter().any(|copy| copy.package == edge.to) {
                    self.copies.push(Copied { package: edge.to, named: false, changed: false, edits: Vec::new() });
                }
            }
        }
        self.copies.sort_by_key(|copy| copy.package);
    }

    pub(super) fn nodes(&self, tree: &Tree) -> Result<Nodes, Refusal> {
        let mut nodes = Nodes::new();
        let elsewhere = self.copies.iter().map(|copy| &self.project.packages[copy.package]);
        for package in elsewhere.filter(|package| package.source.is_some()) {
            let built = self.project.built_folder(package);
            if built == package.folder {
                tree.copied(&package.folder, &self.changed, &mut nodes)?;
            }
            self.folders_of_texts(&built, &mut nodes);
            // What another project has in the place of the package stays.
            if replacement::mirrors().any(|mirrored| mirrored == package.name) {
                nodes.entry(package.folder.join(replacement::STAND_IN)).or_insert(Node::Folder);
            }
            if package.source.as_ref().is_some_and(|source| source.starts_with("git+")) {
                // Keys may be inherited from a manifest above it, inside the repository.
                let above = package.folder.ancestors().skip(1).take_while(|folder| !folder.ends_with("checkouts"));
                let manifests = above.map(|folder| folder.join("Cargo.toml")).filter(|manifest| manifest.is_file());
                for manifest in manifests {
                    nodes.entry(manifest).or_insert(Node::Copy);
                }
            }
        }
        let kept = self.kept.iter().map(|&index| self.project.packages[index].folder.join(replacement::FOLDER));
        kept.for_each(|folder| self.folders_of_texts(&folder, &mut nodes));
        nodes.extend(self.project.locals.nodes(tree, &self.changed)?);
        Ok(nodes)
    }

    /// The folders of changed files, from `outermost` on. They have nothing else in them.
    fn folders_of_texts(&self, outermost: &Path, nodes: &mut Nodes) {
        let files = self.changed.keys().filter(|file| file.starts_with(outermost));
        let folders = files.flat_map(|file| file.ancestors().skip(1)).filter(|folder| folder.starts_with(outermost));
        nodes.extend(folders.map(|folder| (folder.to_owned(), Node::Exactly)));
    }
}

/// The roots of a package that are built, and so are to be under control.
fn built_roots(package: &Package) -> Vec<&Path> {
    match (package.library(), &package.source) {
        // Binaries and tests of a dependency are not built.
        (Some(library), Some(_)) => vec![library],
        (Some(library), None) if package.role != Role::Own => vec![library],
        _ => package.roots.iter().map(PathBuf::as_path).collect(),
    }
}
