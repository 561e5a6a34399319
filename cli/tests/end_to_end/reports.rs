//! Whole reports as snapshots, so that a change of wording is seen in review. After a change that is meant, run
//! `INSTA_UPDATE=always cargo test -p interloper-cli --test end_to_end reports` and read the difference.

use super::*;

/// Replaces the digits of lines and columns: an edit of the suite moves places, and changes no report.
fn without_places(report: &str) -> String {
    let mut shown = String::new();
    let mut rest = report;
    while let Some(found) = rest.find(".rs:") {
        let (before, after) = rest.split_at(found + ".rs:".len());
        let end = after.find(|letter: char| !letter.is_ascii_digit() && letter != ':').unwrap_or(after.len());
        shown.push_str(before);
        shown.extend(after[..end].chars().map(|letter| if letter == ':' { ':' } else { '0' }));
        rest = &after[end..];
    }
    shown + rest
}

#[track_caller]
fn report(arguments: &[&str], code: i32) -> String {
    let ran = interloper(arguments);
    assert_eq!(ran.code, Some(code), "{}{}", ran.out, ran.err);
    without_places(&ran.out)
}

#[test]
fn places_are_replaced_and_nothing_else() {
    assert_eq!(without_places("3 at a.rs:12:9, b.rs:7:1\n  4"), "3 at a.rs:00:0, b.rs:0:0\n  4");
    assert_eq!(without_places("the end is c.rs:8"), "the end is c.rs:0");
}

/// Tests that each show a report: the code with which the command ends, and its arguments.
macro_rules! reports {
    ($($name:ident: $code:literal $arguments:expr;)*) => {
        $(#[test]
        fn $name() {
            insta::assert_snapshot!(report(&$arguments, $code));
        })*
    };
}

reports! {
    a_composed_violation: 0 ["run", "memoize-get-then-insert"];
    a_composed_pass: 0 ["run", "memoize-entry"];
    a_program_with_a_bug: 0 ["run", "figure-1"];
    a_program_that_no_serial_order_explains: 0 ["run", "figure-1-without-assertion"];
    a_program_with_an_error: 0 ["run", "get-unique-id"];
    a_program_with_a_warning: 0 ["run", "figure-3"];
    a_clean_program: 0 ["run", "figure-1-one-section"];
    a_deadlock: 0 ["run", "lock-order-inversion"];
    a_finding_of_a_hunt: 1 ["hunt", "striped-map", "--method", "size"];
    a_table_of_visibilities: 0 ["visibility", "striped-map", "--programs", "12"];
}

#[test]
fn a_refuted_history() {
    let folder = Folder::new();
    let history = r#"{"process":0,"type":"invoke","call":"write","args":[1]}
{"process":0,"type":"return"}
{"process":0,"type":"invoke","call":"write","args":[2]}
{"process":0,"type":"return"}
{"process":1,"type":"invoke","call":"read"}
{"process":1,"type":"return","value":1}
"#;
    folder.write("history.jsonl", &history.replace("\"return\"}", "\"return\",\"value\":null}"));
    let ran = folder.run(&["check-history", "--type", "register", "history.jsonl"]);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    insta::assert_snapshot!(ran.out);
}
