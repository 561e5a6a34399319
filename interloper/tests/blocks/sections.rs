//! Critical sections as blocks.

use std::sync::Arc;

use interloper::blocks::{Blocks, Finding, Grade, Report};
use interloper::sync::Condvar;

use crate::support::{Mutex, beside, checker, spawn};

/// Section 5.1: without marks, critical sections are taken for blocks.
#[test]
fn critical_sections_as_blocks() {
    type Lists = (Mutex<i64>, Mutex<i64>);
    // `containsAll` of section 5.3: the outer lock is kept, the inner one is taken again and again.
    let contains_all = |(outer, inner): &Lists| {
        drop(inner.lock());
        let _outer = outer.lock();
        let first = *inner.lock();
        let second = *inner.lock();
        second - first
    };
    let program = move || beside(contains_all, |(_, inner): &Lists| *inner.lock() += 1).1;
    checker().check(program).unwrap().assert_grade(Grade::Clean);
    let report = checker().blocks(Blocks::CriticalSections).check(program).unwrap();
    report.assert_grade(Grade::Bug);
    assert_eq!(report.bug.unwrap().finding, Finding::Unexplained { outcome: "the program returns 1".into() });
}

/// Section 5.4: a section that waits on a condition is not taken for a block, and neither is one that is a whole task.
#[test]
fn sections_that_are_no_blocks() {
    let sections =
        |program: fn() -> i64| -> Report { checker().blocks(Blocks::CriticalSections).check(program).unwrap() };
    fn waits() -> i64 {
        let shared = Arc::new((Mutex::new(0), Condvar::new(), Mutex::new(0)));
        let theirs = Arc::clone(&shared);
        let task = spawn(move || {
            let before = *theirs.2.lock();
            let mut guard = theirs.0.lock();
            let seen = *theirs.2.lock();
            while *guard == 0 {
                guard = theirs.0.wait(&theirs.1, guard);
            }
            (before, *theirs.2.lock() - seen)
        });
        *shared.2.lock() += 1;
        *shared.0.lock() = 1;
        shared.1.notify_all();
        *shared.2.lock() += 1;
        task.join().1
    }
    assert!(sections(waits).grade < Grade::Error);
    fn section(before: bool) -> i64 {
        let shared = Arc::new((Mutex::new(0), Mutex::new(0)));
        let theirs = Arc::clone(&shared);
        let task = spawn(move || {
            if before {
                drop(theirs.1.lock());
            }
            let _guard = theirs.0.lock();
            let first = *theirs.1.lock();
            let second = *theirs.1.lock();
            second - first
        });
        *shared.1.lock() += 1;
        task.join()
    }
    assert!(sections(|| section(false)).grade < Grade::Error);
    // The twin: a section that is not all of its task.
    sections(|| section(true)).assert_grade(Grade::Bug);
}
