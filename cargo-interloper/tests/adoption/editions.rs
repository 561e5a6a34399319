//! One crate of each edition, and the real parking_lot, under control.

use super::*;

#[track_caller]
fn check(package: &str, tests: &[&str]) {
    let before = files(&crates());
    let arguments = ["test", "-p", package];
    let first = interloper(&crates(), &arguments).expect(0);
    for test in tests {
        assert!(first.out.contains(&format!("test {test} ... ok\n")), "{}", first.out);
    }
    again(|| interloper(&crates(), &arguments).expect(0));
    assert!(files(&crates()) == before, "the sources, manifests and the lock file are as they were");
}

#[test]
fn of_2015() {
    check("edition-2015", &["tests::an_addition_can_be_lost", "tests::an_addition_to_a_cell_can_be_lost"]);
}

#[test]
fn of_2018() {
    check("edition-2018", &["an_addition_can_be_lost"]);
}

#[test]
fn of_2021() {
    check("edition-2021", &["tests::two_can_be_first"]);
}

#[test]
fn of_2024() {
    check("edition-2024", &["tests::an_addition_can_be_lost", "tests::one_of_them_is_first"]);
}

/// The programs that the mirror of parking_lot is tested with, over the real one.
#[test]
fn the_real_parking_lot() {
    let programs = [
        "a_fair_unlock_orders_what_it_guards",
        "a_task_that_reads_twice_blocks_itself",
        "every_program_comes_to_its_end_whatever_the_schedule",
    ];
    check("real-parking-lot", &programs);
}
