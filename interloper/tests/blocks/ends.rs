//! Panics, deadlocks, livelocks and the other ways in which a program ends, or never does.

use std::sync::Arc;

use interloper::atomic;
use interloper::blocks::{Crash, Detached, Finding, Freedoms, Grade, Schedule, StepBound};
use interloper::sync::Condvar;

use crate::support::{Atomic, Mutex, beside, bug, checker, spawn};

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

/// A deadlock is one whatever the serial orders give. There may be thousands of them, and shrinking meets many executions that finish.
#[test]
fn a_deadlock_needs_no_serial_orders() {
    let first = |program: fn() -> i64| {
        let reports = (0..100).map(|seed| checker().seed(seed).check(program).unwrap());
        reports.into_iter().find(|report| report.bug.as_ref().is_some_and(|bug| bug.execution == 1)).unwrap()
    };
    let deadlock = first(|| {
        let forwards = |(a, b): &(Mutex<i64>, Mutex<i64>)| {
            let a = a.lock();
            *a + *b.lock()
        };
        let backwards = |(a, b): &(Mutex<i64>, Mutex<i64>)| {
            let b = b.lock();
            *b + *a.lock()
        };
        beside(forwards, backwards).1
    });
    assert_eq!(deadlock.bug.unwrap().finding, Finding::Deadlock);
    assert_eq!(deadlock.coverage.serial.executions, 0);
    // An outcome is wrong only if no serial order gives it.
    let lost = first(|| {
        let bump = |number: &Atomic| {
            atomic("bump", || {
                let old = number.load();
                number.store(old + 1);
            });
        };
        beside(bump, bump).0.load()
    });
    assert!(matches!(lost.bug.unwrap().finding, Finding::Unexplained { .. }));
    assert!(lost.coverage.serial.executions > 0);
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

/// A panic in a thread that no thread joins is a finding, and the report says that it is such a panic. It names this one, and not
/// one before that was dealt with.
#[test]
fn a_panic_that_no_thread_sees() {
    use interloper::thread::spawn;
    let found = |program: fn()| {
        let bug = checker().check(program).unwrap().bug.unwrap();
        let Finding::Panic { message, .. } = bug.finding else { panic!("{:?}", bug.finding) };
        (
            message,
            bug.counterexample.detail.contains("in a thread that no thread joins, so that `cargo test` would pass"),
        )
    };
    let left = found(|| {
        let _ = spawn(|| panic!("dealt with")).join();
        spawn(|| panic!("left"));
    });
    assert_eq!(left, ("left".to_owned(), true));
    let passed_on = found(|| spawn(|| panic!("passed on")).join().unwrap());
    assert_eq!(passed_on, ("passed on".to_owned(), false));
    let dealt_with = checker().allow_trivial().check(|| drop(spawn(|| panic!("dealt with")).join()));
    assert!(dealt_with.unwrap().bug.is_none());
}

/// The panic that ends the program is what is reported, and one before that it has dealt with has a row, too.
#[test]
fn a_panic_after_one_that_was_dealt_with() {
    use interloper::thread::spawn;
    let program = || assert!(spawn(|| panic!("meant")).join().is_ok(), "the bug");
    let bug = checker().check(program).unwrap().bug.unwrap();
    assert!(matches!(&bug.finding, Finding::Panic { message, .. } if message == "the bug"), "{:?}", bug.finding);
    let counterexample = bug.counterexample;
    let panics: Vec<String> = counterexample
        .rows
        .iter()
        .map(|row| row.event.to_string())
        .filter(|event| event.contains("panicked"))
        .collect();
    assert_eq!(panics, ["panicked: meant", "panicked: the bug"]);
    let culprits: Vec<String> = counterexample.culprits().iter().map(|row| row.event.to_string()).collect();
    assert_eq!(culprits, ["panicked: the bug"]);
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
        Finding::Exited { exit, place } => (exit, place.file.ends_with("ends.rs")),
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
    // A guard that aborts names no reason: the report has the panics before, also one that was caught.
    let report = checker().check(|| -> i64 {
        let caught = std::panic::catch_unwind(|| panic!("the reason"));
        assert!(caught.is_err());
        let _last = Last;
        panic!("the second")
    });
    let text = report.unwrap().to_string();
    let positions = ["the reason", "the second", "calls process::abort()"].map(|what| text.rfind(what).expect(&text));
    assert!(positions.is_sorted(), "{text}");
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

/// The system would kill the process, and nobody would learn in which execution.
#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn memory_that_is_not_there() {
    let reads_too_early = |address: usize| {
        move || {
            let shared = Arc::new((Atomic::default(), Atomic::default()));
            shared.1.store(address as i64);
            let theirs = Arc::clone(&shared);
            let writer = spawn(move || {
                theirs.0.store(1);
                theirs.1.store(Box::into_raw(Box::new(7_u64)).expose_provenance() as i64);
            });
            if shared.0.load() == 1 {
                let pointer = std::ptr::with_exposed_provenance::<u64>(shared.1.load() as usize);
                // SAFETY: none if the writer is between its two stores; this is what is tested.
                assert_eq!(unsafe { pointer.read_volatile() }, 7);
            }
            writer.join();
        }
    };
    let report = checker().check(reads_too_early(1 << 20)).unwrap();
    report.assert_grade(Grade::Bug);
    let bug = report.bug.as_ref().expect("a bug");
    assert!(matches!(bug.finding, Finding::Crash { crash: Crash::InvalidMemory, .. }), "{:?}", bug.finding);
    let text = report.to_string();
    assert!(text.contains("access to memory that the process does not have (SIGSEGV) (execution"), "{text}");
    assert!(text.contains("crashes: access to memory"), "{text}");
    let replayed = checker().replay(&bug.decisions, reads_too_early(1 << 20)).unwrap();
    assert_eq!(replayed.bug.expect("the same").finding, bug.finding);
    let of_null = checker().check(reads_too_early(0)).unwrap().bug.expect("a bug").finding;
    let is_so = match &of_null {
        Finding::Crash { crash, .. } => *crash == Crash::NullPointer,
        // The compiler checks this in a build for tests.
        Finding::Aborted { message, .. } => message == "null pointer dereference occurred",
        _ => false,
    };
    assert!(is_so, "{of_null:?}");
}

/// As the operating system would.
#[test]
fn a_thread_whose_stack_no_machine_has_is_refused() {
    let starts = |size: usize| {
        let builder = || interloper::thread::Builder::new().stack_size(size);
        let scoped = interloper::thread::scope(|scope| builder().spawn_scoped(scope, || ()).is_ok());
        let alone = builder().spawn(|| ()).map(|handle| handle.join().unwrap());
        (scoped, alone.is_ok())
    };
    let report = checker().executions(10).allow_trivial().check(|| {
        assert_eq!((starts(1 << 20), starts(isize::MAX as usize)), ((true, true), (false, false)));
    });
    report.unwrap().assert_grade(Grade::Clean);
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

/// One execution would take hours. What must end within its bound on steps is not stopped.
#[test]
fn an_execution_is_stopped_when_the_time_is_over() {
    let began = std::time::Instant::now();
    let add_for_ever = || {
        let number = Arc::new(Atomic::default());
        let again = Arc::clone(&number);
        let other = spawn(move || (0..u64::MAX).for_each(|_| _ = again.fetch_add(1)));
        (0..u64::MAX).for_each(|_| _ = number.fetch_add(1));
        other.join();
    };
    let time = std::time::Duration::from_millis(400);
    let report = checker().steps(StepBound::StopAfter(u64::MAX)).time(time).check(add_for_ever).unwrap();
    assert_eq!((report.grade, report.coverage.given_up), (Grade::Clean, report.coverage.executions), "{report}");
    assert!(report.coverage.executions > 0 && began.elapsed() < 100 * time, "{report}");
}

/// Threads that have ended count, too.
#[test]
fn an_execution_with_too_many_threads_is_a_bug_or_given_up() {
    let spawns = || (0..5000).for_each(|_| spawn(|| ()).join());
    let check = |bound: StepBound| checker().executions(1).steps(bound).allow_trivial().check(spawns).unwrap();
    assert!(matches!(check(StepBound::FailAfter(1_000_000)).bug.unwrap().finding, Finding::Failed { .. }));
    let report = check(StepBound::StopAfter(1_000_000));
    assert_eq!((report.grade, report.coverage.given_up), (Grade::Clean, 1), "{report}");
}

/// Where the bound gives an execution up, it does so whatever the program is about to do. A yield that gives way to nobody, by
/// freedom, is no step.
#[test]
fn the_step_bound_of_programs_that_wait() {
    let ordinary = || checker().executions(10).freedoms(Freedoms::NONE).allow_trivial();
    let check = |bound: StepBound, program: fn()| ordinary().steps(bound).check(program).unwrap();
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
    // It counts its looks, so each is from a new state: eight times as many rounds are waited for.
    let hasty =
        |rounds| checker().executions(10).allow_trivial().settings(move |settings| settings.livelock_rounds = rounds);
    hasty(100).check(move || program(500)).unwrap().assert_grade(Grade::Clean);
    assert_eq!(hasty(50).check(move || program(500)).unwrap().bug.unwrap().finding, Finding::Livelock);
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
