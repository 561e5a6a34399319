//! The edges between the crates, as ARCHITECTURE.md draws them: imports go one way.

use std::collections::{BTreeMap, BTreeSet};

use cargo_metadata::{DependencyKind, MetadataCommand};

/// What each crate of the workspace may import of the others.
fn allowed() -> BTreeMap<&'static str, Vec<&'static str>> {
    let low = ["interloper-std", "interloper-commutativity"];
    let engines = ["interloper-collections", "interloper-linearize", "interloper-random", "interloper-scheduler"];
    let harness: Vec<&str> = low.into_iter().chain(engines).collect();
    let beside = [
        "interloper-channel",
        "interloper-harness",
        "interloper-macros",
        "interloper-parking-lot",
        "interloper-report",
    ];
    let facade: Vec<&str> = harness.iter().copied().chain(beside).collect();
    BTreeMap::from([
        ("interloper-std", vec![]),
        ("interloper-adopt", vec![]),
        ("interloper-commutativity", vec![]),
        ("interloper-collections", low.to_vec()),
        ("interloper-linearize", vec!["interloper-commutativity", "interloper-random"]),
        ("interloper-random", vec![]),
        ("interloper-scheduler", vec!["interloper-random", "interloper-std"]),
        ("interloper-harness", harness.into_iter().chain(["interloper-report"]).collect()),
        ("interloper-macros", vec![]),
        ("interloper-channel", vec!["interloper-std"]),
        ("interloper-parking-lot", vec!["interloper-std"]),
        ("parking_lot_core", vec!["interloper-std"]),
        ("interloper-report", vec![]),
        ("interloper", facade.clone()),
        ("interloper-suite", vec!["interloper"]),
        ("interloper-examples", vec!["interloper"]),
        (
            "interloper-peers",
            vec!["interloper", "interloper-report", "interloper-scheduler", "interloper-std", "interloper-suite"],
        ),
        ("interloper-cli", facade.into_iter().chain(["interloper", "interloper-adopt", "interloper-suite"]).collect()),
    ])
}

/// Dependencies from outside that a crate may have, for the crates that must stay small.
fn allowed_outside() -> BTreeMap<&'static str, Vec<&'static str>> {
    BTreeMap::from([
        ("interloper-std", vec![]),
        ("interloper-commutativity", vec!["rand", "rustc-hash"]),
        ("interloper-channel", vec!["crossbeam-channel"]),
        ("interloper-parking-lot", vec!["lock_api", "parking_lot"]),
        ("parking_lot_core", vec![]),
        ("interloper-linearize", vec!["indexmap", "rustc-hash"]),
        ("interloper-random", vec!["rand", "rand_pcg"]),
        ("interloper-scheduler", vec!["corosensei", "libc"]),
    ])
}

#[test]
fn imports_go_one_way() {
    let metadata = MetadataCommand::new().no_deps().exec().expect("cargo metadata of this workspace");
    let (allowed, outside) = (allowed(), allowed_outside());
    let ours: BTreeSet<&str> = metadata.packages.iter().map(|package| package.name.as_str()).collect();
    for package in &metadata.packages {
        let name = package.name.as_str();
        let may = allowed.get(name).unwrap_or_else(|| panic!("{name} is not in ARCHITECTURE.md's picture"));
        let imports = package.dependencies.iter().filter(|dependency| dependency.kind == DependencyKind::Normal);
        for dependency in imports {
            let imported = dependency.name.as_str();
            if ours.contains(imported) {
                assert!(may.contains(&imported), "{name} must not import {imported}");
            } else if let Some(outside) = outside.get(name) {
                assert!(outside.contains(&imported), "{name} must do without {imported}");
            }
        }
    }
    assert!(allowed.keys().all(|name| ours.contains(name)), "ARCHITECTURE.md names a crate that is gone");
}

/// What is not a default member is not tested by `cargo test`.
#[test]
fn all_but_the_peers_are_default_members() {
    // From the root: in a package's own folder only that one counts as a default.
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml");
    let metadata = MetadataCommand::new().manifest_path(root).no_deps().exec().expect("cargo metadata");
    let all: BTreeSet<&str> = metadata.packages.iter().map(|package| package.name.as_str()).collect();
    let default: BTreeSet<&str> =
        metadata.workspace_default_packages().iter().map(|package| package.name.as_str()).collect();
    assert_eq!(all.difference(&default).collect::<Vec<_>>(), [&"interloper-peers"]);
}

/// `cargo run -- --seed 42` at the root has one binary to run.
#[test]
fn the_command_is_what_runs() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml");
    let metadata = MetadataCommand::new().manifest_path(root).no_deps().exec().expect("cargo metadata");
    let packages = metadata.workspace_default_packages();
    let runnable = packages.iter().filter(|package| package.targets.iter().any(|target| target.is_bin()));
    let runs: Vec<_> = runnable.map(|package| (package.name.as_str(), package.default_run.as_deref())).collect();
    assert_eq!(runs, [("interloper-cli", Some("interloper"))]);
}

#[test]
fn every_crate_has_its_invariant() {
    let architecture = include_str!("../../ARCHITECTURE.md");
    let folders = [
        "commutativity",
        "instrument",
        "instrument/adopt",
        "instrument/channel",
        "instrument/collections",
        "instrument/parking_lot",
        "instrument/parking_lot_core",
        "linearize",
        "macros",
        "scheduler",
        "harness",
        "report",
        "interloper",
        "mut-suite",
        "cli",
    ];
    for folder in folders {
        let line = format!("- `{folder}`: **Invariant:**");
        assert!(architecture.contains(&line), "ARCHITECTURE.md states no invariant for {folder}");
    }
}

/// The tables of docs/PROOF.md take minutes and crates from elsewhere to print. What this sees is that no object which is
/// described there is missing here.
#[test]
fn the_proof_speaks_of_each_object() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let read = |name: &str| std::fs::read_to_string(format!("{root}/{name}")).expect("a file of the repository");
    let page = read("docs/PROOF.md");
    let mut objects = 0;
    for file in ["cells", "maps", "queues", "tables"] {
        let text = read(&format!("proof/src/objects/{file}.rs"));
        for description in text.split("Object::describe(\"").skip(1) {
            let (object, _) = description.split_once('"').expect("a name");
            assert!(page.contains(&format!("`{object}`")), "docs/PROOF.md says nothing of {object}");
            objects += 1;
        }
    }
    assert!(objects > 15, "there are many: {objects}");
}
