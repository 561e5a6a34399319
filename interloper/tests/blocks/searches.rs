//! What a search promises, whatever the program: the same seed gives the same report, for any number of jobs.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use interloper::blocks::{Grade, Misuse, Report, Schedule};
use interloper::{Checker, atomic, atomic_returning};

use crate::support::{Atomic, Mutex, beside, checker, spawn};

/// So many tasks, each of which runs the block.
fn tasks(count: usize, block: fn(&Atomic)) -> i64 {
    let number = Arc::new(Atomic::default());
    let spawn_one = |_| {
        let shared = Arc::clone(&number);
        spawn(move || block(&shared))
    };
    let others: Vec<_> = (1..count).map(spawn_one).collect();
    block(&number);
    others.into_iter().for_each(|other| other.join());
    number.load()
}

fn lost(number: &Atomic) {
    atomic("increment", || number.store(number.load() + 1));
}

fn benign(number: &Atomic) {
    atomic("two ids", || (number.fetch_add(1), number.fetch_add(1)));
}

fn good(number: &Atomic) {
    atomic_returning("increment", || number.fetch_add(1));
}

/// Found late: with one value of many only, and in few schedules.
fn rare(number: &Atomic) {
    atomic("four", || {
        (0..4).for_each(|_| _ = number.fetch_add(1));
        assert_ne!(number.load() % 8, 7, "rare");
    });
}

fn deadlock() -> i64 {
    let locks = Arc::new((Mutex::new(1), Mutex::new(2)));
    let shared = Arc::clone(&locks);
    let task = spawn(move || {
        let second = shared.1.lock();
        *second + *shared.0.lock()
    });
    let first = locks.0.lock();
    let sum = *first + *locks.1.lock();
    drop(first);
    sum + task.join()
}

/// Everything that a report holds.
fn all_of(report: &Report) -> String {
    format!("{report}\n{report:?}")
}

#[test]
fn a_report_depends_on_the_seed_and_not_on_the_jobs() {
    type Case = (&'static str, fn() -> i64);
    let programs: [Case; 5] = [
        ("lost", || tasks(2, lost)),
        ("benign", || tasks(3, benign)),
        ("good", || tasks(3, good)),
        ("rare", || tasks(2, rare)),
        ("deadlock", deadlock),
    ];
    for (name, program) in programs {
        for seed in 0..4 {
            let check = |jobs: usize| {
                let jobs = NonZeroUsize::new(jobs).unwrap();
                Checker::new(name).executions(2_000).seed(seed).jobs(jobs).check(program).unwrap()
            };
            let alone = check(1);
            for jobs in [1, 2, 5] {
                assert_eq!(all_of(&check(jobs)), all_of(&alone), "{name}, seed {seed}, {jobs} jobs");
            }
        }
    }
}

#[test]
fn another_seed_is_another_search() {
    let execution = |seed: u64| {
        let checker = Checker::new("lost").schedule(Schedule::Random).seed(seed);
        checker.check(|| tasks(2, lost)).unwrap().bug.unwrap().decisions.to_string()
    };
    let first = execution(0);
    assert!((1..20).any(|seed| execution(seed) != first));
}

#[test]
fn algorithm_2_as_printed_pauses_at_mutexes_alone() {
    /// As [`lost`], under a mutex that is given back in between.
    fn lost_under_a_mutex() -> i64 {
        let number = Arc::new(Mutex::new(0));
        let increment = |number: &Mutex<i64>| {
            atomic("increment", || {
                let before = *number.lock();
                *number.lock() = before + 1;
            });
        };
        let shared = Arc::clone(&number);
        let other = spawn(move || increment(&shared));
        increment(&number);
        other.join();
        *number.lock()
    }
    // In how many of 20 searches the first execution has the bug, which then comes of a pause.
    let at_once = |schedule: Schedule, program: fn() -> i64| {
        let first = |seed: &u64| {
            let checker = Checker::new("lost").schedule(schedule.clone()).seed(*seed);
            checker.check(program).unwrap().bug.unwrap().execution == 1
        };
        (0..20).filter(first).count()
    };
    let (general, printed) = (Schedule::AtomFuzzer { q: 1.0 }, Schedule::AtomFuzzerMutex { q: 1.0 });
    assert_eq!(at_once(general.clone(), lost_under_a_mutex), 20);
    assert_eq!(at_once(printed.clone(), lost_under_a_mutex), 20);
    assert_eq!(at_once(general, || tasks(2, lost)), 20);
    // Nothing is paused at an atomic: what is left is a random walk.
    let by_chance = at_once(printed, || tasks(2, lost));
    assert!((1..20).contains(&by_chance), "{by_chance}");
}

#[test]
fn bugs_are_counted_on_request() {
    let check = |keep_going: bool| {
        let checker = Checker::new("lost").schedule(Schedule::Random).executions(100);
        checker.settings(|settings| settings.keep_going = keep_going).check(|| tasks(2, lost)).unwrap()
    };
    let first = check(false);
    assert_eq!(first.coverage.bugs, 1);
    assert_eq!(first.coverage.executions, first.bug.as_ref().unwrap().execution);
    let all = check(true);
    assert_eq!(all.coverage.executions, 100);
    assert!(all.coverage.bugs > 1, "{}", all.coverage);
    assert_eq!(all.bug.unwrap().execution, first.bug.unwrap().execution);
}

#[test]
fn time_that_is_over_makes_no_executions() {
    let checker = Checker::new("good").time(Duration::ZERO).allow_trivial();
    let report = checker.check(|| tasks(2, good)).unwrap();
    assert_eq!((report.grade, report.coverage.executions), (Grade::Clean, 0));
    assert!(report.to_string().contains(": 0 executions of 0 traces, 0 steps"), "{report}");
    assert!(report.to_string().contains("; the time ran out during the search"), "{report}");
}

#[test]
fn the_smallest_execution_has_fewest_preemptions() {
    let report = Checker::new("lost").seed(3).check(|| tasks(4, lost)).unwrap();
    let bug = report.bug.unwrap();
    // One is enough: a block that is interrupted behind its load by another one as a whole.
    let switches = bug.counterexample.rows.windows(2).filter(|rows| rows[0].column != rows[1].column).count();
    assert!(switches <= 8, "{}", bug.counterexample);
    assert!(bug.counterexample.rows.iter().any(|row| row.notes.iter().any(|note| note.starts_with("▲ 2 of 3"))));
}

#[test]
fn executions_are_made_twice_on_request() {
    let checker = Checker::new("program").executions(50).check_determinism();
    let report = checker.check(|| tasks(2, good)).unwrap();
    assert_eq!((report.grade, report.coverage.executions), (Grade::Clean, 50));
    // A counter that nobody controls.
    let runs = AtomicU64::new(0);
    let depends_on_it = || {
        let number = Atomic::default();
        if runs.fetch_add(1, Relaxed).is_multiple_of(2) {
            number.store(1);
        }
        number.load()
    };
    let misuse = checker.check(depends_on_it).expect_err("each run but one makes another step");
    let Misuse::Nondeterministic { execution, difference } = &misuse else { panic!("{misuse:?}") };
    assert!(difference.starts_with("at step 2, first task 0 does "), "{difference}");
    let message = misuse.to_string();
    let start = format!(
        "the program is not deterministic: execution {execution}, rerun with the same decisions, went another way: at \
         step 2, first task 0 does "
    );
    assert!(message.starts_with(&start), "{message}");
    assert!(message.contains("; usual causes are time, randomness, addresses, "), "{message}");
}

/// The steps are the same, and the end is not.
#[test]
fn how_an_execution_ends_is_compared_too() {
    let checker = Checker::new("program").executions(50).check_determinism();
    let difference = |program: &(dyn Fn() -> u64 + Sync)| match checker.check(program) {
        Err(Misuse::Nondeterministic { difference, .. }) => difference,
        other => panic!("{other:?}"),
    };
    // The program is run a few times before the search.
    let runs = AtomicU64::new(0);
    let panics_at_times = || {
        let number = Atomic::default();
        number.store(1);
        assert!(runs.fetch_add(1, Relaxed).is_multiple_of(2), "an odd run");
        0
    };
    let panicked = "the execution is over: task 0 panicked: an odd run";
    let finished = "the execution is over: the program came to its end";
    let found = difference(&panics_at_times);
    let either = [(panicked, finished), (finished, panicked)];
    let either = either.map(|(first, second)| format!("after 3 steps, first {first}, then {second}"));
    assert!(either.contains(&found), "{found}");
    // Both panic, and say different things.
    let runs = AtomicU64::new(0);
    let says_another_thing = || -> u64 { panic!("run {}", runs.fetch_add(1, Relaxed)) };
    let found = difference(&says_another_thing);
    assert!(found.starts_with("after 2 steps, first the execution is over: task 0 panicked: run "), "{found}");
    // The twin: panics that are the same each time are a finding.
    let report = checker.check(|| -> u64 { panic!("always") }).unwrap();
    assert_eq!(report.grade, Grade::Bug);
}

/// A bound on preemptions is no reason to use memory, and what is looked at again and again is not complete.
#[test]
fn searches_say_what_they_have_seen() {
    let schedule = |text: &str| text.parse::<Schedule>().unwrap();
    let two = || beside(|number: &Atomic| number.fetch_add(1), |number: &Atomic| number.fetch_add(1)).0.load();
    let report = checker().schedule(schedule("preemptions:4294967295")).check(two).unwrap();
    assert!(report.coverage.complete, "{report}");
    let polls = || {
        let deadline = interloper::time::Instant::now() + std::time::Duration::from_secs(1);
        while interloper::time::Instant::now() < deadline {}
    };
    for text in ["preemptions:1", "exhaustive"] {
        let report = checker().schedule(schedule(text)).allow_trivial().check(polls).unwrap();
        assert_eq!((report.grade, report.coverage.complete), (Grade::Clean, false), "{report}");
        assert!(report.to_string().contains("not complete: a thread polled the clock"), "{report}");
    }
}
