//! Shards and interrupted searches give what one search gives.

use std::sync::{Arc, Mutex};

use interloper_scheduler::schedule::Memory;
use interloper_scheduler::{Fingerprint, Shard};
use interloper_std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use interloper_std::thread;

use super::super::mark::atomic;
use super::super::progress::{InMemory, Keep, Keeper, Progress};
use super::super::{Checker, Grade, Report};
use super::*;

/// Two increments in two steps each: benign where the sum is not looked at.
fn two_steps() {
    let number = AtomicU32::new(0);
    let increment = || atomic("increment", || number.store(number.load(SeqCst) + 1, SeqCst));
    thread::scope(|scope| {
        scope.spawn(increment);
        increment();
    });
}

/// Fails when three tasks make their steps in one order of six, which is rare enough to come after some chunks.
fn rare() -> bool {
    let number = AtomicU32::new(0);
    thread::scope(|scope| {
        for task in 1..=3 {
            let number = &number;
            scope.spawn(move || (0..4).for_each(|_| number.store(number.load(SeqCst) * 4 % 251 + task, SeqCst)));
        }
    });
    assert_ne!(number.into_inner(), 170);
    true
}

fn sums() {
    let number = AtomicU32::new(0);
    thread::scope(|scope| {
        scope.spawn(|| number.fetch_add(1, SeqCst));
        number.fetch_add(2, SeqCst);
    });
    assert_eq!(number.into_inner(), 3);
}

/// Says whether the execution is right.
type Program = fn() -> bool;

const PROGRAMS: [(&str, Program); 3] =
    [("two_steps", || (two_steps(), true).1), ("rare", rare), ("sums", || (sums(), true).1)];

const SCHEDULES: [&str; 4] = ["random", "pos", "rff", "portfolio"];

fn checker(schedule: &str) -> Checker {
    Checker::new("program").schedule(schedule.parse().expect("a schedule")).executions(3_000)
}

fn kept(checker: &Checker, keep: &Arc<impl Keep + 'static>) -> Checker {
    let keep: Arc<dyn Keep> = keep.clone();
    checker.clone().settings(|settings| settings.keeper = Keeper::new(keep))
}

fn check(checker: &Checker, program: fn() -> bool) -> Report {
    checker.check(program).expect("it explores something")
}

/// All of a report.
fn all(report: &Report) -> String {
    format!("{report:?}")
}

#[test]
fn joined_shards_are_one_search() {
    for schedule in SCHEDULES {
        let checker = checker(schedule);
        for (name, program) in PROGRAMS {
            let whole = check(&checker, program);
            for of in 1..=5 {
                let mut joined = Progress::default();
                for number in (1..=of).rev() {
                    let memory = Arc::new(InMemory::default());
                    let shard = Shard::new(number, of).expect("a shard");
                    let own = kept(&checker, &memory).settings(|settings| settings.shard = shard);
                    let report = check(&own, program);
                    let progress = memory.take().expect("it was kept at the end");
                    assert_eq!(report.coverage.executions, progress.executions());
                    // Through its text, and twice.
                    joined = joined.and(progress.clone()).and(progress);
                }
                assert!(whole.grade == Grade::Bug || joined.executions() == whole.coverage.executions);
                let again = kept(&checker, &Arc::new(InMemory::after(joined)));
                assert_eq!(all(&check(&again, program)), all(&whole), "{schedule}, {name}, {of}");
            }
        }
    }
}

/// Three tasks with two steps each on one atomic: 6! / (2! 2! 2!) = 90 orders, each a trace of its own.
fn three_times_two() -> bool {
    let number = AtomicU32::new(0);
    thread::scope(|scope| {
        for task in 1..=3 {
            let number = &number;
            scope.spawn(move || (0..2).for_each(|_| _ = number.fetch_add(task, SeqCst)));
        }
    });
    assert_eq!(number.into_inner(), 12);
    true
}

/// Whether no trace is in two parts, or twice in one, and so many traces are in some part: pair by pair.
fn are_disjoint(parts: &[Vec<Fingerprint>], traces: u64) -> bool {
    let all: Vec<Fingerprint> = parts.concat();
    let is_new = |(at, trace): (usize, &Fingerprint)| !all[..at].contains(trace);
    all.len() as u64 == traces && all.iter().enumerate().all(is_new)
}

/// Joined, the parts of an exhaustive search are that search: without any execution where nothing was found, and otherwise with a
/// search of its own.
#[test]
fn joined_parts_of_an_exhaustive_search_are_one_search() {
    let checker = checker("exhaustive");
    for (name, program) in PROGRAMS.into_iter().chain([("three_times_two", three_times_two as Program)]) {
        let whole = check(&checker, program);
        if name == "three_times_two" {
            assert_eq!((whole.coverage.executions, whole.coverage.traces, whole.coverage.complete), (90, 90, true));
        }
        for of in 2..=5 {
            let mut joined = Progress::default();
            for number in (1..=of).rev() {
                let memory = Arc::new(InMemory::default());
                let shard = Shard::new(number, of).expect("a shard");
                check(&kept(&checker, &memory).settings(|settings| settings.shard = shard), program);
                let progress = memory.take().expect("it was kept at the end");
                joined = joined.and(progress.clone()).and(progress);
            }
            let is_clean = whole.grade == Grade::Clean && whole.coverage.complete;
            let subtrees = joined.subtrees().expect("parts of an exhaustive search");
            assert_eq!(subtrees.is_open(), !is_clean, "{name}");
            assert!(!is_clean || are_disjoint(&subtrees.listed(), whole.coverage.traces), "{name}, {of}");
            if name == "three_times_two" {
                let counts: Vec<usize> = subtrees.listed().iter().map(Vec::len).collect();
                let average = 90 / of as usize;
                let is_even = counts.iter().all(|count| (average / 3..=average * 3).contains(count));
                assert!(is_even, "{of} parts have {counts:?} traces");
            }
            let again = kept(&checker, &Arc::new(InMemory::after(joined.clone())));
            assert_eq!(all(&check(&again, program)), all(&whole), "{name}, {of}");
            // One process with a limit of so many executions does not see that it is at the end.
            let limited = checker.clone().executions(whole.coverage.traces);
            let again = kept(&limited, &Arc::new(InMemory::after(joined)));
            assert_eq!(all(&check(&again, program)), all(&check(&limited, program)), "{name}, {of}");
        }
    }
}

/// The executions of shards are those of one search, also in what they show.
#[test]
fn shards_have_the_executions_of_one_search() {
    for schedule in SCHEDULES {
        let checker = checker(schedule).settings(|settings| settings.keep_going = true);
        let whole = check(&checker, rare).coverage;
        for of in [2, 3, 4, 7] {
            let shard = |number| {
                let shard = Shard::new(number, of).expect("a shard");
                checker.clone().settings(|settings| settings.shard = shard)
            };
            let parts: Vec<_> = (1..=of).map(|number| check(&shard(number), rare).coverage).collect();
            let sum = |count: fn(&super::super::Coverage) -> u64| parts.iter().map(count).sum::<u64>();
            assert_eq!(sum(|part| part.executions), whole.executions);
            assert_eq!((sum(|part| part.steps), sum(|part| part.bugs)), (whole.steps, whole.bugs));
            if !schedule.parse::<Schedule>().expect("a schedule").learns() {
                // 3,000 executions are 47 chunks of 64, of which each shard has as many, or one more.
                let counts = parts.iter().map(|part| part.executions);
                let (most, least) = (counts.clone().max(), counts.min());
                assert!(most.expect("some") - least.expect("some") <= 2 * ROUNDS, "{schedule}: {most:?} {least:?}");
            }
        }
        assert!(whole.bugs > 0, "the program of this test must fail under {schedule}");
    }
}

/// Keeps every progress, as if each of them were the last before the process was killed.
#[derive(Default)]
struct Every {
    all: Mutex<Vec<Progress>>,
}

impl Keep for Every {
    fn earlier(&self) -> Option<Progress> {
        None
    }

    fn is_due(&self) -> bool {
        true
    }

    fn keep(&self, progress: Progress) {
        self.all.lock().expect("no test panics here").push(progress);
    }
}

#[test]
fn an_interrupted_search_goes_on_as_if_it_had_not_been() {
    for schedule in SCHEDULES {
        for jobs in [1, 3] {
            let checker = checker(schedule).jobs(jobs.try_into().expect("not zero"));
            for (name, program) in PROGRAMS {
                let whole = check(&checker, program);
                let every = Arc::new(Every::default());
                assert_eq!(all(&check(&kept(&checker, &every), program)), all(&whole));
                let moments = std::mem::take(&mut *every.all.lock().expect("no test panics here"));
                assert!(whole.grade == Grade::Bug || moments.len() > 2, "{schedule}, {name}: {}", moments.len());
                // The first, the last and some between them.
                let stride = (moments.len() / 4).max(1);
                for progress in moments.iter().step_by(stride).chain(moments.last()) {
                    let again = kept(&checker, &Arc::new(InMemory::after(progress.clone())));
                    assert_eq!(all(&check(&again, program)), all(&whole), "{schedule}, {name}, {jobs}");
                }
            }
        }
    }
}

/// A search that learns goes on with what it has learnt: its process makes the executions that are left, and few others.
#[test]
fn what_was_learnt_is_not_learnt_again() {
    static RUNS: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    let program = || {
        RUNS.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        rare();
        true
    };
    let runs = |checker: &Checker| {
        let before = RUNS.load(std::sync::atomic::Ordering::Relaxed);
        let report = check(checker, program);
        (report, RUNS.load(std::sync::atomic::Ordering::Relaxed) - before)
    };
    for schedule in ["rff", "surw", "portfolio", "atomfuzzer+pos+rff"] {
        let checker = checker(schedule).jobs(1.try_into().expect("not zero"));
        let checker = checker.settings(|settings| settings.keep_going = true);
        let (whole, all_runs) = runs(&checker);
        let every = Arc::new(Every::default());
        runs(&kept(&checker, &every));
        let moments = std::mem::take(&mut *every.all.lock().expect("no test panics here"));
        let row = ROUNDS * schedule.parse::<Schedule>().expect("a schedule").members().len() as u64;
        for progress in moments.iter().step_by((moments.len() / 6).max(1)) {
            let text = serde_json::to_string(progress).expect("plain data");
            let progress: Progress = serde_json::from_str(&text).expect("what was written");
            let known = progress.executions();
            let (report, made) = runs(&kept(&checker, &Arc::new(InMemory::after(progress))));
            assert_eq!(all(&report), all(&whole), "{schedule}");
            // One chunk of the lane that ran last was not noted yet, and what the executions showed is looked at again.
            assert!(made <= all_runs - known + row + 4, "{schedule}: {made} after {known} of {all_runs}");
        }
        assert!(moments.len() > 6, "{schedule}");
    }
}

/// Also where memory is weak, where all findings are counted, and where a limit on the executions ends the search.
#[test]
fn a_search_that_tries_everything_goes_on_as_if_it_had_not_been_interrupted() {
    let programs = PROGRAMS.into_iter().chain([("three_times_two", three_times_two as Program)]);
    for (name, program) in programs {
        for schedule in ["exhaustive", "preemptions:2"] {
            let weak = checker(schedule).memory(Memory::Weak);
            let counts = checker(schedule).settings(|settings| settings.keep_going = true);
            let limited = checker(schedule).executions(50);
            for (way, checker) in [checker(schedule), counts, limited, weak].iter().enumerate() {
                let whole = check(checker, program);
                let every = Arc::new(Every::default());
                assert_eq!(all(&check(&kept(checker, &every), program)), all(&whole), "{schedule}, {name}, {way}");
                let moments = std::mem::take(&mut *every.all.lock().expect("no test panics here"));
                let rows = whole.coverage.executions.div_ceil(ROW) as usize;
                assert!(whole.grade == Grade::Bug || moments.len() >= rows, "{schedule}, {name}, {way}");
                let stride = (moments.len() / 4).max(1);
                for progress in moments.iter().step_by(stride).chain(moments.last()) {
                    // Through its text.
                    let text = serde_json::to_string(progress).expect("plain data");
                    let progress: Progress = serde_json::from_str(&text).expect("what was written");
                    let again = kept(checker, &Arc::new(InMemory::after(progress)));
                    assert_eq!(all(&check(&again, program)), all(&whole), "{schedule}, {name}, {way}");
                }
            }
        }
    }
}

/// A part of another program is refused.
#[test]
fn an_execution_that_no_longer_fails_is_refused() {
    let checker = checker("random");
    let memory = Arc::new(InMemory::default());
    assert_eq!(check(&kept(&checker, &memory), PROGRAMS[1].1).grade, Grade::Bug);
    let earlier = memory.take().expect("it was kept at the end");
    let again = kept(&checker, &Arc::new(InMemory::after(earlier)));
    let refused = again.check(PROGRAMS[2].1).expect_err("the program is another one");
    assert!(matches!(refused, Misuse::Diverged { .. }), "{refused}");
}

/// Nothing is left for a shard beyond the last chunk, and that is no finding.
#[test]
fn a_shard_without_executions_has_nothing_to_do() {
    let checker = checker("pos").executions(10).must_enter("increment");
    let shard = |number| {
        let shard = Shard::new(number, 2).expect("a shard");
        checker.clone().settings(|settings| settings.shard = shard)
    };
    assert_eq!(check(&shard(1), PROGRAMS[0].1).coverage.executions, 10);
    let none = check(&shard(2), PROGRAMS[0].1);
    assert_eq!((none.grade, none.coverage.executions), (Grade::Clean, 0));
    assert!(none.coverage.nothing_to_do);
    let coverage = "pos, seed 42, shard 2/2: nothing to do: all executions of the search belong to other shards";
    assert_eq!(none.coverage.to_string(), coverage);
    let report = none.to_string();
    assert!(report.starts_with("– ") && report.contains("nothing to do") && !report.contains("clean"), "{report}");
    let some = check(&shard(1), PROGRAMS[0].1);
    assert!(!some.coverage.nothing_to_do && !some.to_string().contains("nothing to do"), "{some}");
    // Of a whole search it is one.
    assert!(matches!(checker.executions(0).check(PROGRAMS[0].1), Err(Misuse::Unexplored(_))));
}
