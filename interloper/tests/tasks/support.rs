//! How programs of futures are checked here.

use std::num::NonZeroUsize;

use interloper::blocks::{Finding, Grade, Report, Schedule};
use interloper::tasks::{Executor, Flavor};
use interloper::{Checker, ToValue};

/// As many polls overlap as there are workers.
pub fn workers(workers: usize) -> Executor {
    Executor::new().flavor(Flavor::MultiThread { workers: NonZeroUsize::new(workers).unwrap() })
}

/// All executions of a program.
#[track_caller]
pub fn all<R: ToValue>(program: impl Fn() -> R + Sync) -> Report {
    let checker = Checker::new("program").schedule(Schedule::Exhaustive).executions(100_000);
    checker.settings(|settings| settings.keep_going = true).check(program).unwrap()
}

/// The executions of a search that found nothing and left nothing out.
#[track_caller]
pub fn all_pass<R: ToValue>(program: impl Fn() -> R + Sync) -> u64 {
    let report = all(program);
    report.assert_grade(Grade::Clean);
    assert!(report.coverage.complete, "{report}");
    report.coverage.executions
}

/// What the default search finds within 200 executions.
#[track_caller]
pub fn found<R: ToValue>(program: impl Fn() -> R + Sync) -> Report {
    let report = Checker::new("program").executions(200).check(program).unwrap();
    report.assert_grade(Grade::Bug);
    report
}

/// As [`found`], without the report.
#[track_caller]
pub fn finding<R: ToValue>(program: impl Fn() -> R + Sync) -> Finding {
    found(program).bug.unwrap().finding
}

/// The default search finds nothing.
#[track_caller]
pub fn passes<R: ToValue>(program: impl Fn() -> R + Sync) {
    Checker::new("program").executions(200).check(program).unwrap().assert_grade(Grade::Clean);
}
