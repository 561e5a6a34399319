//! ARCHITECTURE.md is true: the edges between the crates, their invariants, and who touches files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand};

const ARCHITECTURE: &str = include_str!("../../ARCHITECTURE.md");
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

type Edges = BTreeMap<String, BTreeSet<String>>;

fn metadata() -> Metadata {
    // From the root: in a package's own folder only that one counts as a default.
    MetadataCommand::new().manifest_path(format!("{ROOT}/Cargo.toml")).no_deps().exec().expect("cargo metadata")
}

/// The words of a text that stand between backticks.
fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// A row of the table of crates: folder, package, imported folders.
fn rows() -> Vec<(&'static str, &'static str, Vec<&'static str>)> {
    let row = |line: &'static str| {
        let cells: Vec<&str> = line.split(" | ").collect();
        let [folder, package] = quoted(cells[0])[..] else { panic!("no folder and package: {line}") };
        (folder, package, quoted(cells[1]))
    };
    let table = ARCHITECTURE.lines().skip_while(|line| !line.starts_with("| folder (package) |"));
    table.skip(2).take_while(|line| line.starts_with('|')).map(row).collect()
}

/// The edges that the page names, by package.
fn written() -> Edges {
    let packages: BTreeMap<&str, &str> = rows().iter().map(|(folder, package, _)| (*folder, *package)).collect();
    let package = |folder: &&str| packages.get(folder).unwrap_or_else(|| panic!("no row for {folder}")).to_string();
    rows().iter().map(|(_, own, imports)| ((*own).to_owned(), imports.iter().map(package).collect())).collect()
}

/// The edges that the manifests declare.
fn declared() -> Edges {
    let metadata = metadata();
    let ours: BTreeSet<&str> = metadata.packages.iter().map(|package| package.name.as_str()).collect();
    let edges = metadata.packages.iter().map(|package| {
        let normal = package.dependencies.iter().filter(|dependency| dependency.kind == DependencyKind::Normal);
        let ours = normal.map(|dependency| dependency.name.clone()).filter(|name| ours.contains(name.as_str()));
        (package.name.to_string(), ours.collect())
    });
    edges.collect()
}

/// The sources of a crate, its build script among them, without comments, texts and tests.
fn sources(folder: &str) -> Vec<(PathBuf, String)> {
    let folder = Path::new(ROOT).join(folder);
    let mut files = Vec::from_iter(Some(folder.join("build.rs")).filter(|script| script.exists()));
    let mut folders = vec![folder.join("src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.extend((!path.ends_with("tests")).then_some(path));
            } else if path.extension().is_some_and(|extension| extension == "rs") && !path.ends_with("tests.rs") {
                files.push(path);
            }
        }
    }
    let code = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("a source");
        // Tests within a file stand at its end; those with a file of their own are declared anywhere.
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let line = |line: &str| without_texts(line.split("//").next().unwrap_or_default());
        (path, code.lines().map(line).collect::<Vec<_>>().join("\n"))
    };
    files.into_iter().map(code).collect()
}

fn without_texts(line: &str) -> String {
    line.split('"').step_by(2).collect::<Vec<_>>().join("\"")
}

/// The words of some code.
fn words(code: &str) -> BTreeSet<&str> {
    code.split(|c: char| !c.is_alphanumeric() && c != '_').collect()
}

#[test]
fn the_page_names_the_imports_that_the_manifests_declare() {
    assert_eq!(written(), declared());
}

/// A dependency that no source names does not count.
#[test]
fn the_sources_use_the_imports_that_the_manifests_declare() {
    let mut used: Edges = BTreeMap::new();
    let names: Vec<(&str, String)> =
        rows().iter().map(|(_, package, _)| (*package, package.replace('-', "_"))).collect();
    for (folder, package, _) in rows() {
        let mut imports = BTreeSet::new();
        // The mirror has no dependencies; the names of its crates stand in a list there.
        for (_, code) in sources(folder) {
            let words = words(&code);
            let other = names.iter().filter(|(other, name)| *other != package && words.contains(name.as_str()));
            // `interloper` is a word of the language here, and a cfg: as a crate it is followed by a path.
            let real = other.filter(|(_, name)| name != "interloper" || code.contains("interloper::"));
            imports.extend(real.map(|(other, _)| (*other).to_owned()));
        }
        used.insert(package.to_owned(), imports);
    }
    let mut expected = declared();
    // Their sources are in examples/, and expand to `::interloper`.
    expected.insert("interloper-examples".to_owned(), BTreeSet::new());
    used.insert("interloper-macros".to_owned(), BTreeSet::new());
    assert_eq!(used, expected);
}

#[test]
fn files_and_the_environment_are_touched_where_the_page_says() {
    let (_, places) = ARCHITECTURE.split_once("in these places and in no others:").expect("the list");
    let places = places.lines().skip(2).take_while(|line| line.starts_with("- `"));
    let written: BTreeSet<String> = places.map(|line| quoted(line)[0].to_owned()).collect();
    let touches = |code: &str| {
        ["fs::", "env::var", "env::args", "env::current_dir", "env::current_exe"].iter().any(|call| code.contains(call))
    };
    let mut found = BTreeSet::new();
    for (folder, ..) in rows().into_iter().filter(|(folder, ..)| *folder != "peers") {
        for (path, code) in sources(folder) {
            let path = path.strip_prefix(ROOT).expect("below the root").to_string_lossy().into_owned();
            if touches(&code) {
                let place = written.iter().find(|place| path.starts_with(place.as_str()));
                found.insert(place.unwrap_or(&path).clone());
            }
        }
    }
    assert_eq!(found, written);
}

/// Dependencies from outside that a crate may have, for the crates that must stay small.
fn allowed_outside() -> BTreeMap<&'static str, Vec<&'static str>> {
    BTreeMap::from([
        ("interloper-std", vec![]),
        ("interloper-commutativity", vec!["rand", "rustc-hash"]),
        ("interloper-parking-lot", vec!["lock_api", "parking_lot"]),
        ("parking_lot_core", vec![]),
        ("interloper-linearize", vec!["indexmap", "rustc-hash"]),
        ("interloper-random", vec!["rand", "rand_pcg"]),
        ("interloper-scheduler", vec!["corosensei", "libc", "rustc-hash"]),
    ])
}

#[test]
fn small_crates_stay_small() {
    let outside = allowed_outside();
    for package in &metadata().packages {
        let Some(allowed) = outside.get(package.name.as_str()) else { continue };
        let normal = package.dependencies.iter().filter(|dependency| dependency.kind == DependencyKind::Normal);
        for dependency in normal.filter(|dependency| !dependency.name.starts_with("interloper")) {
            assert!(
                allowed.contains(&dependency.name.as_str()),
                "{} must do without {}",
                package.name,
                dependency.name
            );
        }
    }
}

/// What `interloper` is made of with these features, among the workspace's crates and those of others that only some features need.
fn made_of(features: &str) -> BTreeSet<String> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["tree", "--locked", "--edges", "normal", "--prefix", "none", "--no-default-features"]);
    cargo.args(["--features", features, "--manifest-path"]).arg(format!("{ROOT}/interloper/Cargo.toml"));
    let output = cargo.output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("text");
    let names = text.lines().filter_map(|line| line.split(' ').next());
    let told =
        |name: &&str| name.starts_with("interloper-") || ["dashmap", "indexmap", "maud", "parking_lot"].contains(name);
    names.filter(told).map(str::to_owned).collect()
}

/// What a user's test does not use, its build does not compile.
#[test]
fn features_bring_what_they_name() {
    let of = |more: &[&str]| {
        let always = ["commutativity", "harness", "macros", "random", "report", "scheduler", "std"];
        let always = always.iter().map(|name| format!("interloper-{name}"));
        always.chain(more.iter().map(|name| (*name).to_owned())).collect::<BTreeSet<String>>()
    };
    let (linearize, mirror) = ("interloper-linearize", "interloper-parking-lot");
    assert_eq!(made_of(""), of(&[]));
    assert_eq!(made_of("pages"), of(&["maud"]));
    assert_eq!(made_of("default"), of(&["maud"]));
    assert_eq!(made_of("objects"), of(&[linearize, "indexmap"]));
    let composed = of(&[linearize, "indexmap", "interloper-collections", "dashmap", "parking_lot"]);
    assert_eq!(made_of("composed"), composed);
    assert_eq!(made_of("parking_lot"), of(&[mirror, "parking_lot"]));
    assert_eq!(made_of("full"), &composed | &of(&[mirror, "maud"]));
}

#[test]
fn all_but_the_peers_and_the_benchmarks_are_default_members() {
    let metadata = metadata();
    let all: BTreeSet<&str> = metadata.packages.iter().map(|package| package.name.as_str()).collect();
    let default: BTreeSet<&str> =
        metadata.workspace_default_packages().iter().map(|package| package.name.as_str()).collect();
    assert_eq!(all.difference(&default).collect::<Vec<_>>(), [&"interloper-benches", &"interloper-peers"]);
}

/// `cargo run -- --seed 42` at the root has one binary to run.
#[test]
fn the_command_is_what_runs() {
    let metadata = metadata();
    let packages = metadata.workspace_default_packages();
    let runnable = packages.iter().filter(|package| package.targets.iter().any(|target| target.is_bin()));
    let runs: Vec<_> = runnable.map(|package| (package.name.as_str(), package.default_run.as_deref())).collect();
    assert_eq!(runs, [("cargo-interloper", None), ("interloper-cli", Some("interloper"))]);
}

#[test]
fn every_crate_has_its_invariant() {
    let folders = [
        "commutativity",
        "instrument",
        "instrument/adopt",
        "instrument/collections",
        "instrument/parking_lot",
        "instrument/parking_lot_core",
        "linearize",
        "macros",
        "scheduler",
        "harness",
        "report",
        "interloper",
        "composed",
        "mut-suite",
        "cargo-interloper",
        "cli",
    ];
    for folder in folders {
        let line = format!("- `{folder}`: **Invariant:**");
        assert!(ARCHITECTURE.contains(&line), "ARCHITECTURE.md states no invariant for {folder}");
    }
}
