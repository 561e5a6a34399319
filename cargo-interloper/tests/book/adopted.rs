//! The page about published crates under control says what the data says.

#[path = "../../examples/adopted/page.rs"]
mod page;

use std::fs;
use std::path::{Path, PathBuf};

use page::{Data, Verdict};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("adopted")
}

fn list() -> String {
    fs::read_to_string(folder().join("crates.txt")).expect("the list")
}

fn data() -> Data {
    let text = fs::read_to_string(folder().join("results.json")).expect("the data");
    serde_json::from_str(&text).expect("the data has its form")
}

#[test]
fn the_page_is_printed_from_the_data() {
    let actual = fs::read_to_string(super::docs().join("ADOPTED.md")).expect("the page");
    let again = "cargo run -p cargo-interloper --example adopted -- print > docs/ADOPTED.md";
    assert!(actual == page::page(&list(), &data()), "docs/ADOPTED.md is not what the data says; run `{again}`");
}

#[test]
fn each_result_is_of_a_program_of_the_list() {
    let (list, data) = (list(), data());
    let listed: Vec<&str> = page::names(&list).collect();
    for (name, ran) in &data.programs {
        assert!(listed.contains(&name.as_str()), "{name}");
        let source = fs::read_to_string(folder().join(format!("{name}.rs"))).expect("the program");
        let comment = source.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim_start);
        let says = comment.take_while(|line| !line.is_empty()).collect::<Vec<&str>>().join(" ");
        assert_eq!(says, ran.what, "{name}: the program says something else now");
        for checked in ran.planted.iter().chain(&ran.correct) {
            // A search ends at its first finding.
            let is_last = checked.found.is_none() == (checked.at == 0) && checked.at <= checked.executions;
            assert!(is_last && checked.executions <= 10_000, "{name}, seed {}", checked.seed);
        }
        let seeds: Vec<u64> = ran.planted.iter().map(|checked| checked.seed).collect();
        let verdict = page::verdict(ran);
        assert!(verdict == Verdict::Failed || seeds == [42, 43, 44, 45, 46], "{name}: {seeds:?}");
    }
    assert!(data.readings.keys().all(|name| data.programs.contains_key(name)), "{:?}", data.readings.keys());
}

#[test]
fn each_test_of_a_crate_that_fails_has_a_reading() {
    let data = data();
    for one in &data.own_tests {
        assert!(one.failed.len() <= one.tests, "{}", one.file);
        assert!(one.failed.keys().eq(one.readings.keys()), "{}: {:?}", one.file, one.failed.keys());
    }
}

/// Each name is in the list once, and a comment is no name.
#[test]
fn the_list_has_names_and_comments() {
    assert!(page::names("one\n\n# why\ntwo\n").eq(["one", "two"]));
    let list = list();
    let mut names: Vec<&str> = page::names(&list).collect();
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all);
    assert!(names.iter().all(|name| !name.contains(' ')), "{names:?}");
}

/// A row is not counted among those that work unless each seed finds the bug and the twin has no finding.
#[test]
fn a_row_works_only_with_all_of_it() {
    let data = data();
    let works = data.programs.values().find(|ran| page::verdict(ran) == Verdict::Works).expect("one works");
    let text = serde_json::to_string(works).expect("JSON");
    let again = || serde_json::from_str::<page::Ran>(&text).expect("a row");
    assert_eq!(page::verdict(&again()), Verdict::Works);
    let mut missed = again();
    (missed.planted[1].found, missed.planted[1].at) = (None, 0);
    assert_eq!(page::verdict(&missed), Verdict::Missed);
    assert_eq!(page::brief(&missed), "not found with 1 of 5 seeds");
    let mut alarm = again();
    alarm.correct.as_mut().expect("a twin").found = Some("panic".to_owned());
    assert_eq!(page::brief(&alarm), "the correct twin has a finding: panic");
    let mut endless = again();
    endless.correct.as_mut().expect("a twin").given_up = 1;
    assert_eq!(page::verdict(&endless), Verdict::Alarm);
    let failed = page::Ran { failed: Some("error: one\nmore".to_owned()), ..again() };
    assert_eq!(page::brief(&failed), "`error: one`");
    let without = page::Ran { correct: None, ..again() };
    assert_eq!(page::verdict(&without), Verdict::Failed);
}
