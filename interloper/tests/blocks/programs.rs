//! Programs as a suite has them, and all schedules of small ones.

use std::sync::Arc;

use interloper::ToValue;
use interloper::blocks::{Bug, Expected, Finding, Grade, Misuse, Program, Schedule, Settings, Unexpected};
use interloper::sync::atomic::Ordering::SeqCst;
use interloper::{Checker, atomic};

use crate::support::{Atomic, Mutex, spawn};

fn increments(increment: fn(&Atomic)) -> i64 {
    let number = Arc::new(Atomic::default());
    let shared = Arc::clone(&number);
    let task = spawn(move || increment(&shared));
    increment(&number);
    task.join();
    number.load()
}

fn in_two_steps(number: &Atomic) {
    atomic("increment", || number.store(number.load() + 1));
}

fn at_once(number: &Atomic) {
    atomic("increment", || _ = number.fetch_add(1));
}

fn two_locks() -> i64 {
    let locks = Arc::new((Mutex::new(0), Mutex::new(0)));
    let shared = Arc::clone(&locks);
    let task = spawn(move || {
        let second = shared.1.lock();
        *second + *shared.0.lock()
    });
    let sum = {
        let first = locks.0.lock();
        *first + *locks.1.lock()
    };
    sum + task.join()
}

const LOST: Program = Program {
    settings: |settings| settings.executions = 300,
    ..Program::new("lost-update", Expected::Bug(Bug::NotSerialisable), || increments(in_two_steps).to_value())
};

#[test]
fn what_is_expected_is_compared() {
    let [clean, deadlock] = [
        Program::new("counter", Expected::Clean, || increments(at_once).to_value()),
        Program::new("two-locks", Expected::Bug(Bug::Deadlock), || two_locks().to_value()),
    ];
    assert_eq!(LOST.run().unwrap().grade, Grade::Bug);
    assert_eq!(clean.run().unwrap().coverage.executions, Settings::default().executions);
    deadlock.run().unwrap();
    // Each wrong expectation is refused: another grade, another kind of bug.
    for (program, expected) in [
        (LOST, Expected::Clean),
        (LOST, Expected::Error),
        (LOST, Expected::Bug(Bug::Deadlock)),
        (deadlock, Expected::Bug(Bug::Panic("deadlock"))),
        (clean, Expected::Warning),
        (clean, Expected::Bug(Bug::NotSerialisable)),
    ] {
        let Err(Unexpected::Grade { program: name, expected: claimed, .. }) = (Program { expected, ..program }).run()
        else {
            panic!("{program:?} is not {expected}");
        };
        assert_eq!((name, claimed), (program.name, expected));
    }
}

#[test]
fn an_execution_of_a_program_is_made_again() {
    let settings = LOST.own_settings();
    assert_eq!(settings.executions, 300);
    let found = LOST.check_with(&settings).unwrap().bug.unwrap();
    for decisions in [&found.decisions, &found.smallest] {
        let replayed = LOST.replay_with(&settings, decisions).unwrap().bug.unwrap();
        assert_eq!(replayed.finding, found.finding);
    }
    let replayed = LOST.replay_with(&settings, &found.smallest).unwrap().bug.unwrap();
    assert_eq!(replayed.counterexample.rows, found.counterexample.rows);
}

/// Two blocks, a load and a store each: 6 interleavings. In two of them one block follows the other. In the other four
/// both loads come first; the order of the loads does not matter, that of the stores does: two traces, both violated.
#[test]
fn all_schedules_of_a_small_program() {
    let check = |schedule: Schedule, increment: fn(&Atomic)| {
        let checker = Checker::new("program").schedule(schedule).settings(|settings| settings.keep_going = true);
        checker.check(move || increments(increment)).unwrap()
    };
    let report = check(Schedule::Exhaustive, in_two_steps);
    assert!(report.coverage.complete);
    assert_eq!((report.coverage.executions, report.coverage.bugs, report.coverage.violated), (4, 2, 2));
    assert!(
        report.to_string().contains("exhaustive, seed 42: 4 executions of 4 traces, 48 steps, complete"),
        "{report}"
    );
    let report = check(Schedule::Exhaustive, at_once);
    assert_eq!((report.grade, report.coverage.executions, report.coverage.complete), (Grade::Clean, 2, true));
    // At random nothing is ever complete; with a bound on preemptions it is within that bound.
    assert!(!check(Schedule::Random, at_once).coverage.complete);
    assert!(check(Schedule::Preemptions(1), at_once).coverage.complete);
}

#[test]
fn a_search_that_is_cut_short_is_not_complete() {
    let check = |executions: u64, steps: u64| {
        let steps = interloper::blocks::StepBound::StopAfter(steps);
        let checker = Checker::new("program").schedule(Schedule::Exhaustive).executions(executions).steps(steps);
        // Within 5 steps the tasks do not meet.
        checker.allow_trivial().check(|| increments(at_once)).unwrap().coverage
    };
    let whole = check(100, 100);
    assert!(whole.complete && whole.cut.is_none());
    let few = check(1, 100);
    assert!(!few.complete && few.cut.is_none() && few.executions == 1);
    let short = check(100, 5);
    assert_eq!((short.complete, short.cut), (false, Some("an execution reached the step bound")));
}

/// A static of std's own type keeps its value from run to run: that is noticed, and said. One of the mirror does not.
#[test]
fn state_that_outlives_a_run_is_misuse() {
    fn increments_of(load: fn() -> i64, store: fn(i64)) -> i64 {
        let increment = move || atomic("increment", || store(load() + 1));
        let task = spawn(increment);
        increment();
        task.join();
        load()
    }
    fn outlives() -> i64 {
        static NUMBER: std::sync::atomic::AtomicI64 = std::sync::atomic::AtomicI64::new(0);
        let number = Atomic::default();
        number.store(NUMBER.fetch_add(1, SeqCst));
        increments(in_two_steps) + number.load()
    }
    let program = Program::new("outlives", Expected::Clean, || outlives().to_value());
    let Err(Unexpected::Misuse { misuse: Misuse::Nondeterministic { execution, difference }, .. }) = program.run()
    else {
        panic!("each run returns another number");
    };
    assert_eq!(execution, 1);
    assert!(difference.starts_with("the first shows: not atomic: the program returns "), "{difference}");
    let kept = "; blocks::programs::state_that_outlives_a_run_is_misuse::outlives::NUMBER carries a value from one \
                execution into the next";
    assert!(difference.ends_with(kept), "{difference}");

    fn fresh() -> i64 {
        static NUMBER: interloper::sync::atomic::AtomicI64 = interloper::sync::atomic::AtomicI64::new(0);
        increments_of(|| NUMBER.load(SeqCst), |number| NUMBER.store(number, SeqCst))
    }
    let report = Program::new("fresh", Expected::Bug(Bug::NotSerialisable), || fresh().to_value()).run().unwrap();
    assert_eq!(report.bug.unwrap().finding, Finding::Unexplained { outcome: "the program returns 1".into() });
}
