//! The grades of accesses: locks, reader-writer locks, atomics, several at once.

use interloper::blocks::{Finding, Grade};
use interloper::{atomic, atomic_returning};

use crate::support::{Atomic, Mutex, RwLock, beside, bug, checker};

/// r·w·w: an increment in two steps.
#[test]
fn a_lost_update() {
    fn increment(number: &Atomic) {
        atomic("increment", || number.store(number.load() + 1));
    }
    let outcome = "the program returns 1".to_owned();
    assert_eq!(bug(|| beside(increment, increment).0.load()), Finding::Unexplained { outcome });
    fn at_once(number: &Atomic) {
        atomic("increment", || number.fetch_add(1));
    }
    checker().check(|| beside(at_once, at_once).0.load()).unwrap().assert_grade(Grade::Clean);
}

/// r·w·r: a block reads two different values.
#[test]
fn an_unrepeatable_read() {
    let read = |number: &RwLock| atomic_returning("read twice", || (number.read(), number.read()));
    let outcome = "the program returns 1, read twice of main returns (0, 1)".to_owned();
    let finding = bug(|| {
        let shared = beside(read, |number: &RwLock| number.write(|value| value + 1)).0;
        shared.read()
    });
    assert_eq!(finding, Finding::Unexplained { outcome });
    // Nobody looks at what was read: the same interleaving is benign.
    let ignore = |number: &RwLock| atomic("read twice", || _ = (number.read(), number.read()));
    let report =
        checker().check(|| beside(ignore, |number: &RwLock| number.write(|value| value + 1)).0.read()).unwrap();
    report.assert_grade(Grade::Error);
    // Readers among themselves do not violate anything: their order makes no difference.
    let report = checker().allow_trivial().check(|| beside(ignore, |number: &RwLock| number.read()).0.read()).unwrap();
    report.assert_grade(Grade::Warning);
}

/// w·r·w: another task reads what the block has not finished.
#[test]
fn a_dirty_read() {
    let write = |number: &Atomic| {
        atomic("write", || {
            number.store(1);
            number.store(2);
        });
    };
    let finding = bug(|| beside(write, |number: &Atomic| number.load()).2);
    assert_eq!(finding, Finding::Unexplained { outcome: "the program returns 1".into() });
    // w·w·w: nobody can tell.
    let report = checker().check(|| beside(write, |number: &Atomic| number.store(3)).0.load()).unwrap();
    report.assert_grade(Grade::Warning);
}

/// w·w·r: the block does not read what it wrote.
#[test]
fn a_value_replaced() {
    let write = |number: &Atomic| {
        atomic_returning("write and read", || {
            number.store(1);
            number.load()
        })
    };
    let finding = bug(|| drop(beside(write, |number: &Atomic| number.store(2))));
    let outcome = "the program returns (), write and read of main returns 2".to_owned();
    assert_eq!(finding, Finding::Unexplained { outcome });
    let report = checker().check(|| drop(beside(write, |number: &Atomic| number.load()))).unwrap();
    report.assert_grade(Grade::Warning);
}

/// No triple on one object: the block reads one variable before and the other behind what the other task writes.
#[test]
fn two_objects() {
    let finding = bug(|| {
        beside(
            |(a, b): &(Atomic, Atomic)| atomic("read both", || (a.load(), b.load())),
            |(a, b): &(Atomic, Atomic)| {
                atomic("write both", || {
                    a.store(1);
                    b.store(1);
                });
            },
        )
        .1
    });
    assert!(
        matches!(&finding, Finding::Unexplained { outcome } if outcome.contains("(0, 1)") || outcome.contains("(1, 0)"))
    );
}

#[test]
fn a_failed_attempt_to_lock_is_no_access() {
    let attempt = |lock: &Mutex<i64>| {
        atomic("attempt", || {
            let first = lock.try_lock().is_some();
            let second = lock.try_lock().is_some();
            first && second
        });
    };
    // The other task holds the lock or not: the block gets it both times, or one attempt fails.
    let report = checker().check(|| drop(beside(attempt, |lock: &Mutex<i64>| *lock.lock() += 1))).unwrap();
    report.assert_grade(Grade::Error);
    let report = checker()
        .allow_trivial()
        .check(|| {
            let lock = Mutex::new(0);
            let guard = lock.lock();
            attempt(&lock);
            drop(guard);
        })
        .unwrap();
    report.assert_grade(Grade::Clean);
}

#[test]
fn a_lock_that_is_held_twice_is_held_after_the_first_unlock() {
    let report = checker()
        .check(|| {
            let (lock, number) = (interloper::sync::RwLock::new(0), Atomic::default());
            let first = lock.read();
            let second = lock.read();
            drop(first);
            number.load();
            drop(second);
            number.store(1);
            assert!(std::hint::black_box(false), "to see the trace");
        })
        .unwrap();
    let trace = report.bug.unwrap().trace;
    let holds = |action: &str| {
        let steps = trace.iter().filter(|step| step.action.starts_with(action));
        steps.map(|step| step.holds.join(", ")).collect::<Vec<_>>()
    };
    assert_eq!(holds("reads atomic"), ["rwlock 1 shared"], "{trace:#?}");
    assert_eq!(holds("writes atomic"), [""], "{trace:#?}");
    assert!(trace.iter().any(|step| step.holds == ["rwlock 1 shared 2 times"]), "{trace:#?}");
}
