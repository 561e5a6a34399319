//! Runs the `console` blocks of a page, from top to bottom, in a new folder with the files that the page shows.

use std::env;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::page::{Block, Page};
use crate::{docs, renewed};

/// What stands on the pages where a reader has the path of the checkout.
const CHECKOUT: &str = "/path/to/interloper";

/// Runs the commands of a page and returns how many there were.
///
/// A comment before a block says what the block is: `file: NAME` is what a file has from there on, and `replace in: NAME`
/// with the next block, `with`, changes a part of a file. A block with `needs: COMMAND` runs only where there is such a
/// command. A line `…` of the output stands for any lines, and `…` in a line for any text.
///
/// With `INTERLOPER_PAGES=write`, output that differs in numbers alone is written into the page.
pub fn run(page: &Page) -> usize {
    let writes = env::var("INTERLOPER_PAGES").is_ok_and(|value| value == "write");
    let mut text = page.text().to_owned();
    let folder = TempDir::new().expect("a folder");
    lock(folder.path());
    let mut status = 0;
    let mut ran = 0;
    let blocks = page.blocks();
    for (block, next) in blocks.iter().zip(blocks.iter().skip(1).map(Some).chain([None])) {
        if let Some(file) = block.note.and_then(|note| note.strip_prefix("file: ")) {
            put(folder.path(), file, &block.code.replace(CHECKOUT, &checkout()));
        } else if let Some(file) = block.note.and_then(|note| note.strip_prefix("replace in: ")) {
            let with = next.filter(|next| next.note == Some("with")).expect("a block that says with what");
            let old = fs::read_to_string(folder.path().join(file)).expect("the page has shown the file");
            assert_eq!(old.matches(block.code).count(), 1, "{}: {file} has no such lines", page.name);
            put(folder.path(), file, &old.replace(block.code, with.code));
        }
        if let Some(tool) = block.note.and_then(|note| note.strip_prefix("needs: "))
            && !has(tool)
        {
            // Not `eprintln!`, which is shown for a failing test only.
            let _ = writeln!(io::stderr(), "\n!!! SKIPPED in {}: {tool} is not installed\n", page.name);
            continue;
        }
        for (command, expected) in commands(block) {
            let (code, printed) = shell(folder.path(), command, status);
            status = code;
            ran += 1;
            let expected: Vec<&str> = expected.lines().collect();
            let lines: Vec<&str> = printed.lines().collect();
            if writes
                && !matches(&expected, &lines)
                && let Some(renewed) = renewed::lines(&expected, &lines)
            {
                let [old, new] =
                    [expected.join("\n"), renewed.join("\n")].map(|output| format!("$ {command}\n{output}\n"));
                text = text.replacen(&old, &new, 1);
                continue;
            }
            let told = format!("{}: $ {command}\nexpected:\n{}\n\nprinted:\n{printed}", page.name, expected.join("\n"));
            assert!(matches(&expected, &lines), "{told}");
        }
    }
    if text != page.text() {
        fs::write(docs().join(&page.name), text).expect("the page can be written");
    }
    ran
}

/// Runs commands in a small project whose test uses Interloper, and returns what they print. Each must succeed.
pub fn workflow(commands: &[&str]) -> String {
    let folder = TempDir::new().expect("a folder");
    let interloper = format!("{}/interloper", checkout());
    let manifest = format!(
        "[package]\nname = \"flow\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dev-dependencies]\ninterloper = {{ path = \
         {interloper:?} }}\n\n[lints.rust]\nunexpected_cfgs = \"allow\"\n"
    );
    lock(folder.path());
    put(folder.path(), "Cargo.toml", &manifest);
    let test = "#[cfg(test)]\nmod tests {\n    #[interloper::test(executions = 50)]\n    fn counted() {\n        \
                let number = interloper::sync::atomic::AtomicU32::new(0);\n        let add = || { number.fetch_add(1, \
                std::sync::atomic::Ordering::SeqCst); };\n        interloper::thread::scope(|scope| {\n            \
                scope.spawn(add);\n            add();\n        });\n        assert_eq!(number.into_inner(), 2);\n    }\n}\n";
    put(folder.path(), "src/lib.rs", test);
    let mut all = String::new();
    for command in commands {
        let (code, printed) = shell(folder.path(), command, 0);
        assert_eq!(code, 0, "$ {command}\n{printed}");
        all += &printed;
    }
    all
}

/// Whether a command is installed.
fn has(tool: &str) -> bool {
    env::var_os("PATH").is_some_and(|paths| env::split_paths(&paths).any(|folder| folder.join(tool).is_file()))
}

fn checkout() -> String {
    docs().parent().expect("docs is in the repository").to_str().expect("a plain path").to_owned()
}

/// Gives a project the versions of this workspace: with others, the checker would be compiled again.
fn lock(folder: &Path) {
    let lock = docs().join("../Cargo.lock");
    put(folder, "Cargo.lock", &fs::read_to_string(lock).expect("the versions of this workspace"));
}

fn put(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().expect("it is below the folder")).expect("a folder");
    fs::write(path, text).expect("a file");
}

/// The commands of a `console` block, each with what it prints.
fn commands<'a>(block: &Block<'a>) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
    let code = if block.language == "console" { block.code } else { "" };
    code.strip_prefix("$ ")
        .into_iter()
        .flat_map(|code| code.split("\n$ "))
        .map(|part| part.split_once('\n').unwrap_or((part, "")))
}

/// Runs a command as a reader would, after a command that ended with `before`. Standard error comes first and standard
/// output after it, since their order is not determined.
fn shell(folder: &Path, command: &str, before: i32) -> (i32, String) {
    let binaries = Path::new(env!("CARGO_BIN_EXE_cargo-interloper")).parent().expect("it is in a folder");
    // The pages use the other command too. It is of another package, which `cargo test` at the root builds.
    let interloper = binaries.join(format!("interloper{}", env::consts::EXE_SUFFIX));
    assert!(interloper.exists(), "the pages need the command interloper: run cargo build -p interloper-cli");
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("adoption");
    let paths = env::var_os("PATH").unwrap_or_default();
    let paths =
        env::join_paths([binaries.to_owned()].into_iter().chain(env::split_paths(&paths)).collect::<Vec<PathBuf>>());
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("(exit {before}); {command}")]).current_dir(folder).stdin(Stdio::null());
    shell.env("PATH", paths.expect("folders")).env("CARGO_TARGET_DIR", target).env("CARGO_TERM_COLOR", "never");
    // What the compiler puts into one function depends on it, and with that which execution is the first to fail.
    shell.env("CARGO_INCREMENTAL", "0");
    // What this test itself was started with says nothing about a reader's machine.
    for (name, _) in env::vars_os() {
        if name.to_str().is_some_and(|name| name.starts_with("INTERLOPER_") || name == "RUST_BACKTRACE") {
            shell.env_remove(&name);
        }
    }
    let output = shell.output().expect("a shell");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (output.status.code().expect("it ended by itself"), text(output.stderr) + &text(output.stdout))
}

/// Whether lines are as expected, with `…` for what is left out.
fn matches(expected: &[&str], lines: &[&str]) -> bool {
    let Some((first, rest)) = expected.split_first() else { return lines.is_empty() };
    if *first == "…" {
        return (0..=lines.len()).any(|skipped| matches(rest, &lines[skipped..]));
    }
    lines.split_first().is_some_and(|(line, others)| line_matches(first, line.trim_end()) && matches(rest, others))
}

fn line_matches(expected: &str, line: &str) -> bool {
    let mut parts = expected.trim_end().split('…');
    let first = parts.next().expect("a first part");
    let Some(mut left) = line.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return left.is_empty() };
    for part in parts {
        match left.split_once(part) {
            Some((_, after)) => left = after,
            None => return false,
        }
    }
    left.ends_with(last)
}

#[test]
fn what_is_left_out_matches_anything_and_nothing_else_does() {
    let check = |expected: &str, printed: &str, answer: bool| {
        let [expected, printed] = [expected, printed].map(|text| text.lines().collect::<Vec<&str>>());
        assert_eq!(matches(&expected, &printed), answer, "{expected:?} and {printed:?}");
    };
    check("a\nb", "a\nb", true);
    check("a\nb", "a\nb\nc", false);
    check("a\nb\nc", "a\nb", false);
    check("a\n…\nd", "a\nb\nc\nd", true);
    check("a\n…\nd", "a\nd", true);
    check("a\n…\nd", "a\nd\ne", false);
    check("…\nb\n…", "a\nb\nc", true);
    check("…\nx\n…", "a\nb\nc", false);
    check("one … three", "one two three", true);
    check("one … four", "one two three", false);
    check("one…", "one two", true);
    check("…two", "one two", true);
    check("a…b…c", "a1b2c", true);
    check("a…b…c", "a1c2b", false);
    check("aa", "a", false);
}
