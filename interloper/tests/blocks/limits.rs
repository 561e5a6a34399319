//! The largest values of settings, and outcomes of any length: bounded, and said in a length that a person reads.

use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use interloper::blocks::{Checker, Grade, Preempt, Report, Schedule};
use interloper::thread;

use super::support::Atomic;

/// Two tasks that lose an update, or do not.
fn two(increment: fn(&Atomic)) -> i64 {
    let number = interloper::sync::Arc::new(Atomic::default());
    let other = interloper::sync::Arc::clone(&number);
    let task = thread::spawn(move || increment(&other));
    increment(&number);
    task.join().unwrap();
    number.load()
}

fn lost(number: &Atomic) {
    interloper::atomic("increment", || number.store(number.load() + 1));
}

fn at_once(number: &Atomic) {
    interloper::atomic("increment", || number.fetch_add(1));
}

fn checked(change: impl Fn(Checker) -> Checker) {
    let checker = || change(Checker::new("two increments").executions(200));
    let report: Report = checker().check(|| two(lost)).unwrap();
    report.assert_grade(Grade::Bug);
    checker().check(|| two(at_once)).unwrap().assert_no_bug();
}

/// Nothing announces loads and stores here, so a search would seem to look at them and would not.
#[test]
fn steps_at_plain_memory_need_a_program_that_was_built_for_it() {
    let misuse = Checker::new("two increments").preempt(Preempt::Memory).check(|| two(at_once)).unwrap_err();
    assert!(misuse.to_string().ends_with("run it with `cargo interloper test --preempt memory`"), "{misuse}");
}

#[test]
fn the_largest_values_are_bounded() {
    checked(|checker| checker.schedule(Schedule::Preemptions(u32::MAX)));
    checked(|checker| checker.schedule(Schedule::Pct { depth: NonZeroU32::MAX }));
    checked(|checker| checker.time(Duration::MAX));
    checked(|checker| checker.jobs(NonZeroUsize::MAX));
    checked(|checker| checker.settings(|settings| settings.stack_size = 1 << 30));
    checked(|checker| checker.settings(|settings| settings.stack_size = 0));
}

#[test]
fn a_long_outcome_is_shown_by_its_ends() {
    let text = |number: i64| format!("{number}{}{number}", "x".repeat(10 << 20));
    let report = Checker::new("long").check(move || text(two(lost))).unwrap();
    report.assert_grade(Grade::Bug);
    let shown = report.to_string();
    assert!(shown.len() < 20_000, "{} characters", shown.len());
    assert!(shown.contains("characters left out"), "{shown}");
    let whole = &report.violation().unwrap().counterexample;
    assert!(whole.rows.iter().any(|row| row.event.to_string().len() > 10 << 20), "the data are whole");
}

/// How often a program of so many steps of one task runs in a check of one execution.
fn runs(schedule: Schedule, steps: u64) -> u64 {
    let runs = AtomicU64::new(0);
    let checker = Checker::new("many steps").schedule(schedule).executions(1).allow_trivial();
    let checked = checker.check(|| {
        runs.fetch_add(1, Ordering::Relaxed);
        let number = Atomic::default();
        (0..steps).for_each(|_| number.store(1));
    });
    checked.unwrap().assert_no_bug();
    runs.into_inner()
}

/// SURW wants a profile, and is otherwise checked as a random walk is. The profile is complete with 2^17 = 131,072 events: 20 executions
/// of a short program come before, 2 of one with 70,000 steps, and 1 of one with 140,000.
#[test]
fn long_executions_are_measured_less_often() {
    for (steps, walks) in [(10, 20), (70_000, 2), (140_000, 1)] {
        assert_eq!(runs(Schedule::Surw, steps) - runs(Schedule::Random, steps), walks, "{steps} steps");
    }
}
