//! The grades: locks, reader-writer locks, atomics; panics, deadlocks and other ends.

use std::sync::Arc;

use interloper::Checker;
use interloper::blocks::{Blocks, Detached, Finding, Grade, Report, Schedule, StepBound};
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

/// A thread and what it is joined by have different names.
#[test]
fn a_cycle_of_a_lock_and_a_join() {
    let report = checker()
        .check(|| {
            let lock = Arc::new(Mutex::new(0));
            let theirs = Arc::clone(&lock);
            let _guard = lock.lock();
            spawn(move || *theirs.lock() += 1).join();
        })
        .unwrap();
    let detail = report.bug.unwrap().counterexample.detail;
    let cycle = "cycle: main → the end of thread 1 → thread 1 → mutex 1 → main, execution 1";
    assert_eq!(detail, cycle);
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
    let strict = || checker().detached(Detached::MustEnd);
    assert_eq!(strict().check(move || program(false)).unwrap().bug.unwrap().finding, Finding::Leaked);
    strict().check(move || program(true)).unwrap().assert_grade(Grade::Clean);
    // When the main thread of a process returns, the others are no more.
    checker().check(move || program(false)).unwrap().assert_grade(Grade::Clean);
}

/// Threads that outlive the main one: the process ends.
#[test]
fn threads_that_the_process_does_not_wait_for() {
    let clean = |program: fn()| {
        checker().allow_trivial().check(program).unwrap().assert_grade(Grade::Clean);
        let report = checker().allow_trivial().schedule(Schedule::Exhaustive).check(program).unwrap();
        report.assert_grade(Grade::Clean);
        assert!(report.coverage.complete, "{report}");
    };
    clean(|| drop(spawn(interloper::thread::park)));
    clean(|| {
        let ticks = Arc::new(Atomic::default());
        let theirs = Arc::clone(&ticks);
        spawn(move || {
            loop {
                interloper::thread::sleep(std::time::Duration::from_millis(10));
                theirs.fetch_add(1);
            }
        });
        ticks.fetch_add(1);
    });
    // What they do before is seen, also by an exhaustive search that need not let them run at all.
    let hasty = || drop(spawn(|| panic!("in time")));
    for schedule in [Schedule::default(), Schedule::Exhaustive, Schedule::Preemptions(1)] {
        let report = checker().schedule(schedule).check(hasty).unwrap();
        assert!(matches!(&report.bug.unwrap().finding, Finding::Panic { message, .. } if message == "in time"));
    }
}

/// A pool of threads that must not be unwound, and that nobody ends: that of rayon, in few words.
#[test]
fn a_pool_that_aborts_the_process_when_it_is_unwound() {
    struct AbortIfPanic;
    impl Drop for AbortIfPanic {
        fn drop(&mut self) {
            interloper::process::abort();
        }
    }
    fn pool(panics: bool) -> i64 {
        let work = Arc::new((Mutex::new(0), Condvar::new()));
        for _ in 0..2 {
            let work = Arc::clone(&work);
            spawn(move || {
                let _guard = AbortIfPanic;
                loop {
                    let mut open = work.0.lock();
                    while *open == 0 {
                        open = work.0.wait(&work.1, open);
                    }
                    *open -= 1;
                }
            });
        }
        *work.0.lock() += 1;
        work.1.notify_one();
        assert!(!panics, "the end");
        0
    }
    let report = checker().check(|| pool(false)).unwrap();
    assert_eq!((report.grade, report.coverage.executions), (Grade::Clean, 500), "{report}");
    // The twin: the program's own panic is what is found.
    assert!(matches!(bug(|| pool(true)), Finding::Panic { message, .. } if message == "the end"));
}

/// What would end the process is a result.
#[test]
fn a_program_that_ends_its_process() {
    use interloper::process::{abort, exit};
    use interloper_std::runtime::Exit;
    let ends = |program: fn() -> i64| match bug(program) {
        Finding::Exited { exit, place } => (exit, place.file.ends_with("grades.rs")),
        other => panic!("{other:?}"),
    };
    assert_eq!(ends(|| exit(0)), (Exit::Code(0), true));
    assert_eq!(ends(|| spawn(|| exit(3)).join()), (Exit::Code(3), true));
    assert_eq!(ends(|| abort()), (Exit::Abort, true));
    // In a destructor, while a panic unwinds.
    struct Last;
    impl Drop for Last {
        fn drop(&mut self) {
            abort();
        }
    }
    assert_eq!(
        ends(|| {
            let _last = Last;
            panic!("first")
        }),
        (Exit::Abort, true)
    );
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

/// Where the bound gives an execution up, it does so whatever the program is about to do.
#[test]
fn the_step_bound_of_programs_that_wait() {
    let check =
        |bound: StepBound, program: fn()| checker().executions(10).steps(bound).allow_trivial().check(program).unwrap();
    let yields: fn() = || (0..100).for_each(|_| interloper::thread::yield_now());
    let sleeps: fn() = || (0..100).for_each(|_| interloper::thread::sleep(std::time::Duration::from_secs(1)));
    for program in [yields, sleeps] {
        let report = check(StepBound::StopAfter(50), program);
        assert_eq!((report.grade, report.coverage.given_up), (Grade::Clean, 10), "{report}");
        assert_eq!(check(StepBound::FailAfter(50), program).bug.unwrap().finding, Finding::StepBound);
        check(StepBound::FailAfter(200), program).assert_grade(Grade::Clean);
    }
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

/// What grows without end is found, and costs no more memory than a program that ends.
#[test]
fn programs_that_never_end() {
    let sleeps = || -> i64 {
        loop {
            interloper::thread::sleep(std::time::Duration::from_secs(3600));
        }
    };
    let report = checker().executions(1).check(sleeps).unwrap();
    let violation = report.bug.unwrap();
    assert_eq!((violation.finding, violation.trace.len()), (Finding::StepBound, 10_000));
    let notes = violation.counterexample.rows.iter().flat_map(|row| &row.notes);
    assert!(notes.clone().any(|note| note.starts_with("repeats more than ")), "{:?}", notes.collect::<Vec<_>>());
    // Threads without end; those that nobody sees have no column.
    let spawns = || -> i64 {
        loop {
            spawn(|| ());
        }
    };
    let violation = checker().executions(1).check(spawns).unwrap().bug.unwrap();
    let reason = "the program spawns more than 4096 threads in one execution".to_owned();
    assert_eq!(violation.finding, Finding::Failed { reason });
    assert!(violation.counterexample.columns.len() < 100, "{}", violation.counterexample.columns.len());
}

#[test]
fn a_stack_that_no_machine_has() {
    let check = |size: usize| {
        checker().settings(|settings| settings.stack_size = size).allow_trivial().check(|| 0).map(|report| report.grade)
    };
    let refused = check(usize::MAX).unwrap_err().to_string();
    let expected = "the stack size of 18446744073709551615 bytes is above the limit of 1073741824 bytes";
    assert_eq!(refused, expected);
    assert_eq!(check(1 << 20), Ok(Grade::Clean));
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
