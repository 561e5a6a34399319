//! One crate of each edition, under control.

use super::*;

#[track_caller]
fn check(edition: &str, tests: &[&str]) {
    let before = files(&crates());
    let package = format!("edition-{edition}");
    let arguments = ["test", "-p", &package];
    let first = interloper(&crates(), &arguments).expect(0);
    for test in tests {
        assert!(first.out.contains(&format!("test {test} ... ok\n")), "{}", first.out);
    }
    let second = interloper(&crates(), &arguments).expect(0);
    assert_eq!(second.compiled(), 0, "{}", second.err);
    assert!(files(&crates()) == before, "the sources, manifests and the lock file are as they were");
}

#[test]
fn of_2015() {
    check("2015", &["tests::an_addition_can_be_lost", "tests::an_addition_to_a_cell_can_be_lost"]);
}

#[test]
fn of_2018() {
    check("2018", &["an_addition_can_be_lost"]);
}

#[test]
fn of_2021() {
    check("2021", &["tests::two_can_be_first"]);
}

#[test]
fn of_2024() {
    check("2024", &["tests::an_addition_can_be_lost", "tests::one_of_them_is_first"]);
}
