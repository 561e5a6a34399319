//! A project: its packages as cargo has resolved them, and what each is to it.

mod in_tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use cargo_metadata::{CrateType, DependencyKind, Metadata, TargetKind};

use crate::announce::quiet;
use crate::cargo::{Cargo, Options};
use crate::edits::features::{self, Off};
use crate::edits::{MIRROR, choices};
use crate::locals::Locals;
use crate::reading::condition::Configuration;
use crate::refusal::Refusal;
use crate::replacement::{self, Choice, Replacement};
use crate::tree::{self, Tree};
use in_tests::Checked;

/// A project whose dependencies are known.
pub struct Project {
    pub(crate) cargo: Cargo,
    pub(crate) options: Options,
    /// The manifest that was asked for.
    pub(crate) manifest: PathBuf,
    pub(crate) locals: Locals,
    /// Where everything of ours is.
    pub(crate) folder: PathBuf,
    /// The lock file that cargo would have written.
    pub(crate) lock: PathBuf,
    /// In the order of their names and versions.
    pub(crate) packages: Vec<Package>,
    /// The mirror of std, where the project depends on one.
    pub(crate) mirror: Option<usize>,
    pub(crate) mirrors: Vec<String>,
    pub(crate) workspace_metadata: serde_json::Value,
    /// The packages that a build without `--package` builds.
    pub(crate) default_members: BTreeSet<usize>,
    /// The names of packages whose originals are wanted although there are mirrors of them.
    pub(crate) real: BTreeSet<String>,
    /// The platform that is built for.
    pub(crate) triple: String,
    /// What `rustc --print cfg` says of it.
    target: BTreeSet<String>,
    /// While it is open, nobody else changes the folder.
    pub(crate) held: Option<File>,
}

/// A package in one version.
#[derive(Clone, Debug)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: cargo_metadata::semver::Version,
    /// Where it comes from; `None` for a folder.
    pub(crate) source: Option<String>,
    /// The original folder.
    pub(crate) folder: PathBuf,
    /// The roots of its crates, but build scripts. The library is the first.
    pub(crate) roots: Vec<PathBuf>,
    /// The names of these crates, as the compiler knows them.
    pub(crate) crates: BTreeSet<String>,
    pub(crate) has_library: bool,
    pub(crate) edition: &'static str,
    pub(crate) is_macro: bool,
    /// Those that are on.
    pub(crate) features: BTreeSet<String>,
    pub(crate) all_features: BTreeSet<String>,
    pub(crate) edges: Vec<Edge>,
    /// The sources that the dependents of this package name, as `[patch]` does.
    pub(crate) declared: BTreeSet<String>,
    /// The names of the packages that it declares, of any kind.
    pub(crate) declares: BTreeSet<String>,
    /// Whether its manifest may bring interloper in under a name that does not say so: see [`quiet`].
    pub(crate) hides_interloper: bool,
    pub(crate) role: Role,
    pub(crate) metadata: serde_json::Value,
}

/// A dependency.
#[derive(Clone, Debug)]
pub(crate) struct Edge {
    pub(crate) to: usize,
    /// The name that the source has for it.
    pub(crate) name: String,
    pub(crate) normal: bool,
    pub(crate) development: bool,
    /// Whether it is given as a folder.
    pub(crate) by_path: bool,
    /// The features that the package itself turns on. Others may turn on more.
    pub(crate) features: Features,
}

/// The features of a normal dependency that a package turns on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Features {
    pub(crate) default: bool,
    pub(crate) named: BTreeSet<String>,
}

/// What a package is to the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// A member of the workspace.
    Own,
    /// What own crates are made of, and the programs that their tests check.
    Dependency,
    /// What only their other tests are made of, and their benchmarks and examples.
    Development,
    /// A procedural macro.
    Macro,
    /// What only build scripts and procedural macros are made of.
    Build,
    /// The mirror, and what is made with it.
    Interloper,
    /// What only the former is made of.
    BelowInterloper,
}

impl Package {
    /// Whether its edition is that of 2015, in which the compiler itself declares `std`.
    pub(crate) fn is_of_2015(&self) -> bool {
        self.edition == "2015"
    }

    /// Name and version.
    pub(crate) fn label(&self) -> String {
        format!("{} {}", self.name, self.version)
    }

    /// How it is named where its name alone may mean several: `name@version`.
    pub(crate) fn key(&self) -> String {
        format!("{}@{}", self.name, self.version)
    }

    /// Whether it has this dependency, of any kind.
    pub(crate) fn needs(&self, index: usize) -> bool {
        self.edges.iter().any(|edge| edge.to == index)
    }

    /// Whether it asks the system for random numbers, and its copy takes them from the seed.
    pub(crate) fn draws_random_numbers(&self) -> bool {
        choices::draws_from_seed(&self.name, &self.version.to_string())
    }

    /// Whether it asks the system for random numbers, in a version that no edit fits.
    pub(crate) fn draws_unseen_numbers(&self) -> bool {
        let is_used = matches!(self.role, Role::Own | Role::Dependency | Role::Development);
        is_used && self.name == choices::GETRANDOM && !self.draws_random_numbers()
    }

    pub(crate) fn library(&self) -> Option<&Path> {
        self.roots.first().filter(|_| self.has_library).map(PathBuf::as_path)
    }
}

impl Project {
    /// Reads a project from `folder` on. Nothing of it is changed, its lock file included.
    ///
    /// # Errors
    /// When cargo cannot read it, or a lock file that must be as it should be is not.
    pub fn open(folder: &Path, options: Options) -> Result<Project, Refusal> {
        let cargo = Cargo::new(folder);
        let manifest = match &options.manifest {
            Some(manifest) => folder.join(manifest),
            None => cargo.find_manifest()?,
        };
        if options.locked {
            // Where this succeeds, it writes nothing.
            cargo.metadata(&manifest, options.resolving().chain(["--locked".into()]))?;
        }
        let locals = Locals::find(&cargo, &manifest, options.harness.as_ref())?;
        let folder = locals.target.join("interloper");
        mark_as_built(&locals.target)?;
        let held = hold(&folder)?;
        let tree = Tree::new(folder.join("as-it-is"));
        tree.make(locals.nodes(&tree, &locals.manifests(&tree)?)?)?;
        let lock = tree.of(&locals.lock());
        if let Ok(users) = fs::read(locals.lock()) {
            tree::write_file(&lock, &users)?;
        }
        let mut arguments: Vec<_> = options.resolving().collect();
        let triple = match &options.target {
            Some(triple) => triple.clone(),
            None => host(&cargo.rustc(&["-vV"])?),
        };
        arguments.extend(["--filter-platform".into(), triple.clone().into()]);
        let metadata = cargo.metadata(&tree.of(&manifest), arguments)?;
        let target = cargo.rustc(&["--print", "cfg", "--target", &triple])?.lines().map(str::to_owned).collect();
        let packages = packages(&metadata, &tree);
        let mut project = Project {
            default_members: default_members(&metadata, &packages, &tree),
            packages,
            cargo,
            options,
            manifest,
            locals,
            folder,
            lock,
            mirror: None,
            mirrors: Vec::new(),
            workspace_metadata: metadata.workspace_metadata.clone(),
            real: BTreeSet::new(),
            triple,
            target,
            held: Some(held),
        };
        project.find_mirror();
        project.give_roles(&metadata, &tree);
        project.real = project.wanted_originals()?;
        Ok(project)
    }

    /// What is built in the place of a package.
    pub(crate) fn replacement(&self, package: &Package) -> Choice<&'static Replacement> {
        replacement::of(&package.name, &package.version, &package.features, &self.real)
    }

    /// Whether something else is built in the place of a package.
    pub(crate) fn is_replaced(&self, package: &Package) -> bool {
        matches!(self.replacement(package), Choice::Replace(_))
    }

    /// The folder of what is built in the place of a package, as a path of the original. What replaces a package is below the folder of its
    /// copy: where one project has the one and another project the other, neither undoes the build of the other.
    pub(crate) fn built_folder(&self, package: &Package) -> PathBuf {
        if self.is_replaced(package) { package.folder.join(replacement::STAND_IN) } else { package.folder.clone() }
    }

    /// The features that the project turns on for a package, and that are off in its copy.
    pub(crate) fn switched_off<'a>(&self, package: &'a Package) -> impl Iterator<Item = &'static Off> + use<'a> {
        let is_replaced = self.is_replaced(package);
        features::off(&package.name, &package.features).filter(move |off| off.edited != is_replaced)
    }

    /// What `package` is compiled with.
    pub(crate) fn configuration(&self, package: &Package) -> Configuration {
        let mut on = package.features.clone();
        for off in self.switched_off(package) {
            on.remove(off.feature);
        }
        Configuration { target: self.target.clone(), features: on }
    }

    /// The packages that `from` is made of, itself included; procedural macros and what is below them are not.
    pub(crate) fn closure(&self, from: impl IntoIterator<Item = usize>) -> BTreeSet<usize> {
        let stop = |index: usize| self.packages[index].is_macro || self.packages[index].role == Role::Interloper;
        self.reach(from.into_iter().collect(), stop)
    }

    /// The packages of the workspace that a build builds. If that is not clear from its options, all of the workspace.
    fn built_members(&self) -> BTreeSet<usize> {
        let is_own = |index: &usize| self.packages[*index].role == Role::Own;
        let all = || (0..self.packages.len()).filter(is_own).collect();
        let mut named = BTreeSet::new();
        let mut options = self.options.build.iter();
        while let Some(option) = options.next() {
            match option.to_str() {
                Some("--workspace") => return all(),
                Some("--package") => {
                    let Some(name) = options.next() else { return all() };
                    let is_meant = |package: &Package| name == package.name.as_str() || name == package.key().as_str();
                    let meant: Vec<usize> = self.indices(is_meant).into_iter().filter(is_own).collect();
                    // A pattern, or the address of a package.
                    if meant.is_empty() {
                        return all();
                    }
                    named.extend(meant);
                }
                _ => {}
            }
        }
        let members = if named.is_empty() { self.default_members.clone() } else { named };
        if members.is_empty() { all() } else { members }
    }

    /// The packages that a build builds, and those that they and their tests are made of.
    pub(crate) fn built(&self) -> BTreeSet<usize> {
        let members = self.built_members();
        let tests = members.iter().flat_map(|index| &self.packages[*index].edges).filter(|edge| edge.development);
        let tests: Vec<usize> = tests.map(|edge| edge.to).collect();
        self.closure(members.into_iter().chain(tests))
    }

    /// What is reached by dependencies that are neither for builds nor for tests; from where `stop` says so, on no further.
    pub(crate) fn reach(&self, mut open: Vec<usize>, stop: impl Fn(usize) -> bool) -> BTreeSet<usize> {
        let mut reached = BTreeSet::new();
        while let Some(index) = open.pop() {
            if reached.insert(index) && !stop(index) {
                let edges = self.packages[index].edges.iter();
                open.extend(edges.filter(|edge| edge.normal).map(|edge| edge.to));
            }
        }
        reached
    }

    fn find_mirror(&mut self) {
        let mirrors = self.packages.iter().enumerate().filter(|(_, package)| package.name == MIRROR);
        let mirrors: Vec<usize> = mirrors.map(|(index, _)| index).collect();
        self.mirror = mirrors.first().copied();
        self.mirrors = mirrors.into_iter().map(|index| self.packages[index].label()).collect();
    }

    fn give_roles(&mut self, metadata: &Metadata, tree: &Tree) {
        let members: BTreeSet<PathBuf> =
            metadata.workspace_packages().into_iter().map(|package| folder(package, tree)).collect();
        let own: Vec<usize> = self.indices(|package| members.contains(&package.folder));
        let all: Vec<usize> = (0..self.packages.len()).collect();
        let is_tool = |index: &usize| {
            let Some(mirror) = self.mirror else { return false };
            let package = &self.packages[*index];
            // Not all parts of interloper use the mirror; those that do not come from the same place.
            let named = package.name.starts_with("interloper-") && package.source == self.packages[mirror].source;
            named || self.reach(vec![*index], |_| false).contains(&mirror)
        };
        let tools: BTreeSet<usize> = all.iter().copied().filter(|index| !own.contains(index)).filter(is_tool).collect();
        // Procedural macros are reached, what is below them is not.
        let is_macro = |index: usize| self.packages[index].is_macro;
        let stop = |index: usize| is_macro(index) || tools.contains(&index);
        let from = |which: fn(&Edge) -> bool| {
            let edges = own.iter().flat_map(|index| self.packages[*index].edges.iter());
            edges.filter(|edge| which(edge)).map(|edge| edge.to).collect::<Vec<usize>>()
        };
        let all_are_checked = self.options.harness.as_ref().is_some_and(|harness| harness.every_test);
        let in_checks = own.iter().flat_map(|index| {
            let package = &self.packages[*index];
            let development = package.edges.iter().filter(|edge| edge.development && !tools.contains(&edge.to));
            let mut checked = None;
            let of_checks = development.filter(move |edge| {
                checked.get_or_insert_with(|| Checked::of(package, all_are_checked)).name(&edge.name)
            });
            of_checks.map(|edge| edge.to)
        });
        let dependencies = from(|edge| edge.normal).into_iter().chain(in_checks).collect();
        // From the least important role to the most important one.
        let mut roles = vec![Role::Build; self.packages.len()];
        for (reached, role) in [
            (self.reach(tools.iter().copied().collect(), is_macro), Role::BelowInterloper),
            (self.reach(from(|edge| edge.development), stop), Role::Development),
            (self.reach(dependencies, stop), Role::Dependency),
        ] {
            reached.into_iter().for_each(|index| roles[index] = role);
        }
        for index in all {
            if tools.contains(&index) {
                roles[index] = Role::Interloper;
            } else if self.packages[index].is_macro {
                roles[index] = Role::Macro;
            }
        }
        own.iter().for_each(|index| roles[*index] = Role::Own);
        self.packages.iter_mut().zip(roles).for_each(|(package, role)| package.role = role);
    }

    pub(crate) fn indices(&self, which: impl Fn(&Package) -> bool) -> Vec<usize> {
        (0..self.packages.len()).filter(|index| which(&self.packages[*index])).collect()
    }
}

impl Options {
    /// What `cargo metadata` is told.
    pub(crate) fn resolving(&self) -> impl Iterator<Item = std::ffi::OsString> + '_ {
        self.features.iter().chain(&self.settings).cloned()
    }
}

/// A folder of build results has a mark, so that backups leave it out. Cargo makes it where it makes the folder.
fn mark_as_built(target: &Path) -> Result<(), Refusal> {
    if target.exists() {
        return Ok(());
    }
    tree::write_file(
        &target.join("CACHEDIR.TAG"),
        b"Signature: 8a477f597d28d172789f06886806bc55\n# For information about cache directory tags see https://bford.info/cachedir/\n",
    )
}

/// Waits until nobody else changes the folder. The lock is given back when the file is closed.
fn hold(folder: &Path) -> Result<File, Refusal> {
    let path = folder.join(".lock");
    let wrong = |error: std::io::Error| Refusal::file("lock", &path, &error);
    fs::create_dir_all(folder).map_err(wrong)?;
    let file = File::create(&path).map_err(wrong)?;
    fs4::FileExt::lock(&file).map_err(|error| Refusal::file("lock", &path, &error))?;
    Ok(file)
}

fn host(version: &str) -> String {
    let line = version.lines().find_map(|line| line.strip_prefix("host: "));
    line.unwrap_or_default().to_owned()
}

fn folder(package: &cargo_metadata::Package, tree: &Tree) -> PathBuf {
    let folder = package.manifest_path.parent().expect("a manifest is in a folder");
    tree.original(folder.as_std_path())
}

fn default_members(metadata: &Metadata, packages: &[Package], tree: &Tree) -> BTreeSet<usize> {
    let folders: BTreeSet<PathBuf> =
        metadata.workspace_default_packages().into_iter().map(|package| folder(package, tree)).collect();
    let all = packages.iter().enumerate();
    all.filter(|(_, package)| folders.contains(&package.folder)).map(|(index, _)| index).collect()
}

fn packages(metadata: &Metadata, tree: &Tree) -> Vec<Package> {
    let mut all: Vec<&cargo_metadata::Package> = metadata.packages.iter().collect();
    all.sort_by(|a, b| (&a.name, &a.version, &a.id.repr).cmp(&(&b.name, &b.version, &b.id.repr)));
    let indices: BTreeMap<&str, usize> =
        all.iter().enumerate().map(|(index, package)| (package.id.repr.as_str(), index)).collect();
    let mut packages: Vec<Package> = all.iter().map(|package| without_edges(package, tree)).collect();
    let nodes = metadata.resolve.iter().flat_map(|resolve| &resolve.nodes);
    for node in nodes {
        let index = indices[node.id.repr.as_str()];
        packages[index].features = node.features.iter().map(|feature| feature.to_string()).collect();
        for dependency in &node.deps {
            let to = indices[dependency.pkg.repr.as_str()];
            let has = |kind| dependency.dep_kinds.iter().any(|info| info.kind == kind);
            let declared = all[index].dependencies.iter().filter(|declared| {
                declared.name == *all[to].name && (declared.path.is_some() || declared.req.matches(&all[to].version))
            });
            let (mut by_path, mut features) = (false, Features::default());
            for declared in declared {
                by_path |= declared.path.is_some();
                if declared.kind == DependencyKind::Normal {
                    features.default |= declared.uses_default_features;
                    features.named.extend(declared.features.iter().cloned());
                }
                packages[to].declared.extend(declared.source.as_ref().map(|source| patch_key(&source.repr)));
            }
            packages[index].edges.push(Edge {
                to,
                name: dependency.name.clone(),
                normal: has(DependencyKind::Normal),
                development: has(DependencyKind::Development),
                by_path,
                features,
            });
        }
    }
    // What no node of the graph names is for another platform.
    packages
}

fn without_edges(package: &cargo_metadata::Package, tree: &Tree) -> Package {
    let is_library = |target: &&cargo_metadata::Target| {
        target.crate_types.iter().any(|kind| {
            matches!(
                kind,
                CrateType::Lib | CrateType::RLib | CrateType::DyLib | CrateType::CDyLib | CrateType::StaticLib
            )
        }) && !target.kind.contains(&TargetKind::Example)
    };
    let is_macro = package.targets.iter().any(|target| target.kind.contains(&TargetKind::ProcMacro));
    let library = package.targets.iter().find(is_library);
    let others = package.targets.iter().filter(|target| {
        !is_library(target)
            && !target.kind.contains(&TargetKind::CustomBuild)
            && !target.kind.contains(&TargetKind::ProcMacro)
    });
    let targets: Vec<&cargo_metadata::Target> = library.into_iter().chain(others).collect();
    let roots = targets.iter().map(|target| tree.original(target.src_path.as_std_path()));
    Package {
        name: package.name.to_string(),
        version: package.version.clone(),
        source: package.source.as_ref().map(|source| source.repr.clone()),
        folder: folder(package, tree),
        roots: roots.collect(),
        crates: targets.iter().map(|target| target.name.replace('-', "_")).collect(),
        has_library: library.is_some(),
        edition: package.edition.as_str(),
        is_macro,
        features: BTreeSet::new(),
        all_features: package.features.keys().cloned().collect(),
        edges: Vec::new(),
        declared: BTreeSet::new(),
        declares: package.dependencies.iter().map(|dependency| dependency.name.clone()).collect(),
        hides_interloper: package.dependencies.iter().any(quiet::hides_interloper),
        role: Role::Build,
        metadata: package.metadata.clone(),
    }
}

/// The key of `[patch]` for a source.
pub(crate) fn patch_key(source: &str) -> String {
    if source == "registry+https://github.com/rust-lang/crates.io-index" || source == "sparse+https://index.crates.io/"
    {
        return "crates-io".to_owned();
    }
    let plain = source.strip_prefix("registry+").or_else(|| source.strip_prefix("git+")).unwrap_or(source);
    plain.split(['?', '#']).next().unwrap_or(plain).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_patched_by_its_address() {
        for (source, key) in [
            ("registry+https://github.com/rust-lang/crates.io-index", "crates-io"),
            ("sparse+https://index.crates.io/", "crates-io"),
            ("registry+https://example.org/index", "https://example.org/index"),
            ("sparse+https://example.org/index/", "sparse+https://example.org/index/"),
            ("git+https://example.org/a.git?branch=main#0123", "https://example.org/a.git"),
        ] {
            assert_eq!(patch_key(source), key);
        }
    }

    #[test]
    fn the_host_is_in_the_long_version() {
        assert_eq!(host("rustc 1.88.0\nbinary: rustc\nhost: x86_64-unknown-linux-gnu\n"), "x86_64-unknown-linux-gnu");
    }
}
