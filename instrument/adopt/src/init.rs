//! What a project needs to come under control, written into its own files: the line at the root of each crate,
//! interloper among the dev-dependencies, and the cfg that the compiler is to know.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use cargo_metadata::{Edition, Metadata, Package, Target, TargetKind};

use crate::cargo::Cargo;
use crate::edits::lints::{self, NAME};
use crate::edits::root::{self, Form};
use crate::edits::source::Refused;
use crate::place::Place;
use crate::reading;
use crate::reading::condition::Configuration;
use crate::refusal::Refusal;

/// What is to be changed, and where.
#[derive(Clone, Debug, Default)]
pub struct Setup {
    /// The manifest, as given with `--manifest-path`.
    pub manifest: Option<PathBuf>,
    /// The names of the packages; if none is given, the package of the manifest, or the default members of a workspace.
    pub packages: Vec<String>,
    /// The features of interloper that the packages use.
    pub features: Vec<String>,
}

/// A file with the text that it has, and the text that it is to have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The file.
    pub file: PathBuf,
    /// What is in it.
    pub before: String,
    /// What is to be in it.
    pub after: String,
}

impl Setup {
    /// The changes that put a project under control, with interloper as it is in the folder `interloper`. What the project has
    /// already is left alone. No file is written.
    ///
    /// # Errors
    /// When cargo or the files cannot be read, a package is not there, or a crate cannot have the line.
    pub fn changes(&self, folder: &Path, interloper: &Path) -> Result<Vec<Change>, Refusal> {
        let project = self.read(folder)?;
        let mut files = Files::default();
        let features: Vec<&str> = self.features.iter().map(String::as_str).collect();
        for package in project.chosen() {
            let manifest = package.manifest_path.as_std_path();
            let depend =
                |text: &str| lints::depend(text, NAME, interloper, &features).map_err(|reason| bad(manifest, reason));
            files.edit(manifest, depend)?;
            let text = files.text(manifest)?;
            let inherits = lints::inherits_lints(&text).map_err(|reason| bad(manifest, reason))?;
            let with_lints = if inherits { project.root.as_path() } else { manifest };
            files.edit(with_lints, |text| lints::know(text, inherits).map_err(|reason| bad(with_lints, reason)))?;
            let crates: BTreeMap<PathBuf, BTreeSet<PathBuf>> =
                roots(package).into_iter().map(|root| (root.clone(), files_of(&project, package, &root))).collect();
            let is_module = |file: &PathBuf| crates.iter().any(|(root, files)| root != file && files.contains(file));
            for (source, its_files) in &crates {
                let folder = manifest.parent().expect("a manifest is in a folder");
                let reads = |it: Configuration| reading::read(folder, source, &it);
                // What cannot be read is refused where the line is put in.
                let names_core =
                    project.configurations(package).into_iter().any(|it| reads(it).is_ok_and(|it| it.names_core));
                let form =
                    Form { of_2015: package.edition == Edition::E2015, names_core, is_module: is_module(source) };
                files.edit(source, |text| match root::put_in(text, form) {
                    Ok(changed) => Ok(changed.unwrap_or_else(|| text.to_owned())),
                    Err(refused) => Err(unsuitable(package, source, refused)),
                })?;
                // The edition of 2015 has the mirror in the paths of its copy.
                for file in its_files.iter().filter(|_| !form.of_2015) {
                    files.edit(file, |text| match root::guard_inside(text, file == source, form.names_core) {
                        Ok(changed) => Ok(changed.unwrap_or_else(|| text.to_owned())),
                        Err(refused) => Err(unsuitable(package, file, refused)),
                    })?;
                }
            }
        }
        Ok(files.changes())
    }

    /// The changes that take out what [`Setup::changes`] puts in. No file is written.
    ///
    /// # Errors
    /// When cargo or the files cannot be read, or a package is not there.
    pub fn undone(&self, folder: &Path) -> Result<Vec<Change>, Refusal> {
        let project = self.read(folder)?;
        let mut files = Files::default();
        for package in project.chosen() {
            for manifest in [package.manifest_path.as_std_path(), &project.root] {
                files.edit(manifest, |text| lints::forget(text).map_err(|reason| bad(manifest, reason)))?;
            }
            for source in roots(package) {
                files.edit(&source, |text| Ok(root::take_out(text).unwrap_or_else(|| text.to_owned())))?;
                for file in files_of(&project, package, &source) {
                    let undone = |text: &str| root::unguard_inside(text, file == source);
                    files.edit(&file, |text| Ok(undone(text).unwrap_or_else(|| text.to_owned())))?;
                }
            }
        }
        Ok(files.changes())
    }

    fn read(&self, folder: &Path) -> Result<Read, Refusal> {
        let cargo = Cargo::new(folder);
        let manifest = match &self.manifest {
            Some(manifest) => folder.join(manifest),
            None => cargo.find_manifest()?,
        };
        let metadata = cargo.metadata(&manifest, ["--no-deps"])?;
        let chosen = match self.packages.is_empty() {
            true => by_manifest(&metadata, &manifest),
            false => self.packages.iter().map(|name| by_name(&metadata, name)).collect::<Result<_, _>>()?,
        };
        let root = metadata.workspace_root.as_std_path().join("Cargo.toml");
        let target = cargo.rustc(&["--print", "cfg"])?.lines().map(str::to_owned).collect();
        Ok(Read { packages: metadata.packages, chosen, root, target })
    }
}

/// A project as far as it matters here.
struct Read {
    packages: Vec<Package>,
    chosen: BTreeSet<usize>,
    /// The manifest of the workspace.
    root: PathBuf,
    /// What `rustc --print cfg` says.
    target: BTreeSet<String>,
}

impl Read {
    fn chosen(&self) -> impl Iterator<Item = &Package> {
        self.chosen.iter().map(|at| &self.packages[*at])
    }

    /// What the tests of a package may be compiled with: all of its features, or none.
    fn configurations(&self, package: &Package) -> [Configuration; 2] {
        let mut target = self.target.clone();
        target.insert("test".to_owned());
        let all = package.features.keys().cloned().collect();
        [all, BTreeSet::new()].map(|features| Configuration { target: target.clone(), features })
    }
}

fn by_name(metadata: &Metadata, name: &str) -> Result<usize, Refusal> {
    let names = || metadata.packages.iter().map(|package| package.name.as_str());
    names().position(|known| known == name).ok_or_else(|| {
        let near = |known: &&str| strsim::damerau_levenshtein(known, name) <= 2;
        Refusal::NotAMember { name: name.to_owned(), similar: names().find(near).map(str::to_owned) }
    })
}

fn by_manifest(metadata: &Metadata, manifest: &Path) -> BTreeSet<usize> {
    let manifest = fs::canonicalize(manifest).unwrap_or_else(|_| manifest.to_owned());
    let is_there = |package: &Package| package.manifest_path.as_std_path() == manifest;
    let here = metadata.packages.iter().position(is_there);
    let members = metadata.workspace_default_packages();
    let is_member = |package: &Package| members.iter().any(|member| member.id == package.id);
    match here {
        Some(package) => BTreeSet::from([package]),
        None => (0..metadata.packages.len()).filter(|at| is_member(&metadata.packages[*at])).collect(),
    }
}

/// The root files of the crates whose tests run under control.
fn roots(package: &Package) -> BTreeSet<PathBuf> {
    let runs = |target: &&Target| {
        let is = |kind: &TargetKind| target.kind.contains(kind);
        !is(&TargetKind::ProcMacro)
            && !is(&TargetKind::CustomBuild)
            && !is(&TargetKind::Bench)
            && !is(&TargetKind::Example)
    };
    package.targets.iter().filter(runs).map(|target| target.src_path.as_std_path().to_owned()).collect()
}

/// The files of the crate with this root, as far as they can be read.
fn files_of(project: &Read, package: &Package, root: &Path) -> BTreeSet<PathBuf> {
    let folder = package.manifest_path.as_std_path().parent().expect("a manifest is in a folder");
    let reads = project.configurations(package).into_iter().filter_map(|it| reading::read(folder, root, &it).ok());
    reads.flat_map(|reading| reading.files).collect()
}

fn bad(manifest: &Path, reason: String) -> Refusal {
    Refusal::Manifest { file: manifest.to_owned(), reason }
}

fn unsuitable(package: &Package, file: &Path, refused: Refused) -> Refusal {
    let label = format!("{} {}", package.name, package.version);
    match refused {
        Refused::Bad(bad) => {
            let place = Place { file: file.to_owned(), line: bad.line };
            Refusal::NoRust { package: label, place, reason: bad.reason }
        }
        Refused::Taken { line, name } => Refusal::Unsuitable {
            package: label,
            reason: format!("it has a module named `{name}` at its root, at {}:{line}", file.display()),
        },
    }
}

/// Files that were read, with what becomes of them.
#[derive(Default)]
struct Files(BTreeMap<PathBuf, (String, String)>);

impl Files {
    fn text(&mut self, file: &Path) -> Result<String, Refusal> {
        if let Some((_, now)) = self.0.get(file) {
            return Ok(now.clone());
        }
        let text = fs::read_to_string(file).map_err(|error| Refusal::file("read", file, &error))?;
        self.0.insert(file.to_owned(), (text.clone(), text.clone()));
        Ok(text)
    }

    fn edit(&mut self, file: &Path, edit: impl FnOnce(&str) -> Result<String, Refusal>) -> Result<(), Refusal> {
        let before = self.text(file)?;
        let after = edit(&before)?;
        self.0.get_mut(file).expect("it was read").1 = after;
        Ok(())
    }

    fn changes(self) -> Vec<Change> {
        let changed = self.0.into_iter().filter(|(_, (before, after))| before != after);
        changed.map(|(file, (before, after))| Change { file, before, after }).collect()
    }
}
