//! The benchmark programs have their bugs, and the fixed twins have none.

use interloper::blocks::{Expected, Program, Report, Schedule, Settings};
use interloper_suite::benchmarks::{benchmarks, find_benchmark, twins};

/// Found by no strategy within a time that a test may take.
const TOO_HARD: [&str; 1] = ["safestack"];

fn check(program: &Program, schedule: &str, executions: u64) -> Report {
    let schedule: Schedule = schedule.parse().unwrap();
    let settings = Settings { schedule, executions, shrink_executions: 0, ..program.own_settings() };
    program.check_with(&settings).unwrap_or_else(|misuse| panic!("{}: {misuse}", program.name))
}

/// On average, POS needs at most 100 executions, but for those with 100 threads, where it needs about 200: the odds to
/// miss one of those in 3,000 are below 2^-20.
#[test]
fn each_has_its_bug() {
    for program in benchmarks().into_iter().filter(|program| !TOO_HARD.contains(&program.name)) {
        let report = check(&program, "pos", 3_000);
        assert!(program.expected.fits(&report), "{}\n{report}", program.name);
    }
}

#[test]
fn a_twin_has_no_bug() {
    for program in twins() {
        let report = check(&program, "pos+pct:3", 400);
        assert!(report.bug.is_none(), "{}\n{report}", program.name);
    }
}

/// It was none of these searches that found it, but SafeStack runs, and few executions show nothing.
#[test]
fn the_hardest_runs() {
    let program = find_benchmark("safestack").unwrap();
    assert!(matches!(program.expected, Expected::Bug(_)));
    assert!(check(&program, "random", 50).bug.is_none());
}

#[test]
fn names_are_unique() {
    let mut names: Vec<_> = benchmarks().iter().chain(&twins()).map(|program| program.name).collect();
    let all = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), all);
}
