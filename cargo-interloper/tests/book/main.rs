//! The book in docs/: its pages are listed, its links lead somewhere, its lists of variables are the code's, and what its
//! `console` blocks show is what the commands print.
//!
//! The Rust blocks of its pages are tests of the crate `interloper`, and the pages of options are tests of the command.

mod adopted;
mod console;
mod findings;
mod page;
mod renewed;
mod variables;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use page::Page;

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").canonicalize().expect("the folder is in the repository")
}

/// The pages that the book lists, in its order.
fn pages() -> Vec<Page> {
    let summary = Page::read(&docs(), "SUMMARY.md");
    summary.links().map(|link| Page::read(&docs(), link)).collect()
}

/// All files below a folder whose names end in `.md`, relative to `root`.
fn markdown_below(root: &Path, folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            markdown_below(root, &path, found);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.insert(path.strip_prefix(root).expect("below it").to_string_lossy().into_owned());
        }
    }
}

#[test]
fn the_book_lists_every_page_once() {
    let listed: Vec<String> = pages().into_iter().map(|page| page.name).collect();
    let mut found = BTreeSet::new();
    markdown_below(&docs(), &docs(), &mut found);
    found.remove("SUMMARY.md");
    assert_eq!(listed.iter().cloned().collect::<BTreeSet<String>>(), found);
    assert_eq!(listed.len(), found.len(), "a page is listed twice");
}

/// Links between pages lead to a page of the book and to a heading that the page has.
#[test]
fn links_lead_somewhere() {
    let pages = pages();
    for page in &pages {
        for link in page.links().filter(|link| !link.contains("://")) {
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let folder = Path::new(&page.name).parent().expect("a page has a folder");
            let target = match file {
                "" => page.name.clone(),
                file => page::normal(&folder.join(file)),
            };
            let target = pages.iter().find(|page| page.name == target);
            let target = target.unwrap_or_else(|| panic!("{}: {link} leads to nothing in the book", page.name));
            assert!(heading.is_empty() || target.has_heading(heading), "{}: {link}: no such heading", page.name);
        }
    }
}

/// The README is where many readers begin.
#[test]
fn links_of_the_readme_lead_to_files() {
    let root = docs().join("..");
    let readme = Page::read(&root, "README.md");
    for link in readme.links().filter(|link| !link.contains("://")) {
        let file = link.split('#').next().expect("a part");
        assert!(root.join(file).exists(), "README.md: {link}");
    }
}

/// The commands of the ready workflow run in a project that `cargo interloper init` has set up. Installing is left out: the
/// command is there.
#[test]
fn the_commands_of_the_workflow_run() {
    let text = fs::read_to_string(docs().join("workflow.yml")).expect("the workflow");
    let commands: Vec<&str> =
        text.lines().filter_map(|line| line.split_once("run: ")).map(|(_, command)| command).collect();
    assert!(commands.len() >= 5 && commands[0].starts_with("cargo install "), "{commands:?}");
    let page = console::workflow(&commands[1..]);
    assert!(page.contains("test tests::counted ... ok"), "{page}");
}

/// What the pages print in `console` blocks is what the commands print.
#[test]
fn commands_of_the_book_print_what_it_shows() {
    let ran: usize = pages().iter().map(console::run).sum();
    assert!(ran >= 7, "only {ran} commands ran: are the blocks still found?");
}
