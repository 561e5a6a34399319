//! Bad input: one clear line on standard error, nothing on standard output, exit code 2.

use super::{Folder, bad, good, interloper};

#[track_caller]
pub fn refused(arguments: &[&str], expected: &str) {
    refused_in(&Folder::new(), arguments, expected);
}

#[track_caller]
pub fn refused_in(folder: &Folder, arguments: &[&str], expected: &str) {
    let ran = folder.run(arguments);
    // The lines before are timings; the reason is the last one.
    let last = ran.err.lines().last().unwrap_or_default();
    assert_eq!(last, format!("error: {expected}"), "{arguments:?}");
    assert_eq!(ran.out, "", "{arguments:?}");
    assert_eq!(ran.code, Some(2), "{arguments:?}");
}

#[test]
fn an_unknown_case_suggests_the_nearest_name() {
    let mut near = bad().to_owned();
    near.pop();
    refused(&["run", &near], &format!("no case '{near}'; did you mean '{}'?", bad()));
    refused(&["show", &near], &format!("no case '{near}'; did you mean '{}'?", bad()));
    refused(&["run", good(), "§"], "no case '§'; 'interloper list' prints their names");
    refused(&["run", "two\nlines"], "no case 'two\\nlines'; 'interloper list' prints their names");
}

#[test]
fn an_unknown_type_or_operation_suggests_the_nearest_name() {
    refused(&["commutativity", "sorted_map"], "no type 'sorted_map'; did you mean 'sorted-map'?");
    refused(&["commutativity", "map", "gte"], "no operation of a map 'gte'; did you mean 'get'?");
    let ran = interloper(&["commutativity", "§"]);
    assert!(ran.err.starts_with("error: no type '§'; there are map, sorted-map, set, "), "{}", ran.err);
    assert_eq!(ran.code, Some(2));
}

#[test]
fn wrong_values_of_options() {
    refused(
        &["--seed", "abc"],
        "invalid value 'abc' for '--seed <N>': a seed is a whole number from 0 to 18446744073709551615",
    );
    refused(
        &["--seed", "-1"],
        "invalid value '-1' for '--seed <N>': a seed is a whole number from 0 to 18446744073709551615",
    );
    refused(
        &["--bound", "0"],
        "invalid value '0' for '--bound <N>': a bound of zero leaves nothing to search; it must be at least 1",
    );
    refused(
        &["--jobs", "none"],
        "invalid value 'none' for '--jobs <N>': the number of jobs is a whole number from 1 to 1024",
    );
    refused(
        &["compare", "--executions", "0"],
        "invalid value '0' for '--executions <N>': the number of executions is a whole number from 1 to \
         18446744073709551615",
    );
    refused(
        &["--time", "0"],
        "invalid value '0' for '--time <TIME>': a time is a number of seconds above 0, such as 90, or 30m or 8h, and at most \
         1000000000 seconds",
    );
    refused(&["--sede", "1"], "unexpected argument '--sede' found: did you mean '--seed'?");
    refused(&["lst"], "unrecognized subcommand 'lst': did you mean 'list'?");
}

#[test]
fn options_that_a_command_would_ignore() {
    refused(&["list", "--seed", "1"], "'list' does not use --seed");
    refused(&["compare", "--adversary", "naive"], "'compare' does not use --adversary");
    refused(&["list", "--format", "html"], "'list' has no findings, so there is no page to write");
    refused(
        &["show", good(), "--format", "html"],
        &format!("{} has no violation, so there is no page to show", good()),
    );
}

#[test]
fn a_log_filter_that_is_none() {
    let ran = interloper(&["list", "--log", "interloper=loud"]);
    assert!(ran.err.starts_with("error: --log is not a log filter: 'interloper=loud': "), "{}", ran.err);
    assert_eq!((ran.out.as_str(), ran.code), ("", Some(2)));
    let folder = Folder::new();
    let output = folder.command(&["list"]).env("INTERLOPER_LOG", "loud=loud").output().expect("the binary was built");
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stderr.starts_with(b"error: INTERLOPER_LOG is not a log filter: 'loud=loud'"));
}

#[test]
fn files_that_are_no_replay_files() {
    let folder = Folder::new();
    folder.write("empty.json", "");
    folder.write("newer.json", "{\"version\": 4, \"case\": \"x\", \"more\": true}");
    folder.write("other.json", "{\"version\": 3, \"cases\": []}");
    folder.write("text.json", "no JSON");
    let check = |name: &str, reason: &str| {
        refused_in(&folder, &["replay", name], &format!("cannot replay {name}: {reason}"));
    };
    check("missing.json", "No such file or directory (os error 2)");
    check(".", "it is not a file");
    check("empty.json", "damaged: EOF while parsing a value at line 1 column 0");
    check("newer.json", "written by a newer interloper (version 4, this one reads version 3)");
    check(
        "other.json",
        "damaged: unknown field `cases`, expected one of `version`, `about`, `seed`, `execution`, `finding`, `decisions`, \
         `found`, `history_hash`, `history`, `counterexample`, `origin` at line 1 column 22",
    );
    check("text.json", "damaged: expected ident at line 1 column 2");
}

#[test]
fn standard_output_that_cannot_be_written() {
    // Only Linux has a device that is always full.
    if let Ok(full) = std::fs::OpenOptions::new().write(true).open("/dev/full") {
        let folder = Folder::new();
        let output = folder.command(&["list"]).stdout(full).output().expect("the binary was built");
        assert_eq!(output.status.code(), Some(2));
        let message = String::from_utf8(output.stderr).expect("text");
        assert!(message.starts_with("error: cannot write to standard output: "), "{message}");
    }
}
