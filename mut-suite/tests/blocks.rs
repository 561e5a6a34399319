//! Every program with blocks says what it must, and the suite can fail.

use std::collections::BTreeSet;

use interloper::blocks::{Bug, Expected, Grade, Program, Report, Schedule, Settings, Unexpected};
use interloper_suite::blocks::{find_program, programs};

/// A program with a bug shows it within so many executions.
const EXECUTIONS: u64 = 100;

#[test]
fn grades_are_as_expected() {
    for program in programs() {
        let report = program.run().unwrap_or_else(|unexpected| panic!("{unexpected}"));
        if let Some(bug) = &report.bug {
            assert!(bug.execution <= EXECUTIONS, "{}: found by execution {}", program.name, bug.execution);
        }
        assert_eq!((report.coverage.undecided, report.coverage.given_up), (0, 0), "{report}");
    }
}

fn search(program: &Program, schedule: Schedule) -> Report {
    let settings = Settings { schedule, executions: 20_000, ..program.own_settings() };
    program.check_with(&settings).unwrap_or_else(|misuse| panic!("{}: {misuse}", program.name))
}

/// What random schedules did not find is not there in any other one.
#[test]
fn programs_without_a_bug_have_none() {
    for program in programs().into_iter().filter(|program| program.expected.grade() < Grade::Bug) {
        let report = search(&program, Schedule::Exhaustive);
        assert!(report.coverage.complete, "{}\n{report}", program.name);
        assert!(program.expected.fits(&report), "{program:?}\n{report}");
    }
}

/// And what they found is found by going through the schedules, too.
#[test]
fn bugs_are_found_by_all_schedules_too() {
    for program in programs().into_iter().filter(|program| program.expected.grade() == Grade::Bug) {
        let report = search(&program, Schedule::Exhaustive);
        assert!(program.expected.fits(&report), "{program:?}\n{report}");
    }
}

/// How many schedules there are that differ in more than the order of independent steps: worked out by hand.
///
/// - Two critical sections of one lock: 2 orders. Three of them: 6. Two in a row of one thread, and one of the other: 3.
/// - Two threads whose first step is to take a lock that they keep to the end: 2.
/// - Nobody else: 1.
/// - Three philosophers: who is first at each of three forks, 8, without the two ways in which each is before the next.
#[test]
fn schedules_are_counted() {
    let expected = [
        ("figure-1-one-section", 2),
        ("figure-3", 2),
        ("figure-4-n", 1),
        ("initialize", 1),
        ("foo", 2),
        ("get-unique-id", 3),
        ("lock-order-by-number", 2),
        ("dining-philosophers-one-left-handed", 6),
        ("once-cell-compare-exchange", 2),
        ("reorder-locked", 6),
        ("channel-close-locked", 2),
    ];
    for (name, schedules) in expected {
        let report = search(&find_program(name).expect("it is there"), Schedule::Exhaustive);
        assert_eq!((report.coverage.executions, report.coverage.complete), (schedules, true), "{name}\n{report}");
    }
}

#[test]
fn names_are_unique_and_in_kebab_case() {
    let programs = programs();
    let names: BTreeSet<&str> = programs.iter().map(|program| program.name).collect();
    assert_eq!(names.len(), programs.len());
    for name in names {
        let plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
        assert!(name.split('-').all(|word| !word.is_empty() && word.chars().all(plain)), "{name}");
        assert_eq!(find_program(name).expect("it is there").name, name);
        assert!(interloper_suite::find(name).is_none(), "{name} is the name of a method under test, too");
    }
    assert!(find_program("no-such-program").is_none());
}

#[test]
fn every_program_is_described_and_shows_its_code() {
    for program in programs() {
        assert!(program.source.contains("fn "), "{}: no code between its markers", program.name);
        assert!(program.source.starts_with("/// "), "{}: its code begins without a word", program.name);
        assert!(!program.source.contains("// case:"), "{}: its end is missing", program.name);
        assert!(program.about.ends_with('.') && !program.about.contains("  "), "{}: {}", program.name, program.about);
        assert!(!program.origin.is_empty());
    }
}

#[test]
fn every_bad_program_has_a_good_twin() {
    for program in programs() {
        match (program.expected, program.twin) {
            (Expected::Bug(_), None) => panic!("{} has no twin", program.name),
            (Expected::Bug(_), Some(twin)) => {
                let twin = find_program(twin).unwrap_or_else(|| panic!("{}: no program {twin}", program.name));
                assert!(twin.expected.grade() < Grade::Bug, "{} is the twin of {}", twin.name, program.name);
            }
            (_, twin) => assert_eq!(twin, None, "{}", program.name),
        }
    }
}

/// The canary: a program whose expectation is wrong must be refused, whichever way it is wrong.
#[test]
fn a_wrong_expectation_is_noticed() {
    let bugs = [Bug::NotSerialisable, Bug::Panic("the balance is negative"), Bug::Panic("?"), Bug::Deadlock];
    let grades = [Expected::Clean, Expected::Warning, Expected::Error];
    let all: Vec<Expected> = grades.into_iter().chain(bugs.map(Expected::Bug)).collect();
    for name in
        ["figure-1", "figure-1-without-assertion", "figure-3", "get-unique-id", "lost-notify", "lost-notify-mended"]
    {
        let right = find_program(name).expect("it is there");
        for &expected in &all {
            match (Program { expected, ..right }).run() {
                Ok(_) => assert_eq!(expected, right.expected, "{name}"),
                Err(Unexpected::Grade { program, expected: claimed, report }) => {
                    assert_eq!((program, claimed), (name, expected));
                    assert!(right.expected.fits(&report) && expected != right.expected, "{name}");
                }
                Err(misuse) => panic!("{misuse}"),
            }
        }
    }
}
