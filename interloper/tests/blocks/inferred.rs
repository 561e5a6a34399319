//! Blocks that nobody marked: they guide AtomFuzzer and are listed, and no finding follows from them.

use std::num::NonZeroUsize;
use std::sync::Arc;

use interloper::blocks::{Blocks, Finding, Grade, Report, Schedule};
use interloper::{Checker, ToValue};

use crate::support::{Atomic, Mutex, spawn};

fn checker() -> Checker {
    let schedule = Schedule::AtomFuzzer { q: 0.5 };
    Checker::new("program").schedule(schedule).blocks(Blocks::Inferred).executions(200)
}

/// Two critical sections that nobody marked, in a task that does much else. `asserts`: whether they must be one block.
fn two_sections(asserts: bool) -> impl Fn() -> i64 + Sync {
    move || {
        let (account, other) = (Arc::new(Mutex::new(10)), Arc::new(Atomic::default()));
        let withdraws = spawn({
            let (account, other) = (account.clone(), other.clone());
            move || {
                (0..20).for_each(|_| _ = other.load());
                *account.lock() -= 10;
                0
            }
        });
        (0..20).for_each(|_| _ = other.load());
        let seen = *account.lock();
        let left = *account.lock();
        withdraws.join();
        assert!(!asserts || left == seen, "it changed");
        0
    }
}

fn lines(report: &Report) -> Vec<(&str, bool)> {
    report.inferred.iter().map(|block| (block.object.as_str(), block.interrupted > 0)).collect()
}

#[test]
fn what_looks_like_a_block_is_listed_and_is_no_violation() {
    let report = checker().check(two_sections(false)).unwrap();
    assert_eq!((report.grade, report.coverage.violated, report.warnings.len()), (Grade::Clean, 0, 0), "{report}");
    assert_eq!(lines(&report), [("mutex", true)], "{report}");
    let block = &report.inferred[0];
    assert!(block.interrupted < block.entered && block.entered == report.coverage.executions, "{block:?}");
    let text = report.to_string();
    let expected = format!(
        "\n  inferred: the accesses to a mutex at {} and {} ran in {} executions, interrupted in {}; mark a block with \
         #[interloper::atomic] to have it judged\n",
        block.first, block.again, block.entered, block.interrupted
    );
    assert!(text.contains(&expected), "{text}");
    // A pass without it says nothing of the kind.
    let report = checker().blocks(Blocks::Marked).check(two_sections(false)).unwrap();
    assert_eq!((report.grade, lines(&report)), (Grade::Clean, Vec::new()));
}

/// The failure is what is found, not the block.
#[test]
fn a_failure_is_found_sooner() {
    let found = |blocks: Blocks| -> Vec<u64> {
        let found = |seed| {
            let report = checker().blocks(blocks).seed(seed).check(two_sections(true)).unwrap();
            let bug = report.bug.unwrap();
            assert!(matches!(&bug.finding, Finding::Panic { message, .. } if message == "it changed"));
            bug.execution
        };
        (0..10).map(found).collect()
    };
    let (inferred, marked): (u64, u64) = (found(Blocks::Inferred).iter().sum(), found(Blocks::Marked).iter().sum());
    // A pause in every second execution, and the other task comes in it. Without, 1 in 40 interleavings or so fails.
    assert!(inferred <= 40 && marked > 2 * inferred, "{inferred} {marked}");
}

#[test]
fn the_report_depends_on_the_seed_alone() {
    let report = |jobs: usize| {
        let checker = checker().jobs(NonZeroUsize::new(jobs).unwrap());
        checker.check(two_sections(false)).unwrap().to_string()
    };
    assert_eq!(report(1), report(1));
    assert_eq!(report(1), report(3));
    let checker = || checker().schedule(Schedule::default());
    let portfolio = |jobs: usize| {
        let checker = checker().jobs(NonZeroUsize::new(jobs).unwrap());
        checker.check(two_sections(false)).unwrap().to_string()
    };
    assert_eq!(portfolio(1), portfolio(3));
}

/// Which kinds of objects have inferred blocks. Runs `one` beside the main task, which runs `two`.
#[track_caller]
fn check<T: Send + Sync + 'static>(shared: fn() -> T, one: fn(&T), two: fn(&T), expected: &[&str]) {
    let report = checker().allow_trivial().check(|| {
        let shared = Arc::new(shared());
        let other = shared.clone();
        let task = spawn(move || {
            one(&other);
            0
        });
        two(&shared);
        task.join();
        ().to_value()
    });
    let report = report.unwrap();
    let objects: Vec<&str> = report.inferred.iter().map(|block| block.object.as_str()).collect();
    assert_eq!((objects, report.grade), (expected.to_vec(), Grade::Clean), "{report}");
}

#[test]
fn only_what_can_be_interrupted_is_inferred() {
    type Pair = (Mutex<i64>, Atomic);
    let pair = || (Mutex::new(0), Atomic::default());
    // A load and a store that may lose what the other task stores.
    let stores = |pair: &Pair| pair.1.store(7);
    let adds = |pair: &Pair| {
        let seen = pair.1.load();
        pair.1.store(seen + 1);
    };
    check(pair, stores, adds, &["atomic"]);
    // Two loads, and nobody stores.
    let loads = |pair: &Pair| _ = (pair.1.load(), pair.1.load());
    check(pair, loads, loads, &[]);
    // The same as the first, under a lock that both need.
    let stores_locked = |pair: &Pair| {
        let _guard = pair.0.lock();
        pair.1.store(7);
    };
    let adds_locked = |pair: &Pair| {
        let _guard = pair.0.lock();
        let seen = pair.1.load();
        pair.1.store(seen + 1);
    };
    check(pair, stores_locked, adds_locked, &[]);
    // One of them does not take the lock.
    check(pair, stores, adds_locked, &["atomic"]);
}

#[test]
fn what_comes_before_a_task_or_after_it_interrupts_nothing() {
    let report = checker().check(|| {
        let (number, done) = (Arc::new(Atomic::default()), Arc::new(Atomic::default()));
        number.store(1);
        let task = spawn({
            let (number, done) = (number.clone(), done.clone());
            move || {
                let seen = number.load();
                number.store(seen + 1);
                done.store(1);
                0
            }
        });
        done.load();
        task.join();
        number.store(3);
        number.load()
    });
    let report = report.unwrap();
    assert_eq!(lines(&report), [], "{report}");
}
