//! The JSON rendering.

mod common;

use common::{deadlock, hostile, memoize, overlapping};
use interloper_report::json::{ParseError, parse, render};

#[test]
fn the_document_of_the_example() {
    insta::assert_snapshot!(render(&memoize()));
}

#[test]
fn every_kind_of_counterexample_round_trips() {
    for counterexample in [memoize(), deadlock(), overlapping(), hostile()] {
        assert_eq!(parse(&render(&counterexample)).expect("what was just rendered"), counterexample);
    }
}

#[test]
fn a_newer_version_is_named_whatever_else_it_holds() {
    let error = parse("{\"version\": 2, \"shape\": \"unknown\"}").expect_err("version 2");
    assert!(matches!(error, ParseError::Version(2)));
    assert_eq!(error.to_string(), "version 2 is not supported, only version 1 is");
}

#[test]
fn damaged_documents_say_where() {
    let whole = render(&memoize());
    let error = parse(&whole[..200]).expect_err("cut short");
    assert!(error.to_string().starts_with("not a counterexample: EOF while parsing"), "{error}");
    let error = parse("{\"version\": 1}").expect_err("nothing but a version");
    assert!(error.to_string().starts_with("not a counterexample: missing field `name`"), "{error}");
}
