//! The page of environment variables and the sources name the same variables.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::docs;

/// Variables of the project's own tests.
const OF_TESTS: [&str; 4] =
    ["INTERLOPER_CHILD_OF_COVERAGE", "INTERLOPER_PAGES", "INTERLOPER_TESTS_OF_TESTS", "INTERLOPER_TWIN_PROGRAMS"];

#[test]
fn the_page_of_variables_names_those_of_the_code() {
    let root = docs().join("..");
    let mut used = BTreeSet::new();
    for folder in ["cli", "harness", "instrument", "interloper", "macros", "report", "scheduler"] {
        collect(&root.join(folder), &mut used);
    }
    for name in OF_TESTS {
        assert!(used.remove(name), "{name} is used no longer");
    }
    let page = fs::read_to_string(docs().join("reference/variables.md")).expect("the page");
    let listed: BTreeSet<String> = page.lines().filter(|line| line.starts_with("| `")).flat_map(names).collect();
    assert_eq!(listed, used);
}

/// The variables that the Rust sources below a folder have as literals.
fn collect(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            if path.file_name().is_none_or(|name| name != "target") {
                collect(&path, found);
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).expect("a source file");
            let literals = text.split('"').filter(|part| part.starts_with("INTERLOPER_"));
            found.extend(literals.filter(|name| names(name).eq([(*name).to_owned()])).map(str::to_owned));
        }
    }
}

/// The names of variables in a line.
fn names(line: &str) -> impl Iterator<Item = String> {
    let is_part = |character: char| character.is_ascii_uppercase() || character == '_';
    line.split(move |character| !is_part(character))
        .filter(|word| word.len() > "INTERLOPER_".len() && word.starts_with("INTERLOPER_"))
        .map(str::to_owned)
}

/// Each constant that is the version of a document has a row on the page of files.
#[test]
fn the_page_of_files_has_a_row_for_each_version() {
    let root = docs().join("..");
    let mut constants = 0;
    for folder in ["cli", "cargo-interloper", "composed", "harness", "interloper", "linearize", "report", "scheduler"] {
        constants += versions(&root.join(folder).join("src"));
    }
    let page = fs::read_to_string(docs().join("reference/files.md")).expect("the page");
    let (_, page) = page.split_once("\n## Versions\n").expect("the heading");
    let (page, _) = page.split_once("\n## ").expect("a heading after it");
    let rows = page.lines().filter(|line| line.starts_with('|') && line.ends_with(|last: char| last != '-'));
    let numbered = rows.filter(|line| line.trim_end_matches(" |").ends_with(|last: char| last.is_ascii_digit()));
    assert_eq!(numbered.count(), constants);
}

/// How many constants `VERSION` or `…_VERSION` the Rust sources below a folder have.
fn versions(folder: &Path) -> usize {
    let count = |path: &Path| {
        let text = fs::read_to_string(path).expect("a source file");
        let constants = text.lines().filter_map(|line| line.trim_start_matches("pub ").strip_prefix("const "));
        constants.filter(|line| line.split(": u32").next().is_some_and(|name| name.ends_with("VERSION"))).count()
    };
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let found = entries.map(|path| match path.extension() {
        _ if path.is_dir() => versions(&path),
        Some(extension) if extension == "rs" => count(&path),
        _ => 0,
    });
    found.sum()
}
