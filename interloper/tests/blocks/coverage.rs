//! What a pass covers, and what is not a pass: a search that could have found nothing.

use std::num::NonZeroUsize;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use interloper::blocks::{Blocks, CutShort, Finding, Grade, Misuse, Report, Schedule, StepBound, Unexplored};
use interloper::{Checker, ToValue, atomic};

use crate::support::{Atomic, Mutex, spawn};

/// Two tasks, each of which makes a number of steps on an object that `shared` says whether they share.
fn two(shared: bool, steps: usize) -> i64 {
    let first = Arc::new(Atomic::default());
    let second = if shared { Arc::clone(&first) } else { Arc::default() };
    let run = move |number: &Atomic| (0..steps).for_each(|_| _ = number.fetch_add(1));
    let other = spawn({
        let second = Arc::clone(&second);
        move || run(&second)
    });
    run(&first);
    other.join();
    first.load() + second.load()
}

#[track_caller]
fn unexplored<R: ToValue>(checker: &Checker, program: impl Fn() -> R + Sync, expected: &Unexplored) {
    let Err(misuse) = checker.check(&program) else { panic!("it passes: {expected:?}") };
    assert_eq!(misuse, Misuse::Unexplored(expected.clone()));
    let message = misuse.to_string();
    assert!(message.starts_with("nothing was explored: "), "{message}");
    let report = checker.clone().allow_trivial().check(program).unwrap();
    assert_eq!(report.grade, Grade::Clean);
}

#[test]
fn no_execution_is_no_pass() {
    let checker = Checker::new("program");
    unexplored(&checker.clone().executions(0), || two(true, 1), &Unexplored::NoExecutions);
    unexplored(&checker.clone().time(Duration::ZERO), || two(true, 1), &Unexplored::NoTime);
    assert_eq!(checker.executions(1).check(|| two(true, 1)).unwrap().grade, Grade::Clean);
}

#[test]
fn a_program_without_a_choice_is_no_pass() {
    let checker = Checker::new("program").executions(20);
    unexplored(&checker, || Atomic::default().fetch_add(1), &Unexplored::OneTask);
    // Each task is joined before anything else happens: the parent waits, so only one can go on.
    let in_turn = || {
        let number = Arc::new(Atomic::default());
        for _ in 0..2 {
            let number = Arc::clone(&number);
            spawn(move || number.fetch_add(1)).join();
        }
        number.load()
    };
    unexplored(&checker, in_turn, &Unexplored::NoChoice { tasks: 3 });
    // Threads of the real std are not seen: the usual reason.
    let real = || std::thread::spawn(|| 1).join().unwrap();
    unexplored(&checker, real, &Unexplored::OneTask);
    // A bug is a bug, however it was found.
    let bug = checker.check(|| assert_eq!(Atomic::default().fetch_add(1), 7)).unwrap();
    assert!(matches!(bug.bug.unwrap().finding, Finding::Panic { .. }));
}

#[test]
fn tasks_that_share_nothing_are_no_pass() {
    let checker = Checker::new("program").executions(50);
    unexplored(&checker, || two(false, 2), &Unexplored::NothingShared { tasks: 2 });
    // The lock of the real std is not seen.
    let real = || {
        let lock = Arc::new(std::sync::Mutex::new(0));
        let shared = Arc::clone(&lock);
        let other = spawn(move || *shared.lock().unwrap() += 1);
        *lock.lock().unwrap() += 1;
        other.join();
        *lock.lock().unwrap()
    };
    unexplored(&checker, real, &Unexplored::NoChoice { tasks: 2 });
    // Only looking is not sharing: nothing can come of the order.
    let looking = || {
        let number = Arc::new(Atomic::default());
        let shared = Arc::clone(&number);
        let other = spawn(move || shared.load());
        number.load() + other.join()
    };
    unexplored(&checker, looking, &Unexplored::NothingShared { tasks: 2 });
    let mirrored = || {
        let lock = Arc::new(Mutex::new(0));
        let shared = Arc::clone(&lock);
        let other = spawn(move || *shared.lock() += 1);
        *lock.lock() += 1;
        other.join();
        *lock.lock()
    };
    assert_eq!(checker.check(mirrored).unwrap().grade, Grade::Clean);
    assert_eq!(checker.check(|| two(true, 2)).unwrap().grade, Grade::Clean);
}

#[test]
fn a_block_that_must_run_and_never_does_is_no_pass() {
    let program = |enter: bool| {
        move || {
            if enter {
                atomic("rare", || ());
            }
            two(true, 1)
        }
    };
    let checker = Checker::new("program").executions(20).must_enter("rare");
    unexplored(&checker, program(false), &Unexplored::BlockNeverRan { name: "rare".to_owned() });
    assert!(checker.check(program(true)).is_ok());
}

mod attribute {
    use super::two;

    #[interloper::test(executions = 20, allow_trivial)]
    fn a_block_that_is_marked_in_the_test_is_expected() -> i64 {
        if std::hint::black_box(false) {
            interloper::atomic("never", || ());
        }
        two(true, 1)
    }

    #[test]
    #[should_panic = "nothing was explored: no execution entered the block \"never\"; `allow_trivial` accepts this"]
    #[expect(unnameable_test_items, reason = "the harness of the tests is not to run it alone")]
    fn a_block_that_is_marked_in_the_test_must_run() {
        #[interloper::test(executions = 20)]
        fn never_enters() -> i64 {
            if std::hint::black_box(false) {
                interloper::atomic("never", || ());
            }
            two(true, 1)
        }
        never_enters();
    }

    #[test]
    #[should_panic = "nothing was explored: the limit on executions is 0, so no execution ran"]
    #[expect(unnameable_test_items, reason = "the harness of the tests is not to run it alone")]
    fn no_executions() {
        #[interloper::test(executions = 0, expect = "clean")]
        fn runs_nothing() -> i64 {
            two(true, 1)
        }
        runs_nothing();
    }
}

fn check(schedule: Schedule, jobs: usize, program: impl Fn() -> i64 + Sync) -> Report {
    let checker = Checker::new("program").schedule(schedule).executions(3_000);
    checker.jobs(NonZeroUsize::new(jobs).unwrap()).check(program).unwrap()
}

#[test]
fn a_random_search_counts_the_traces_that_exhaustive_search_makes() {
    for (steps, expected) in [(1, 2), (2, 6), (3, 20)] {
        let exhaustive = check(Schedule::Exhaustive, 1, || two(true, steps)).coverage;
        assert!(exhaustive.complete);
        // The orders of the steps of two tasks: (2n)! / (n! · n!).
        assert_eq!((exhaustive.executions, exhaustive.traces), (expected, expected));
        assert_eq!(exhaustive.unseen, None);
        for jobs in [1, 3] {
            let random = check(Schedule::Random, jobs, || two(true, steps)).coverage;
            assert_eq!((random.executions, random.traces, random.more_traces), (3_000, expected, false));
            let unseen = random.unseen.unwrap();
            assert_eq!((unseen.executions, unseen.once), (3_000, 0));
        }
    }
}

#[test]
fn the_coverage_is_in_the_report() {
    // Each task starts and adds once, main joins and reads at the end: the steps of either order.
    let report = check(Schedule::Exhaustive, 1, || two(true, 1));
    let expected = format!(
        "✓ program  no violation found\n  exhaustive, seed 42: 2 executions of 2 traces, {} steps, complete",
        report.coverage.steps
    );
    let text = report.to_string();
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words(&text).starts_with(&words(&expected)), "{text}");
    let random = check(Schedule::Random, 1, || two(true, 1)).to_string();
    assert!(random.contains("; every trace came more than once"), "{random}");
    // 70 traces, of which 5 executions show at most 5.
    let few = Checker::new("program").schedule(Schedule::Random).executions(5).check(|| two(true, 4)).unwrap();
    let unseen = few.coverage.unseen.unwrap();
    assert!(unseen.once >= 3, "{few}");
    let percent = unseen.once * 20;
    let says = format!("about {percent}.0 % of further executions would show a new trace");
    assert!(few.to_string().contains(&says), "{few}");
}

/// A lost update behind so many steps of each task.
fn long(steps: usize) -> i64 {
    let number = Arc::new(Atomic::default());
    let run = move |number: &Atomic| {
        (0..steps).for_each(|_| _ = number.load());
        atomic("increment", || number.store(number.load() + 1));
    };
    let shared = Arc::clone(&number);
    let other = spawn(move || run(&shared));
    run(&number);
    other.join();
    number.load()
}

/// An execution of 400,000 steps, found at once, was made smaller with 2,000 executions: minutes.
#[test]
fn the_time_bounds_making_an_execution_smaller() {
    let checker = Checker::new("long").schedule(Schedule::Random).blocks(Blocks::Marked);
    let checker = checker.settings(|settings| settings.shrink_steps = u64::MAX);
    for jobs in [1, 3] {
        let checker = checker.clone().jobs(NonZeroUsize::new(jobs).unwrap());
        let begun = Instant::now();
        let report = checker.time(Duration::from_millis(500)).check(|| long(50_000)).unwrap();
        let took = begun.elapsed();
        assert_eq!(report.grade, Grade::Bug, "{report}");
        assert!(took < Duration::from_secs(10), "{took:?}");
        assert_eq!(report.coverage.cut_short, CutShort { shrinking: true, ..report.coverage.cut_short });
        let text = report.to_string();
        assert!(text.contains("; the time ran out during "), "{text}");
    }
    // By default, the steps of the executions bound it; what is reported does not depend on the time then.
    let bounded = checker.settings(|settings| settings.shrink_steps = 1_000_000).check(|| long(50_000)).unwrap();
    assert_eq!((bounded.grade, bounded.coverage.cut_short), (Grade::Bug, CutShort::default()));
    // Nothing is cut short where the time suffices.
    let short = Checker::new("long").time(Duration::from_secs(600)).check(|| long(2)).unwrap();
    assert_eq!((short.grade, short.coverage.cut_short), (Grade::Bug, CutShort::default()));
}

/// What an execution forgets stays allocated: here half a MiB each, which the search sees after 256 executions.
#[cfg(target_os = "linux")]
#[test]
fn the_memory_bounds_a_search() {
    let used = || {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
    };
    let check = |most: u64, program: fn()| {
        let checker = Checker::new("forgets").schedule(Schedule::Random).executions(1_000);
        let report = checker.settings(|settings| settings.most_memory = Some(most)).check(program).unwrap();
        assert_eq!(report.grade, Grade::Clean, "{report}");
        report
    };
    let forgets = check(used() + (64 << 20), || {
        two(true, 1);
        std::mem::forget(vec![1_u8; 1 << 19]);
    });
    assert_eq!(forgets.coverage.executions, 256);
    assert!(forgets.coverage.cut_short.memory.is_some() && !forgets.coverage.cut_short.search);
    let text = forgets.to_string();
    assert!(text.contains("; the memory ran out during the search: the process has "), "{text}");
    let frees = check(u64::MAX, || {
        two(true, 1);
        drop(vec![1_u8; 1 << 19]);
    });
    assert_eq!((frees.coverage.executions, frees.coverage.cut_short), (1_000, CutShort::default()));
}

/// Eight tasks of two blocks each have 81,729,648,000 serial orders.
#[test]
fn the_time_bounds_the_serial_orders() {
    let program = || {
        let number = Arc::new(Atomic::default());
        let run = |number: &Atomic| (0..2).for_each(|_| atomic("add", || number.store(number.load() * 2 + 1)));
        let spawn_one = |_| {
            let shared = Arc::clone(&number);
            spawn(move || run(&shared))
        };
        let others: Vec<_> = (1..8).map(spawn_one).collect();
        run(&number);
        others.into_iter().for_each(|other| other.join());
        number.load()
    };
    let checker = Checker::new("orders").settings(|settings| settings.serial_executions = u64::MAX);
    let begun = Instant::now();
    let report = checker.steps(StepBound::FailAfter(10_000)).time(Duration::from_millis(500)).check(program).unwrap();
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    assert!(report.coverage.cut_short.search && report.coverage.cut_short.serial, "{report}");
}

/// Without blocks there is nothing to compare an outcome with, however long the execution and whatever comes of it: it is a serial order.
#[test]
fn a_program_without_blocks_has_no_serial_orders_to_run() {
    let checker = Checker::new("no blocks").executions(20).allow_trivial();
    let coverage = checker.check(|| two(true, 5_000)).expect("it is checked").coverage;
    assert_eq!((coverage.executions, coverage.undecided, coverage.serial.executions), (20, 0, 0), "{coverage}");
    let block = || atomic("both", || two(true, 2));
    let coverage = checker.check(block).expect("it is checked").coverage;
    assert!(coverage.serial.executions > 0, "{coverage}");
}

const CHILD: &str = "INTERLOPER_CHILD_OF_COVERAGE";

/// What the test below runs.
#[test]
fn a_child_that_leaves() {
    match std::env::var(CHILD).as_deref() {
        Ok("in the middle") => {
            let leave = || -> i64 {
                two(true, 1);
                std::process::exit(0)
            };
            let _ = Checker::new("leaver").check(leave);
        }
        Ok("at the end") => {
            assert!(Checker::new("stayer").check(|| two(true, 1)).is_ok());
            std::process::exit(0);
        }
        _ => {}
    }
}

#[test]
fn a_program_that_ends_the_process_has_not_passed() {
    let run = |how: &str| {
        let mut child = Command::new(std::env::current_exe().unwrap());
        let child = child.args(["--exact", "coverage::a_child_that_leaves"]).env(CHILD, how).output().unwrap();
        (child.status.code(), String::from_utf8(child.stderr).unwrap())
    };
    let (code, told) = run("in the middle");
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains("leaver: no result: the process ended during the check"), "{told}");
    assert_eq!(run("at the end"), (Some(0), String::new()));
}

/// Whole messages, so that a change of wording is seen in review.
#[test]
fn the_messages_about_searches_that_explored_nothing() {
    let all = [
        Unexplored::NoExecutions,
        Unexplored::NoTime,
        Unexplored::OneTask,
        Unexplored::NoChoice { tasks: 3 },
        Unexplored::NothingShared { tasks: 2 },
        Unexplored::BlockNeverRan { name: "withdraw".to_owned() },
    ];
    let messages: Vec<String> = all.into_iter().map(|reason| Misuse::Unexplored(reason).to_string()).collect();
    insta::assert_snapshot!(messages.join("\n"));
}

#[interloper::test(executions = 30)]
fn passes() -> i64 {
    two(true, 1)
}

/// What this test binary says of the test above under `--show-output`, with these variables.
fn shown(variables: &[(&str, &str)]) -> (bool, String) {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "coverage::passes", "--show-output"]).env("INTERLOPER_FAILURES", "off");
    let child = child.envs(variables.iter().copied()).output().unwrap();
    (child.status.success(), String::from_utf8_lossy(&child.stdout).into_owned())
}

#[test]
fn a_test_that_passes_shows_what_it_covered_when_asked() {
    let (passed, text) = shown(&[]);
    assert!(passed, "{text}");
    let covered = "atomfuzzer:0.5+rff+pct:3+pos+surw+random, seed 42: 30 executions of 2 traces, 210 steps; ";
    assert!(text.contains(covered), "{text}");
    let (passed, text) = shown(&[("INTERLOPER_EXECUTIONS", "7")]);
    assert!(passed && text.contains(": 7 executions of "), "{text}");
}

#[test]
fn a_test_without_executions_does_not_pass() {
    let (passed, text) = shown(&[("INTERLOPER_EXECUTIONS", "0")]);
    assert!(!passed, "{text}");
    assert!(text.contains("nothing was explored: the limit on executions is 0"), "{text}");
}

/// Fails if its process is started to see a failure.
#[interloper::test(executions = 30)]
fn fails_when_asked() -> i64 {
    assert_ne!(std::env::var(CHILD).as_deref(), Ok("fail"), "as asked");
    two(true, 1)
}

/// What a runner needs that starts a process for each test, as cargo-nextest does: a list in the terse form, tests by their exact
/// names, and exit codes.
#[test]
fn a_runner_can_start_each_test_alone() {
    let run = |arguments: &[&str], how: &str| {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(arguments).env(CHILD, how).env("INTERLOPER_FAILURES", "off");
        let child = child.output().unwrap();
        (child.status.code(), String::from_utf8(child.stdout).unwrap())
    };
    let (code, list) = run(&["--list", "--format", "terse"], "");
    let names: Vec<&str> = list.lines().filter_map(|line| line.strip_suffix(": test")).collect();
    assert_eq!((code, names.len()), (Some(0), list.lines().count()), "{list}");
    for name in ["coverage::passes", "coverage::fails_when_asked"] {
        assert_eq!(names.iter().filter(|listed| **listed == name).count(), 1, "{list}");
    }
    let (code, ignored) = run(&["--list", "--format", "terse", "--ignored"], "");
    assert_eq!((code, ignored.as_str()), (Some(0), ""));
    let alone = ["coverage::fails_when_asked", "--exact", "--nocapture"];
    let (code, out) = run(&alone, "");
    assert!(code == Some(0) && out.contains("\ntest result: ok. 1 passed; 0 failed;"), "{code:?}: {out}");
    let (code, out) = run(&alone, "fail");
    assert!(code == Some(101) && out.contains("\ntest result: FAILED. 0 passed; 1 failed;"), "{code:?}: {out}");
}

/// In every execution, hashers have one seed: a pass says so of a program that makes some.
#[test]
fn a_pass_says_that_hashers_had_one_seed() {
    let said = |hashes: bool| {
        let program = move || {
            if hashes {
                std::hint::black_box(interloper::hash::RandomState::new());
            }
            two(true, 1)
        };
        let report = Checker::new("program").executions(20).check(program).unwrap();
        assert_eq!(report.coverage.hashed, report.to_string().contains(", one seed of hashers"), "{report}");
        report.coverage.hashed
    };
    assert_eq!((said(true), said(false)), (true, false));
}
