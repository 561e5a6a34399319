//! How much is found, and how much of what is found is right: the scan of published packages beside lists typed in by hand
//! (`annotated/`). Packages are read in cargo's cache, where `cargo fetch` puts the sources of a dependency.
//!
//! Output: a line for each package with the operations in the list, how many of them were found, and how many were listed.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use interloper_composed::{Options, Package, scan};

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("annotated");
    let mut lists: Vec<PathBuf> =
        fs::read_dir(&folder).expect("the lists").map(|entry| entry.expect("a list").path()).collect();
    lists.sort();
    let (mut all, mut found, mut listed) = (0, 0, 0);
    println!("{:<30} {:>4} {:>5} {:>6}", "package", "true", "found", "listed");
    for list in lists {
        let name = list.file_stem().expect("a name").to_string_lossy().into_owned();
        let Some(sources) = sources_of(&name) else {
            println!("{name:<30} not in cargo's cache");
            continue;
        };
        let expected = expected(&list);
        let actual = actual(&sources, &name);
        let both = expected.intersection(&actual).count();
        println!("{name:<30} {:>4} {both:>5} {:>6}", expected.len(), actual.len());
        expected.difference(&actual).for_each(|(file, line)| println!("  missed {file}:{line}"));
        actual.difference(&expected).for_each(|(file, line)| println!("  not one: {file}:{line}"));
        all += expected.len();
        found += both;
        listed += actual.len();
    }
    println!("{:<30} {all:>4} {found:>5} {listed:>6}", "all");
}

/// Files with first lines of functions.
type Lines = BTreeSet<(String, u32)>;

fn expected(list: &Path) -> Lines {
    let text = fs::read_to_string(list).expect("a list");
    let line = |line: &str| {
        let mut cells = line.split('\t');
        let file = cells.next().expect("a file").to_owned();
        (file, cells.next().expect("a line").parse().expect("a number"))
    };
    text.lines().filter(|line| !line.starts_with('#')).map(line).collect()
}

fn actual(sources: &Path, name: &str) -> Lines {
    let package = Package { name: name.to_owned(), crates: vec![("it".to_owned(), sources.join("src/lib.rs"))] };
    let found = scan(&[package], &Options { base: sources.to_owned(), ..Options::default() });
    let lines = found.operations.into_iter().map(|one| (one.place.file, one.place.line));
    // Of the suite, the cases are annotated.
    let case = |file: &str| file.starts_with("src/cases/") || file.starts_with("src/published/");
    lines.filter(|(file, _)| name != "suite-cases" || case(file)).collect()
}

/// The folder of a package in cargo's cache.
fn sources_of(name: &str) -> Option<PathBuf> {
    if name == "suite-cases" {
        return Some(Path::new(env!("CARGO_MANIFEST_DIR")).join("../mut-suite"));
    }
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")))?;
    let registries = fs::read_dir(home.join("registry/src")).ok()?;
    registries.filter_map(|entry| Some(entry.ok()?.path().join(name))).find(|folder| folder.is_dir())
}
