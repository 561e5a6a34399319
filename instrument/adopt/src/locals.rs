//! The packages that are neither in a registry nor in a repository: those of the user.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use cargo_metadata::Package;
use toml_edit::{DocumentMut, Item, TableLike, TomlError};

use crate::cargo::{Cargo, Harness};
use crate::edits::{lints, manifest};
use crate::refusal::Refusal;
use crate::tree::{Node, Nodes, Tree};

/// What the user's own manifests say, before any dependency is looked up.
pub(crate) struct Locals {
    /// The folder of the workspace.
    pub(crate) workspace: PathBuf,
    /// Where the project is built.
    pub(crate) target: PathBuf,
    /// The folders of the packages.
    pub(crate) folders: BTreeSet<PathBuf>,
    /// The manifests of other workspaces that packages take keys from.
    other_roots: BTreeSet<PathBuf>,
    /// Tests that are in the stand-ins of packages alone: what they are made of becomes dev-dependencies.
    harness: Option<Harness>,
}

impl Locals {
    /// Reads the manifest, and those of all packages that it leads to by paths.
    ///
    /// # Errors
    /// When cargo cannot read the first, or one of the others is not TOML.
    pub(crate) fn find(cargo: &Cargo, manifest: &Path, harness: Option<&Harness>) -> Result<Locals, Refusal> {
        let first = cargo.metadata(manifest, ["--no-deps"])?;
        let workspace = first.workspace_root.into_std_path_buf();
        let folder = |package: Package| package.manifest_path.parent().map(|folder| folder.as_std_path().to_owned());
        let members: BTreeSet<PathBuf> = first.packages.into_iter().filter_map(folder).collect();
        let mut open: Vec<PathBuf> = members.iter().cloned().collect();
        open.extend(patched(&workspace)?);
        open.extend(harness.iter().flat_map(|harness| harness.crates()).map(|(_, folder, _)| folder));
        let mut found = Locals {
            target: first.target_directory.into_std_path_buf(),
            folders: BTreeSet::from([workspace.clone()]),
            other_roots: BTreeSet::new(),
            harness: harness.cloned(),
            workspace: workspace.clone(),
        };
        let mut seen = BTreeSet::new();
        while let Some(folder) = open.pop() {
            // Where there is no manifest, cargo says so when it looks up the dependencies.
            if !seen.insert(folder.clone()) || !folder.join("Cargo.toml").is_file() {
                continue;
            }
            let package = Manifest::read(&folder)?;
            if let Some(root) = package.root()?.filter(|root| root.folder != workspace && root.folder != folder) {
                found.other_roots.insert(root.folder.join("Cargo.toml"));
            }
            open.extend(package.paths(members.contains(&folder))?);
            found.folders.insert(folder);
        }
        Ok(found)
    }

    /// The manifest of the workspace.
    pub(crate) fn manifest(&self) -> PathBuf {
        self.workspace.join("Cargo.toml")
    }

    /// The lock file.
    pub(crate) fn lock(&self) -> PathBuf {
        self.workspace.join("Cargo.lock")
    }

    /// The manifests that cannot stay as they are. What is named by an absolute path is in the tree, too. And in the
    /// place of the user's workspace there must be the root of one: cargo looks above it otherwise, and finds the user's.
    ///
    /// # Errors
    /// When one is not TOML.
    pub(crate) fn manifests(&self, tree: &Tree) -> Result<BTreeMap<PathBuf, String>, Refusal> {
        let mut changed = BTreeMap::new();
        let to = |path: &Path| Some(normal(path)).filter(|path| self.folders.contains(path)).map(|path| tree.of(&path));
        for folder in &self.folders {
            let file = folder.join("Cargo.toml");
            let wrong = |reason| Refusal::Manifest { file: file.clone(), reason };
            let original = fs::read_to_string(&file).map_err(|error| Refusal::file("read", &file, &error))?;
            let mut text = original.clone();
            for harness in self.harness.iter().filter(|harness| harness.manifests.contains(&file)) {
                for (name, folder, features) in harness.crates() {
                    text = lints::depend(&text, name, &folder, features).map_err(wrong)?;
                }
            }
            text = manifest::relocate(&text, to).map_err(wrong)?.unwrap_or(text);
            if *folder == self.workspace {
                let below = self.folders.iter().filter_map(|other| other.strip_prefix(folder).ok());
                let below = below.filter(|path| !path.as_os_str().is_empty()).map(|path| path.display().to_string());
                text = manifest::make_root(&text, &below.collect::<Vec<String>>()).map_err(wrong)?.unwrap_or(text);
            }
            if text != original {
                changed.insert(file, text);
            }
        }
        Ok(changed)
    }

    /// The stand-ins of the packages: `changed` has the files that are not as they were. There is no lock file in it.
    ///
    /// # Errors
    /// When a folder cannot be read.
    pub(crate) fn nodes(&self, tree: &Tree, changed: &BTreeMap<PathBuf, String>) -> Result<Nodes, Refusal> {
        let mut nodes = Nodes::new();
        for folder in &self.folders {
            tree.linked(folder, &BTreeMap::new(), &mut nodes)?;
        }
        for root in &self.other_roots {
            nodes.entry(root.clone()).or_insert(Node::Link);
        }
        nodes.extend(changed.iter().map(|(file, text)| (file.clone(), Node::Text(text.clone()))));
        nodes.remove(&self.lock());
        Ok(nodes)
    }
}

/// A manifest as it is written.
struct Manifest {
    folder: PathBuf,
    document: DocumentMut,
}

impl Manifest {
    fn read(folder: &Path) -> Result<Manifest, Refusal> {
        let file = folder.join("Cargo.toml");
        let text = fs::read_to_string(&file).map_err(|error| Refusal::file("read", &file, &error))?;
        let document =
            text.parse().map_err(|error: TomlError| Refusal::Manifest { file, reason: error.to_string() })?;
        Ok(Manifest { folder: folder.to_owned(), document })
    }

    /// The folders of its dependencies; those of its tests are needed where the tests are run.
    fn paths(&self, with_tests: bool) -> Result<Vec<PathBuf>, Refusal> {
        let mut kinds = vec!["dependencies", "build-dependencies", "build_dependencies"];
        if with_tests {
            kinds.extend(["dev-dependencies", "dev_dependencies"]);
        }
        let whole: &dyn TableLike = self.document.as_table();
        let targets = self.document.get("target").and_then(Item::as_table_like);
        let targets = targets.into_iter().flat_map(|targets| targets.iter());
        let places = [whole].into_iter().chain(targets.filter_map(|(_, target)| target.as_table_like()));
        let tables = places.flat_map(|place| kinds.iter().filter_map(|kind| place.get(kind)?.as_table_like()));
        let root = self.root()?;
        let inherited = |name: &str| {
            let root = root.as_ref()?;
            path(&root.folder, root.document.get("workspace")?.get("dependencies")?.get(name)?)
        };
        let dependencies = tables.flat_map(|table| table.iter());
        let folders = dependencies.filter_map(|(name, dependency)| match dependency.get("workspace") {
            Some(_) => inherited(name),
            None => path(&self.folder, dependency),
        });
        Ok(folders.collect())
    }

    /// The manifest that this one takes keys from, if it takes any.
    fn root(&self) -> Result<Option<Manifest>, Refusal> {
        if !self.document.to_string().contains("workspace") {
            return Ok(None);
        }
        let named = self.document.get("package").and_then(|package| package.get("workspace")?.as_str());
        let named = named.map(|path| normal(&self.folder.join(path)));
        let above = self.folder.ancestors().map(Path::to_owned);
        for folder in named.into_iter().chain(above).filter(|folder| folder.join("Cargo.toml").is_file()) {
            let manifest = Manifest::read(&folder)?;
            if manifest.document.contains_key("workspace") {
                return Ok(Some(manifest));
            }
        }
        Ok(None)
    }
}

/// The folder of a dependency that is given as one.
fn path(folder: &Path, dependency: &Item) -> Option<PathBuf> {
    Some(normal(&folder.join(dependency.get("path")?.as_str()?)))
}

/// The folders that a workspace puts in the place of dependencies.
fn patched(workspace: &Path) -> Result<Vec<PathBuf>, Refusal> {
    let manifest = Manifest::read(workspace)?;
    let sources = manifest.document.get("patch").and_then(Item::as_table_like);
    let patches = sources.into_iter().flat_map(|sources| sources.iter()).filter_map(|(_, all)| all.as_table_like());
    Ok(patches.flat_map(|all| all.iter()).filter_map(|(_, patch)| path(workspace, patch)).collect())
}

/// `a/b/../c` is `a/c`, as cargo reads it.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                normal.pop();
            }
            Component::CurDir => {}
            other => normal.push(other),
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_found_wherever_a_manifest_has_them() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let put = |name: &str, text: &str| {
            fs::create_dir_all(at(name)).unwrap();
            fs::write(at(name).join("Cargo.toml"), text).unwrap();
        };
        put(
            "",
            "[workspace]\n[workspace.dependencies]\nd = { path = \"x/d\" }\n[patch.crates-io]\np = { path = \"p\" }\n",
        );
        put(
            "a",
            "[dependencies]\nb = { path = \"../b\" }\nr = \"1\"\nd.workspace = true\n\
             [dev-dependencies.t]\npath = \"t\"\n[target.'cfg(unix)'.build-dependencies]\nc = { path = \"./c\" }\n",
        );
        let package = Manifest::read(&at("a")).unwrap();
        let sorted = |with_tests| package.paths(with_tests).unwrap().into_iter().collect::<BTreeSet<_>>();
        assert_eq!(sorted(false), BTreeSet::from([at("b"), at("x/d"), at("a/c")]));
        assert_eq!(sorted(true), BTreeSet::from([at("b"), at("x/d"), at("a/c"), at("a/t")]));
        assert_eq!(package.root().unwrap().map(|root| root.folder), Some(at("")).map(|root| normal(&root)));
        assert_eq!(patched(&at("")).unwrap(), [at("p")]);
    }

    #[test]
    fn who_inherits_nothing_has_no_root() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("Cargo.toml"), "[package]\nname = \"a\"\n").unwrap();
        assert!(Manifest::read(folder.path()).unwrap().root().unwrap().is_none());
    }
}
