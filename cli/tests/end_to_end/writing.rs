//! How files are written: whole or not at all, never through a link, never over what is read.

use super::{Folder, bad};

/// A history that is linearizable.
const HISTORY: &str = "{\"process\":0,\"type\":\"invoke\",\"call\":\"write\",\"args\":[1]}\n\
                       {\"process\":0,\"type\":\"return\",\"value\":null}\n";

/// The names in a folder, hidden ones included.
fn names(folder: &Folder) -> Vec<String> {
    let entries = std::fs::read_dir(&folder.0).expect("a folder of one's own");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("its entries").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn check_history(folder: &Folder, history: &str, page: &str) -> super::Ran {
    folder.run(&["check-history", "--type", "register", history, "--html", page])
}

#[test]
fn a_page_is_written_over_an_old_one() {
    let folder = Folder::new();
    folder.write("history.jsonl", HISTORY);
    folder.write("page.html", "the old page");
    let ran = check_history(&folder, "history.jsonl", "page.html");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(folder.read("page.html").starts_with("<!DOCTYPE html>"));
    assert_eq!(names(&folder), ["history.jsonl", "page.html"]);
}

#[test]
fn a_page_is_not_written_over_the_history() {
    let folder = Folder::new();
    folder.write("history.jsonl", HISTORY);
    std::fs::hard_link(folder.0.join("history.jsonl"), folder.0.join("same.jsonl")).expect("a link");
    for page in ["history.jsonl", "./history.jsonl", "same.jsonl"] {
        let ran = check_history(&folder, "history.jsonl", page);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{page}");
        assert_eq!(ran.err, format!("error: cannot write {page}: it is the input history\n"));
        assert_eq!(folder.read("history.jsonl"), HISTORY);
    }
}

#[cfg(unix)]
#[test]
fn a_page_is_not_written_over_the_history_on_standard_input() {
    let folder = Folder::new();
    folder.write("history.jsonl", HISTORY);
    let arguments = |page| ["check-history", "--type", "register", "-", "--html", page];
    let from_history = |page: &'static str| {
        let input = std::fs::File::open(folder.0.join("history.jsonl")).expect("it was written");
        folder.command(&arguments(page)).stdin(input).output().expect("the binary was built")
    };
    let refused = from_history("history.jsonl");
    assert_eq!(refused.status.code(), Some(2));
    assert_eq!(refused.stderr, b"error: cannot write history.jsonl: it is the input history\n");
    assert_eq!(folder.read("history.jsonl"), HISTORY);
    assert_eq!(from_history("page.html").status.code(), Some(0));
    assert!(folder.read("page.html").starts_with("<!DOCTYPE html>"));
}

#[test]
fn an_old_page_stays_when_the_history_is_refused() {
    let folder = Folder::new();
    folder.write("history.jsonl", "no history");
    folder.write("page.html", "the old page");
    let ran = check_history(&folder, "history.jsonl", "page.html");
    assert_eq!(ran.code, Some(2));
    assert_eq!(folder.read("page.html"), "the old page");
    assert_eq!(names(&folder), ["history.jsonl", "page.html"]);
}

#[cfg(unix)]
#[test]
fn nothing_is_written_through_a_link() {
    let folder = Folder::new();
    folder.write("history.jsonl", HISTORY);
    folder.write("precious", "what the link leads to");
    std::fs::create_dir(folder.0.join("interloper-failures")).expect("a folder");
    let replay = format!("interloper-failures/{}-42.json", bad());
    for link in ["page.html", &replay] {
        std::os::unix::fs::symlink(folder.0.join("precious"), folder.0.join(link)).expect("a link");
    }
    let refused = |ran: super::Ran, path: &str| {
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""));
        let reason = format!("error: cannot write {path}: it is a symbolic link; name the file that it points to");
        assert_eq!(ran.err.lines().last(), Some(&reason[..]));
        assert_eq!(folder.read("precious"), "what the link leads to");
    };
    refused(check_history(&folder, "history.jsonl", "page.html"), "page.html");
    refused(folder.run(&["run", "figure-1", "--html", "page.html"]), "page.html");
    refused(folder.run(&["run", "figure-1", "--trace", "page.html"]), "page.html");
    refused(folder.run(&["generate", "striped-map", "--out", "page.html"]), "page.html");
    refused(folder.run(&["run", bad()]), &replay);
}

#[test]
fn two_results_are_not_written_into_one_file() {
    let folder = Folder::new();
    let refused = |arguments: &[&str], reason: &str| {
        let ran = folder.run(&[&["run", "figure-1"], arguments].concat());
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{arguments:?}");
        assert_eq!(ran.err, format!("error: {reason}\n"));
    };
    refused(&["--trace", "a/x", "--html", "./a/x"], "cannot write ./a/x: the trace is written there");
    let replay = "interloper-failures/figure-1-42.json";
    refused(&["--html", replay], &format!("cannot write {replay}: the replay file is written there"));
}

/// A limit on the size of files stands for a full disk: what is written beyond it fails.
#[cfg(unix)]
#[test]
fn a_full_disk_leaves_the_old_file_and_no_temporary_one() {
    let folder = Folder::new();
    folder.write("history.jsonl", HISTORY);
    folder.write("page.html", "the old page");
    let replay = format!("interloper-failures/{}-42.json", bad());
    std::fs::create_dir(folder.0.join("interloper-failures")).expect("a folder");
    folder.write(&replay, "the old file");
    let limited = |arguments: &[&str]| {
        let mut command = std::process::Command::new("sh");
        // Without a handler the signal would end the process before it can tidy up.
        command.args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_interloper")]);
        let output = command.args(arguments).current_dir(&folder.0).output().expect("a shell");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        String::from_utf8(output.stderr).expect("text")
    };
    let error = limited(&["check-history", "--type", "register", "history.jsonl", "--html", "page.html"]);
    assert!(error.starts_with("error: cannot write page.html: "), "{error}");
    assert_eq!(folder.read("page.html"), "the old page");
    let error = limited(&["run", bad()]);
    assert!(error.contains(&format!("error: cannot write {replay}: ")), "{error}");
    assert_eq!(folder.read(&replay), "the old file");
    assert_eq!(names(&folder), ["history.jsonl", "interloper-failures", "page.html"]);
    let kept = std::fs::read_dir(folder.0.join("interloper-failures")).expect("a folder").count();
    assert_eq!(kept, 1);
}
