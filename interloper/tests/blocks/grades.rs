//! The grades: locks, reader-writer locks, atomics; panics, deadlocks and other ends.

use std::sync::Arc;

use interloper::Checker;
use interloper::blocks::{Blocks, Finding, Grade, Report, StepBound};
use interloper::{atomic, atomic_returning};

use interloper::sync::Condvar;

use crate::support::{Atomic, Mutex, RwLock, spawn};

fn checker() -> Checker {
    Checker::new("program").executions(500)
}

#[track_caller]
fn bug<R: interloper::ToValue>(program: impl Fn() -> R + Sync) -> Finding {
    let report = checker().check(program).unwrap();
    report.assert_grade(Grade::Bug);
    report.bug.unwrap().finding
}

/// Runs `own` beside `other` on a shared `T`; gives it back with what both returned.
fn beside<T: Default + Send + Sync + 'static, A, B: Send + 'static>(
    own: fn(&T) -> A,
    other: fn(&T) -> B,
) -> (Arc<T>, A, B) {
    let shared = Arc::new(T::default());
    let theirs = Arc::clone(&shared);
    let task = spawn(move || other(&theirs));
    let result = own(&shared);
    (shared, result, task.join())
}

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

#[test]
fn a_deadlock_shows_its_cycle() {
    let report = checker()
        .check(|| {
            let forwards = |(a, b): &(Mutex<i64>, Mutex<i64>)| {
                let a = a.lock();
                *a + *b.lock()
            };
            let backwards = |(a, b): &(Mutex<i64>, Mutex<i64>)| {
                let b = b.lock();
                *b + *a.lock()
            };
            beside(forwards, backwards).1
        })
        .unwrap();
    report.assert_grade(Grade::Bug);
    let violation = report.bug.unwrap();
    assert_eq!(violation.finding, Finding::Deadlock);
    let detail = &violation.counterexample.detail;
    assert!(detail.starts_with("cycle: main → mutex "), "{detail}");
    assert!(detail.contains("→ thread 1 → mutex ") && detail.contains(" → main, execution "), "{detail}");
}

#[test]
fn a_lock_taken_twice() {
    let report = checker()
        .check(|| {
            let lock = Mutex::new(0);
            let _first = lock.lock();
            let _second = lock.lock();
        })
        .unwrap();
    let violation = report.bug.unwrap();
    assert_eq!(violation.finding, Finding::Deadlock);
    assert_eq!(violation.counterexample.deadlock.unwrap().held.operation, "main holds mutex 1");
}

#[test]
fn tasks_that_never_end() {
    let program = |notifies: bool| {
        let shared = Arc::new((Mutex::new(false), Condvar::new()));
        let theirs = Arc::clone(&shared);
        spawn(move || {
            let mut ready = theirs.0.lock();
            while !*ready {
                ready = theirs.0.wait(&theirs.1, ready);
            }
        });
        *shared.0.lock() = true;
        if notifies {
            shared.1.notify_all();
        }
    };
    assert_eq!(bug(move || program(false)), Finding::Leaked);
    checker().check(move || program(true)).unwrap().assert_grade(Grade::Clean);
}

/// A panic that somebody deals with is a result: it is compared with the serial orders.
#[test]
fn a_panic_that_is_dealt_with() {
    let program = |number: i64| {
        let shared = Arc::new(Atomic::default());
        let theirs = Arc::clone(&shared);
        let task = spawn(move || {
            atomic("check", || {
                let first = theirs.load();
                assert_eq!(first, theirs.load(), "it has changed");
            });
        });
        shared.store(number);
        task.join_calmly()
    };
    let outcome = "the program returns false, thread 1 panics: assertion `left == right` failed: it has changed\n  left: \
                   0\n right: 1";
    assert_eq!(bug(move || program(1)), Finding::Unexplained { outcome: outcome.to_owned() });
    // The twin: what is stored is what was there.
    checker().check(move || program(0)).unwrap().assert_grade(Grade::Error);
    // And one that panics in every order.
    let report = checker().allow_trivial().check(|| spawn(|| panic!("always")).join_calmly()).unwrap();
    report.assert_grade(Grade::Clean);
}

#[test]
fn what_would_end_the_process() {
    #[expect(unconditional_recursion)]
    fn endless(depth: u64) -> u64 {
        std::hint::black_box(endless(std::hint::black_box(depth) + 1)) + 1
    }
    assert_eq!(bug(|| spawn(|| endless(0)).join() as i64), Finding::StackOverflow);
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("in a destructor");
        }
    }
    let finding = bug(|| -> () {
        let _bomb = Bomb;
        panic!("first");
    });
    assert!(matches!(&finding, Finding::Aborted { message, .. } if message == "in a destructor"), "{finding:?}");
}

#[test]
fn the_step_bound() {
    let program = || {
        let number = Atomic::default();
        (0..100).for_each(|_| _ = number.fetch_add(1));
    };
    let check = |bound: StepBound| checker().executions(10).steps(bound).allow_trivial().check(program).unwrap();
    assert_eq!(check(StepBound::FailAfter(50)).bug.unwrap().finding, Finding::StepBound);
    let report = check(StepBound::StopAfter(50));
    assert_eq!((report.grade, report.coverage.given_up), (Grade::Clean, 10));
    check(StepBound::FailAfter(200)).assert_grade(Grade::Clean);
}

/// Who gives up waiting by itself is waited for, within the rounds.
#[test]
fn a_livelock() {
    let program = |patience: usize| {
        let flag = Atomic::default();
        for _ in 0..patience {
            if flag.load() != 0 {
                return true;
            }
            interloper::thread::yield_now();
        }
        false
    };
    let check = |patience| checker().executions(10).allow_trivial().check(move || program(patience)).unwrap();
    assert_eq!(check(usize::MAX).bug.unwrap().finding, Finding::Livelock);
    check(500).assert_grade(Grade::Clean);
    let hasty = checker().executions(10).settings(|settings| settings.livelock_rounds = 100);
    assert_eq!(hasty.check(move || program(500)).unwrap().bug.unwrap().finding, Finding::Livelock);
}

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
