//! The packages of a workspace, without their dependencies.

use std::path::{Path, PathBuf};

use cargo_metadata::TargetKind;

use crate::cargo::{Cargo, Options};
use crate::refusal::Refusal;

/// The packages of a workspace. Nothing is resolved for this, and nothing is written.
#[derive(Clone, Debug)]
pub struct Members {
    /// The folder of the workspace.
    pub root: PathBuf,
    /// The manifest of the workspace.
    pub manifest: PathBuf,
    /// `[workspace.metadata]`.
    pub metadata: serde_json::Value,
    /// The packages, in the order of their names.
    pub packages: Vec<Member>,
}

/// A package of a workspace.
#[derive(Clone, Debug)]
pub struct Member {
    /// Its name.
    pub name: String,
    /// Its manifest.
    pub manifest: PathBuf,
    /// `[package.metadata]`.
    pub metadata: serde_json::Value,
    /// Its libraries, binaries and procedural macros, the library first: the name of each crate, as `use` says it, and its first
    /// file.
    pub crates: Vec<(String, PathBuf)>,
    /// Its tests, benchmarks and examples, in the same form.
    pub extras: Vec<(String, PathBuf)>,
}

impl Members {
    /// Whether a manifest has a list under a key of `[package.metadata.interloper]` or `[workspace.metadata.interloper]`.
    pub fn list(&self, key: &str) -> bool {
        let of_packages = self.packages.iter().map(|package| &package.metadata);
        let has = |metadata: &serde_json::Value| metadata.get("interloper").is_some_and(|ours| ours.get(key).is_some());
        of_packages.chain([&self.metadata]).any(has)
    }

    /// Asks cargo for the workspace of a folder.
    ///
    /// # Errors
    /// When cargo cannot read it.
    pub fn read(folder: &Path, options: &Options) -> Result<Members, Refusal> {
        let cargo = Cargo::new(folder);
        let manifest = match &options.manifest {
            Some(manifest) => folder.join(manifest),
            None => cargo.find_manifest()?,
        };
        let arguments = ["--no-deps".into()].into_iter().chain(options.resolving());
        let metadata = cargo.metadata(&manifest, arguments)?;
        let mut packages: Vec<Member> = metadata.workspace_packages().into_iter().map(member).collect();
        packages.sort_by(|a, b| (&a.name, &a.manifest).cmp(&(&b.name, &b.manifest)));
        let root = metadata.workspace_root.into_std_path_buf();
        Ok(Members { manifest: root.join("Cargo.toml"), root, metadata: metadata.workspace_metadata, packages })
    }
}

fn member(package: &cargo_metadata::Package) -> Member {
    let is_extra = |target: &&cargo_metadata::Target| {
        let extras = [TargetKind::Test, TargetKind::Bench, TargetKind::Example];
        target.kind.iter().any(|kind| extras.contains(kind))
    };
    let is_program = |target: &cargo_metadata::Target| target.kind.contains(&TargetKind::Bin);
    let named =
        |target: &cargo_metadata::Target| (target.name.replace('-', "_"), target.src_path.clone().into_std_path_buf());
    let targets = || package.targets.iter().filter(|target| !target.kind.contains(&TargetKind::CustomBuild));
    let mut crates: Vec<&cargo_metadata::Target> = targets().filter(|target| !is_extra(target)).collect();
    crates.sort_by_key(|target| is_program(target));
    Member {
        name: package.name.to_string(),
        manifest: package.manifest_path.clone().into_std_path_buf(),
        metadata: package.metadata.clone(),
        crates: crates.into_iter().map(named).collect(),
        extras: targets().filter(is_extra).map(named).collect(),
    }
}
