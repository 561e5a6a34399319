//! Each example prints what its header says.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder where cargo puts the examples that it builds together with this test.
fn built() -> PathBuf {
    let test = std::env::current_exe().expect("this test runs from a file");
    test.ancestors().nth(2).expect("target/<profile>/deps/<test>").join("examples")
}

/// What stands between "```text" and "```" in the header.
fn promised(source: &str) -> String {
    let header = source.lines().map_while(|line| line.strip_prefix("//!"));
    let mut text = String::new();
    for line in header.map(|line| line.strip_prefix(' ').unwrap_or(line)).skip_while(|line| *line != "```text").skip(1)
    {
        if line == "```" {
            return text;
        }
        text.push_str(line);
        text.push('\n');
    }
    panic!("the header has no output")
}

/// What it prints, without the spaces at the ends of lines, which comments do not keep.
fn printed(name: &str) -> String {
    let output = Command::new(built().join(name)).output().unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("text");
    text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// Compares a part of a file with what it must be. With `INTERLOPER_PAGES=write`, the file gets that part instead.
fn assert_says(file: &Path, found: &str, expected: &str) {
    if found != expected && std::env::var("INTERLOPER_PAGES").is_ok_and(|value| value == "write") {
        let text = std::fs::read_to_string(file).expect("readable");
        return std::fs::write(file, text.replacen(found, expected, 1)).expect("the file can be written");
    }
    assert_eq!(found, expected, "{} is out of date; INTERLOPER_PAGES=write writes it", file.display());
}

#[test]
fn examples_print_what_their_headers_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut sources: Vec<PathBuf> = std::fs::read_dir(&folder)
        .expect("the folder of examples")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    sources.sort();
    assert_eq!(sources.len(), 7, "{sources:?}");
    for source in sources {
        let name = source.file_stem().and_then(|stem| stem.to_str()).expect("a plain name");
        let text = std::fs::read_to_string(&source).expect("readable");
        let header = |text: &str| -> String {
            text.lines().map(|line| format!("//! {line}").trim_end().to_owned() + "\n").collect()
        };
        assert_says(&source, &header(&promised(&text)), &header(&printed(name)));
    }
}

/// A page of the book shows one line: that of the fixed account.
#[test]
fn a_page_shows_what_a_search_covered() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/passes.md");
    let text = std::fs::read_to_string(&page).expect("readable");
    let output = printed("bank_account");
    let covered = output.lines().rfind(|line| line.contains(", seed 42: ")).expect("a line of coverage").trim();
    let shown = text.lines().find(|line| line.contains(", seed 42: ")).expect("a line of coverage");
    assert_says(&page, shown, covered);
}

#[test]
fn a_header_is_read_up_to_the_end_of_its_output() {
    assert_eq!(promised("//! Title.\n//!\n//! ```text\n//! a\n//!\n//!   b\n//! ```\n\nfn main() {}\n"), "a\n\n  b\n");
}
