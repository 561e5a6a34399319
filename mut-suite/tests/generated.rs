//! Tests of mutex-map, from seed 42.
//!
//! Generated. Each test runs a schema and compares its outcomes with the correct outcomes:
//! the results of the calls, in the order of the text.

use interloper::objects::generated::check;

#[test]
#[rustfmt::skip]
fn schema_1() {
    check(
        &interloper_suite::objects::find("mutex-map").expect("an object of the study").object(),
        "{ remove(1); remove(1) } || { clear() }",
        &[
            "none, none, ()",
        ],
    );
}

#[test]
#[rustfmt::skip]
fn schema_2() {
    check(
        &interloper_suite::objects::find("mutex-map").expect("an object of the study").object(),
        "{ put(1, 0); clear() } || { put(1, 0); remove(0) }",
        &[
            "none, (), none, none",
            "none, (), 0, none",
            "0, (), none, none",
        ],
    );
}

#[test]
#[rustfmt::skip]
fn schema_3() {
    check(
        &interloper_suite::objects::find("mutex-map").expect("an object of the study").object(),
        "{ clear(); get(0) } || { remove(0); containsKey(0) }",
        &[
            "(), none, none, false",
        ],
    );
}
