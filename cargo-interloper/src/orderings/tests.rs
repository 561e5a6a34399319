use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use super::process::{ended, message, names, options};
use super::*;

#[test]
fn tests_are_listed_without_benchmarks() {
    let list = "tests::one: test\nwith: colon: test\nslow: benchmark\n\n2 tests, 1 benchmark\n";
    assert_eq!(names(list).collect::<Vec<_>>(), ["tests::one", "with: colon"]);
}

#[test]
fn the_message_of_a_failed_test_is_one_line() {
    #[track_caller]
    fn check(out: &str, expected: &str) {
        assert_eq!(message(out), expected);
    }
    check("---- t stdout ----\n\nthread 't' (7) panicked at src/lib.rs:1:2:\n\n  left: 1\n right: 2\n", "left: 1");
    let found = "---- t stdout ----\n✗ t: not atomic (execution 3)\n  replay: …\n\nthread 't' (7) panicked at src/a.rs:1:2:\n✗ t   not\n";
    check(found, "✗ t: not atomic (execution 3)");
    check("---- t stdout ----\nError: \"no\"\n", "Error: \"no\"");
    check("", "it says nothing");
}

#[test]
fn the_panic_that_ended_a_process_is_named() {
    let panic = "said\n\nthread 'main' (7) panicked at src/a.rs:1:2:\nit was 3\nstack backtrace:\n   0: a\nnote: Some details\n";
    let by_panic = ExitStatus::from_raw(101 << 8);
    assert_eq!(ended(panic, by_panic), "exit status: 101: thread 'main' panicked at src/a.rs:1:2: it was 3");
    assert_eq!(ended("no panic\n\n", by_panic), "exit status: 101: no panic");
    // Its twin: somebody has caught the panic, and something else ended the process.
    let caught =
        "thread 'main' (7) panicked at src/a.rs:1:2:\nit was 3\nfatal runtime error: stack overflow, aborting\n";
    let by_signal = ExitStatus::from_raw(6);
    assert_eq!(ended(caught, by_signal), "signal: 6 (SIGABRT): fatal runtime error: stack overflow, aborting");
    assert_eq!(ended("\n", by_signal), "signal: 6 (SIGABRT)");
}

#[test]
fn a_command_is_one_that_a_shell_takes() {
    assert_eq!(quoted("it's a.rs:1:2 load SeqCst Acquire"), "'it'\\''s a.rs:1:2 load SeqCst Acquire'");
    let asked = |instrument: &[&str], packages: &[&str]| Asked {
        sites: vec![],
        packages: packages.iter().map(|&name| name.to_owned()).collect(),
        time: None,
        arguments: vec![],
        instrument: instrument.iter().map(|&name| name.to_owned()).collect(),
        pages: Pages::default(),
        split: Split::Whole,
    };
    assert_eq!(replay_command(&asked(&[], &[])), "cargo interloper test");
    let command = "cargo interloper test --instrument a,b --package c";
    assert_eq!(replay_command(&asked(&["a", "b"], &["c"])), command);
}

#[test]
fn what_chooses_tests_is_not_passed_on() {
    let left = |arguments: &str| {
        let arguments: Vec<OsString> = arguments.split_whitespace().map(OsString::from).collect();
        options(&arguments).map(|argument| argument.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(left("name --exact --nocapture"), "--nocapture");
    assert_eq!(left("--skip name"), "--skip name");
    assert_eq!(left(""), "");
}
