//! The copies that are put under control.

mod line;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use self::line::has_line;
use crate::announce;
use crate::cargo::Races;
use crate::edits::choices;
use crate::edits::features;
use crate::edits::manifest::{self, Changes, Mirror};
use crate::edits::source::{self, Edited, Refused, Role as File, Way};
use crate::edits::traits;
use crate::place::Place;
use crate::plan::Class;
use crate::project::{Package, Project, Role};
use crate::refusal::Refusal;
use crate::replacement::{self, Choice, Replacement};
use crate::tree::{self, Node, Nodes, Tree};

/// What a crate calls points in time by.
const STD_TIME: &str = "std::time::";

/// The crates with collections that can be the subject of a composed operation as they are.
const COLLECTIONS: [&str; 10] = [
    "arc-swap",
    "crossbeam-queue",
    "crossbeam-skiplist",
    "dashmap",
    "flurry",
    "moka",
    "once_cell",
    "papaya",
    "quick_cache",
    "scc",
];

/// What is to be put under control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// What the manifests say: `instrument` in `[package.metadata.interloper]` and `[workspace.metadata.interloper]`.
    Manifest,
    /// These: `name`, or `name@version` for one of several versions; `all` for all that the plan proposes. What the plan
    /// says cannot be put under control is put there all the same: who names it knows better.
    Named(Vec<String>),
    /// All that the plan proposes.
    All,
}

/// A project whose copies are made.
pub struct Controlled {
    pub(crate) project: Project,
    pub(crate) tree: Tree,
    /// In the order of names and versions.
    pub(crate) copies: Vec<Copied>,
    /// What waits unseen below what is under control, with the reason.
    pub unseen: Vec<String>,
    /// Whether executions are judged for data races; if not, why.
    pub races: Result<(), String>,
    /// The file with an allocator of the project's own, if there is one.
    pub own_allocator: Option<PathBuf>,
    /// Whether each load and each store is announced, so that they can be steps.
    pub announces_all: bool,
}

/// A package that is built from its copy.
#[derive(Clone, Debug)]
pub(crate) struct Copied {
    pub(crate) package: usize,
    /// Whether it was asked for, or has come along.
    pub(crate) named: bool,
    /// Whether it is under control, or only copied for others that are.
    pub(crate) changed: bool,
    /// What was done, in the words of a report.
    pub(crate) edits: Vec<String>,
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
        let named = self.select(selection)?.difference(&leave).copied().collect();
        let tree = Tree::new(self.folder.join("tree"));
        let mut work = Work {
            project: &self,
            mirror,
            changed: self.locals.manifests(&tree)?,
            marked: self.marked()?,
            copies: Vec::new(),
            unseen: Vec::new(),
        };
        work.come_along(&named, &leave)?;
        work.own_crates()?;
        work.harness()?;
        work.traits()?;
        work.companions();
        let nodes = work.nodes(&tree)?;
        let Work { copies, unseen, .. } = work;
        let races = self.judges_races(&copies);
        let own_allocator = self.own_allocator()?;
        let announces_all = self.announces_all(own_allocator.as_deref())?;
        tree.make(nodes)?;
        let lock = fs::read(&self.lock).map_err(|error| Refusal::file("read", &self.lock, &error))?;
        tree::write_file(&tree.of(&self.locals.lock()), &lock)?;
        Ok(Controlled { project: self, tree, copies, unseen, races, own_allocator, announces_all })
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

    /// Whether the program announces its loads and stores.
    pub(crate) fn announces(&self) -> bool {
        announce::is_possible(&self.triple)
    }

    /// Whether executions are judged for data races; if not, why.
    fn judges_races(&self, copies: &[Copied]) -> Result<(), String> {
        if !self.announces() {
            return Err(format!("the compiler cannot announce loads and stores for {}", self.triple));
        }
        match self.options.races {
            Races::On => return Ok(()),
            Races::Off => return Err("`--races off`".to_owned()),
            Races::Auto => {}
        }
        let is_outside = |index: usize, package: &Package| {
            let is_copied = copies.iter().any(|copy| copy.changed && copy.package == index);
            package.role == Role::Dependency && !is_copied
        };
        let packages = self.packages.iter().enumerate().filter(|(index, package)| is_outside(*index, package));
        let synchronises =
            |package: &Package| matches!(self.read(package).class, Class::Instrument | Class::Replace | Class::Cannot);
        let outside: Vec<String> =
            packages.map(|(_, package)| package).filter(|package| synchronises(package)).map(Package::label).collect();
        if outside.is_empty() {
            return Ok(());
        }
        let (shown, more) =
            (outside.iter().take(3).cloned().collect::<Vec<_>>().join(", "), outside.len().saturating_sub(3));
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        Err(format!("{shown}{more} may synchronise outside of control (`--instrument`, or `--races on`)"))
    }

    /// Whether each load and each store has to be announced: the command asks for steps at plain memory, or a test of the project
    /// does.
    fn announces_all(&self, own_allocator: Option<&Path>) -> Result<bool, Refusal> {
        let asks = |text: &str| {
            let text: String = text.chars().filter(|letter| !letter.is_whitespace()).collect();
            text.contains("preempt=\"memory\"") || text.contains("Preempt::Memory")
        };
        let reason = match own_allocator {
            _ if !self.announces() => format!("the compiler cannot announce them for {}", self.triple),
            Some(file) => {
                format!("the project has an allocator of its own, which must not be interrupted: {}", file.display())
            }
            None => return Ok(self.options.preempts || self.find_file(&[Role::Own], asks)?.is_some()),
        };
        // A test that asks for them says so itself.
        let refused = || Refusal::Request(format!("loads and stores cannot be steps: {reason}"));
        if self.options.preempts { Err(refused()) } else { Ok(false) }
    }

    /// The file in which the project, or a crate that it is made of, has an allocator of its own.
    fn own_allocator(&self) -> Result<Option<PathBuf>, Refusal> {
        self.find_file(&[Role::Own, Role::Dependency], |text| {
            text.contains("global_allocator")
                && text.lines().any(|line| line.trim_start().starts_with("#[global_allocator]"))
        })
    }

    /// The first file of a package with one of these roles whose text is so.
    fn find_file(&self, roles: &[Role], has: impl Fn(&str) -> bool) -> Result<Option<PathBuf>, Refusal> {
        let of = |package: &Package| {
            let mut files = BTreeSet::new();
            if roles.contains(&package.role) {
                let is_own = package.role == Role::Own;
                let folders = if is_own { &["src", "tests", "examples", "benches"][..] } else { &["src"] };
                for folder in folders.iter().map(|folder| package.folder.join(folder)).filter(|folder| folder.is_dir())
                {
                    rust_files(&folder, &mut files)?;
                }
            }
            Ok(files.into_iter().find(|file| has(&fs::read_to_string(file).unwrap_or_default())))
        };
        for package in &self.packages {
            if let Some(file) = of(package)? {
                return Ok(Some(file));
            }
        }
        Ok(None)
    }

    /// The packages whose methods are marked if they come under control: those that have collections which the driver of
    /// composed operations knows, and those that `calls` in the manifests lists.
    fn marked(&self) -> Result<BTreeSet<usize>, Refusal> {
        let known = self.indices(|package| COLLECTIONS.contains(&package.name.as_str()));
        Ok(self.named(self.listed("calls")?)?.into_iter().chain(known).collect())
    }

    /// The packages that are asked for.
    fn select(&self, selection: &Selection) -> Result<BTreeSet<usize>, Refusal> {
        let names = match selection {
            Selection::All => vec!["all".to_owned()],
            Selection::Named(names) => names.clone(),
            Selection::Manifest => self.listed("instrument")?,
        };
        let (all, names): (Vec<_>, Vec<_>) = names.into_iter().partition(|name| name == "all");
        let mut selected = self.named(names)?;
        if !all.is_empty() {
            selected.extend(self.proposed());
        }
        Ok(selected)
    }

    /// The packages with these names.
    fn named(&self, names: Vec<String>) -> Result<BTreeSet<usize>, Refusal> {
        let mut selected = BTreeSet::new();
        for name in names {
            let (wanted, version) = name.split_once('@').map_or((name.as_str(), None), |(a, b)| (a, Some(b)));
            let fits = |package: &Package| {
                package.name == wanted && version.is_none_or(|version| package.version.to_string() == version)
            };
            let found = self.indices(fits);
            if found.is_empty() {
                return Err(Refusal::NotADependency { similar: self.similar(wanted), name });
            }
            found.iter().try_for_each(|index| suitable(&self.packages[*index]))?;
            selected.extend(found);
        }
        Ok(selected)
    }

    /// All that the plan proposes.
    fn proposed(&self) -> BTreeSet<usize> {
        let proposed = |package: &Package| {
            package.role == Role::Dependency && matches!(self.judge(package).class, Class::Instrument | Class::Replace)
        };
        self.indices(proposed).into_iter().collect()
    }

    /// The packages whose originals are wanted although there are mirrors of them, by their names.
    pub(crate) fn wanted_originals(&self) -> Result<BTreeSet<String>, Refusal> {
        let names: BTreeSet<String> =
            self.listed("real")?.into_iter().chain(self.options.real.iter().cloned()).collect();
        match names.iter().find(|name| !replacement::mirrors().any(|mirror| mirror == *name)) {
            Some(name) => Err(Refusal::NoMirrorOf { name: name.clone(), known: replacement::mirrors().collect() }),
            None => Ok(names),
        }
    }

    /// What the manifests list under a key.
    fn listed(&self, key: &str) -> Result<Vec<String>, Refusal> {
        let mut names = Vec::new();
        let own = self.packages.iter().filter(|package| package.role == Role::Own);
        let metadata = own.map(|package| (package.folder.join("Cargo.toml"), &package.metadata));
        let workspace = (self.locals.manifest(), &self.workspace_metadata);
        for (file, metadata) in metadata.chain([workspace]) {
            let Some(list) = metadata.get("interloper").and_then(|ours| ours.get(key)) else { continue };
            let wrong = || Refusal::Manifest {
                file: file.clone(),
                reason: format!("`metadata.interloper.{key}` is not a list of names"),
            };
            for name in list.as_array().ok_or_else(wrong)? {
                names.push(name.as_str().ok_or_else(wrong)?.to_owned());
            }
        }
        names.sort();
        names.dedup();
        Ok(names)
    }

    fn similar(&self, name: &str) -> Option<String> {
        let possible = self.packages.iter().filter(|package| suitable(package).is_ok());
        let scored = possible.map(|package| (strsim::jaro_winkler(name, &package.name), &package.name));
        let best = scored.filter(|(score, _)| *score > 0.8).max_by(|a, b| a.0.total_cmp(&b.0));
        best.map(|(_, name)| name.clone())
    }
}

fn suitable(package: &Package) -> Result<(), Refusal> {
    let reason = match package.role {
        Role::Own | Role::Dependency | Role::Development => return Ok(()),
        Role::Macro => "it is a procedural macro, which runs while the project is built",
        Role::Build => "only build scripts and procedural macros use it",
        Role::Interloper => "it is a part of interloper",
        Role::BelowInterloper => "only interloper itself uses it",
    };
    Err(Refusal::Unsuitable { package: package.label(), reason: reason.to_owned() })
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

/// What is to be written, before anything is.
struct Work<'a> {
    project: &'a Project,
    mirror: Mirror,
    /// The files that are not as they were, by the paths of the originals.
    changed: BTreeMap<PathBuf, String>,
    /// Those whose methods are marked.
    marked: BTreeSet<usize>,
    copies: Vec<Copied>,
    unseen: Vec<String>,
}

impl Work<'_> {
    /// Puts what is named under control, and with it what synchronises among what it is made of, and among what is made
    /// of it: whoever speaks to a crate under control about a mutex must mean the same mutex.
    fn come_along(&mut self, named: &BTreeSet<usize>, leave: &BTreeSet<usize>) -> Result<(), Refusal> {
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
                } else if matches!(judged.class, Class::Instrument | Class::Replace) {
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
                    self.change(index, named.contains(&index), project.read(package).names_core)?
                }
            }
        }
        self.unseen.sort();
        Ok(())
    }

    fn replace(&mut self, index: usize, replacement: &Replacement, named: bool) -> Result<(), Refusal> {
        let package = &self.project.packages[index];
        for (file, text) in replacement.files() {
            self.changed.insert(package.folder.join(file), text);
        }
        if replacement.is_mirror() {
            self.keep_original(package)?;
        }
        let manifest = replacement.manifest(&package.version, &package.all_features);
        self.changed.insert(package.folder.join("Cargo.toml"), manifest);
        self.manifest(package, Changes { mirror: true, cap_lints: true })?;
        let mut edit = format!("{} is replaced by a version written for interloper", package.label());
        if replacement.is_mirror() {
            edit.push_str(&format!("; `--real {}` builds the original instead", package.name));
        }
        let edits = vec![edit];
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
        let folder = package.folder.join(replacement::FOLDER);
        self.changed.insert(folder.join("Cargo.toml"), manifest);
        for file in files {
            let relative = file.strip_prefix(&package.folder).unwrap_or(&file);
            self.changed.insert(folder.join(relative), read(&file)?.replace(time.0, &time.1));
        }
        self.manifest_at(folder.join("Cargo.toml"), Changes { mirror: true, cap_lints: true })
    }

    /// Edits the root and the manifest of a package.
    fn change(&mut self, index: usize, named: bool, core: bool) -> Result<(), Refusal> {
        let package = &self.project.packages[index];
        if !package.folder.is_dir() {
            return Err(Refusal::NoSource { package: package.label(), folder: package.folder.clone() });
        }
        let roots: Vec<&Path> = match (package.library(), &package.source) {
            // Binaries and tests of a dependency are not built.
            (Some(library), Some(_)) => vec![library],
            (Some(library), None) if package.role != Role::Own => vec![library],
            _ => package.roots.iter().map(PathBuf::as_path).collect(),
        };
        for root in &roots {
            if !root.is_file() {
                return Err(Refusal::NoRoot { package: package.label(), file: root.to_path_buf() });
            }
        }
        let way = Way { paths: package.edition == "2015", core, calls: self.marked.contains(&index) };
        let mut files = BTreeSet::new();
        for folder in roots.iter().filter_map(|root| root.parent()).filter(|folder| *folder != package.folder) {
            rust_files(folder, &mut files)?;
        }
        let mut edits = Vec::new();
        for (feature, what) in features::off(&package.name) {
            for file in roots.iter().copied().chain(files.iter().map(PathBuf::as_path)) {
                let text = fs::read_to_string(file).map_err(|error| Refusal::file("read", file, &error))?;
                self.changed.extend(features::without(&text, feature).map(|text| (file.to_owned(), text)));
            }
            edits.push(format!("{}: the feature `{feature}` is off, which is {what}", package.label()));
        }
        for choice in choices::of(&package.name, &package.version.to_string()) {
            self.choose(package, choice, &mut edits)?;
        }
        for root in &roots {
            self.edit(package, root, File::Root, way, &mut edits)?;
        }
        for file in files.iter().filter(|file| !roots.contains(&file.as_path())) {
            self.edit(package, file, File::Module, way, &mut edits)?;
        }
        self.manifest(package, Changes { mirror: true, cap_lints: package.source.is_some() })?;
        self.copies.push(Copied { package: index, named, changed: true, edits });
        Ok(())
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
        let text = match self.changed.get(file) {
            Some(text) => text.clone(),
            None => fs::read_to_string(file).map_err(|error| Refusal::file("read", file, &error))?,
        };
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

    fn manifest(&mut self, package: &Package, changes: Changes) -> Result<(), Refusal> {
        self.manifest_at(package.folder.join("Cargo.toml"), changes)
    }

    fn manifest_at(&mut self, file: PathBuf, changes: Changes) -> Result<(), Refusal> {
        let text = match self.changed.get(&file) {
            Some(text) => text.clone(),
            None => fs::read_to_string(&file).map_err(|error| Refusal::file("read", &file, &error))?,
        };
        let edited = manifest::edit(&text, Some(&self.mirror), changes);
        let edited = edited.map_err(|reason| Refusal::Manifest { file: file.clone(), reason })?;
        self.changed.extend(edited.map(|text| (file, text)));
        Ok(())
    }

    /// Own crates that have the line, or that use interloper in tests, get the mirror as a dependency.
    fn own_crates(&mut self) -> Result<(), Refusal> {
        for package in self.project.packages.iter().filter(|package| package.role == Role::Own) {
            let has_line = package.roots.iter().any(|root| has_line(root));
            let uses_it = package.declares.contains("interloper") || package.declares.contains(crate::edits::MIRROR);
            if has_line || uses_it {
                self.manifest(package, Changes { mirror: true, cap_lints: false })?;
            }
            if uses_it && self.project.options.harness.is_none() {
                self.unseen.extend(self.project.lacks_line(package));
            }
        }
        Ok(())
    }

    /// The line at the roots of the crates with a harness, and the harness at the ends of their files.
    fn harness(&mut self) -> Result<(), Refusal> {
        let project = self.project;
        let Some(harness) = &project.options.harness else { return Ok(()) };
        let mut edits = Vec::new();
        for root in &harness.roots {
            let own = project.packages.iter().find(|package| package.roots.contains(root));
            let Some(package) = own else { continue };
            let core = project.read(package).names_core;
            let way = Way { paths: package.edition == "2015", core, calls: false };
            self.edit(package, root, File::Root, way, &mut edits)?;
        }
        for (file, appended) in &harness.appended {
            let mut text = match self.changed.get(file) {
                Some(text) => text.clone(),
                None => fs::read_to_string(file).map_err(|error| Refusal::file("read", file, &error))?,
            };
            if !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(appended);
            self.changed.insert(file.clone(), text);
        }
        Ok(())
    }

    /// The traits of other crates for the mirror's types, where a crate under control may need them.
    fn traits(&mut self) -> Result<(), Refusal> {
        let project = self.project;
        let harness = project.options.harness.as_ref();
        let is_controlled = |index: usize, package: &Package| match package.role {
            Role::Own => {
                let has_harness = |root| harness.is_some_and(|harness| harness.roots.contains(root));
                package.roots.iter().any(|root| has_line(root) || has_harness(root))
            }
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

    /// What a copy of a repository's package names by its folder is beside it, so it is copied, too.
    fn companions(&mut self) {
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

    fn nodes(&self, tree: &Tree) -> Result<Nodes, Refusal> {
        let mut nodes = Nodes::new();
        let elsewhere = self.copies.iter().map(|copy| &self.project.packages[copy.package]);
        for package in elsewhere.filter(|package| package.source.is_some()) {
            match self.project.replacement(package) {
                Choice::Replace(_) => {
                    let files = self.changed.keys().filter(|file| file.starts_with(&package.folder));
                    let folders = files.flat_map(|file| file.ancestors().skip(1));
                    let folders = folders.filter(|folder| folder.starts_with(&package.folder));
                    nodes.extend(folders.map(|folder| (folder.to_owned(), Node::Exactly)));
                }
                Choice::Real(_) | Choice::None => tree.copied(&package.folder, &self.changed, &mut nodes)?,
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
        nodes.extend(self.project.locals.nodes(tree, &self.changed)?);
        Ok(nodes)
    }
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
