//! What std leaves open: programs that rely on more than it promises are found, and the report says what it takes.

use interloper::Checker;
use interloper::blocks::{Finding, Freedom, Freedoms, Grade, Report, Schedule};
use interloper::sync::atomic::{AtomicU32, Ordering::SeqCst};
use interloper::sync::{Arc, Condvar, Mutex, RwLock};
use interloper::thread;
use std::num::NonZeroUsize;
use std::time::Duration;

fn checker() -> Checker {
    Checker::new("program").executions(2_000)
}

/// By default the wrong program is found, and the report names what it needs; without freedoms it is not found. The right
/// one is accepted. An exhaustive search with the freedom finds the one and accepts the other to the end.
#[track_caller]
fn check(freedom: Freedom, needs: &str, wrong: fn(), right: fn()) {
    let found = |report: &Report| {
        report.assert_grade(Grade::Bug);
        let bug = report.bug.as_ref().unwrap();
        assert_eq!(bug.departures.each().map(|(freedom, _)| freedom).collect::<Vec<_>>(), [freedom], "{report}");
        assert!(report.to_string().contains(needs), "{report}");
        bug.clone()
    };
    let report = checker().check(wrong).unwrap();
    let bug = found(&report);
    // The same whatever the number of threads, and again from its decisions alone.
    let jobs = NonZeroUsize::new(3).unwrap();
    assert_eq!(checker().jobs(jobs).check(wrong).unwrap().to_string(), report.to_string());
    let again = checker().freedoms(Freedoms::NONE).replay(&bug.smallest, wrong).unwrap();
    assert_eq!(found(&again).finding, bug.finding);
    checker().freedoms(Freedoms::NONE).allow_trivial().check(wrong).unwrap().assert_grade(Grade::Clean);
    checker().allow_trivial().check(right).unwrap().assert_grade(Grade::Clean);

    let exhaustive = |freedoms: Freedoms| checker().schedule(Schedule::Exhaustive).freedoms(freedoms).allow_trivial();
    let with = Freedoms::NONE.with(freedom, if freedom == Freedom::Hints { 8 } else { 1 });
    found(&exhaustive(with).check(wrong).unwrap());
    let accepted = exhaustive(with).check(right).unwrap();
    accepted.assert_grade(Grade::Clean);
    assert!(accepted.coverage.complete, "{accepted}");
    // Without it, it is not found; where that is not for the freedom to be asked for, the search is not complete either.
    let without = exhaustive(Freedoms::NONE).check(wrong).unwrap();
    without.assert_grade(Grade::Clean);
    assert_eq!(without.coverage.complete, freedom != Freedom::Hints, "{without}");
    let by_default = checker().schedule(Schedule::Exhaustive).allow_trivial().check(wrong).unwrap();
    assert_eq!(by_default.grade == Grade::Bug, matches!(freedom, Freedom::Hints | Freedom::Writers), "{by_default}");
}

#[test]
fn sleep_as_synchronisation() {
    fn program(join: bool) {
        let set = Arc::new(AtomicU32::new(0));
        let other = set.clone();
        let child = thread::spawn(move || other.store(1, SeqCst));
        match join {
            true => child.join().unwrap(),
            false => thread::sleep(Duration::from_millis(100)),
        }
        assert_eq!(set.load(SeqCst), 1);
    }
    check(
        Freedom::Time,
        "needs a sleep or a time-out to end early, before other threads go on",
        || program(false),
        || program(true),
    );
}

#[test]
fn a_time_out_that_is_long_enough() {
    fn program(looks: bool) {
        let shared = Arc::new((Mutex::new(false), Condvar::new()));
        let other = shared.clone();
        let child = thread::spawn(move || {
            *other.0.lock().unwrap() = true;
            other.1.notify_one();
        });
        let wait = Duration::from_secs(3600);
        let (set, waited) = shared.1.wait_timeout_while(shared.0.lock().unwrap(), wait, |set| !*set).unwrap();
        assert!(*set || (looks && waited.timed_out()));
        drop(set);
        child.join().unwrap();
    }
    check(Freedom::Time, "needs a sleep or a time-out to end early", || program(false), || program(true));
}

#[test]
fn a_wait_without_a_loop() {
    fn program(loops: bool) {
        let shared = Arc::new((Mutex::new(false), Condvar::new()));
        let other = shared.clone();
        let child = thread::spawn(move || {
            *other.0.lock().unwrap() = true;
            other.1.notify_one();
        });
        let mut set = shared.0.lock().unwrap();
        if loops {
            while !*set {
                set = shared.1.wait(set).unwrap();
            }
        } else if !*set {
            set = shared.1.wait(set).unwrap();
        }
        assert!(*set);
        drop(set);
        child.join().unwrap();
    }
    check(
        Freedom::Wakeups,
        "needs a wait to end although no thread woke the waiting thread",
        || program(false),
        || program(true),
    );
}

/// The step after a wait says why the wait ends, unless somebody notified the thread.
#[test]
fn a_wait_that_nobody_ends_says_so() {
    #[track_caller]
    fn check(program: fn(&Mutex<bool>, &Condvar), note: Option<&str>) {
        let run = move || {
            let shared = Arc::new((Mutex::new(false), Condvar::new()));
            let other = shared.clone();
            let child = thread::spawn(move || {
                *other.0.lock().unwrap() = true;
                other.1.notify_one();
            });
            program(&shared.0, &shared.1);
            child.join().unwrap();
        };
        let report = checker().check(run).unwrap();
        let rows = &report.bug.as_ref().unwrap().counterexample.rows;
        let says = |row: &&interloper::report::Row| row.notes.iter().any(|said| said.starts_with("its "));
        let notes: Vec<&String> = rows.iter().filter(says).map(|row| row.notes.last().unwrap()).collect();
        assert_eq!(notes, note.iter().collect::<Vec<_>>(), "{report}");
    }
    let early = "its wait ends early: nobody notified it";
    const SECOND: Duration = Duration::from_secs(1);
    check(
        |set, told| {
            let set = set.lock().unwrap();
            assert!(*set || *told.wait(set).unwrap());
        },
        Some(early),
    );
    check(
        |set, told| {
            let set = set.lock().unwrap();
            assert!(*set || *told.wait_timeout(set, SECOND).unwrap().0);
        },
        Some(early),
    );
    // Nobody notifies it here: the time passes.
    let over = "its time-out ends the wait";
    check(
        |set, _| assert!(!Condvar::new().wait_timeout(set.lock().unwrap(), SECOND).unwrap().1.timed_out()),
        Some(over),
    );
    check(|set, told| assert!(!*told.wait_while(set.lock().unwrap(), |set| !*set).unwrap()), None);
}

#[test]
fn a_park_without_a_loop() {
    fn program(loops: bool) {
        let set = Arc::new(AtomicU32::new(0));
        let (other, main) = (set.clone(), thread::current());
        let child = thread::spawn(move || {
            other.store(1, SeqCst);
            main.unpark();
        });
        thread::park();
        while loops && set.load(SeqCst) == 0 {
            thread::park();
        }
        assert_eq!(set.load(SeqCst), 1);
        child.join().unwrap();
    }
    check(Freedom::Wakeups, "although no thread woke the waiting thread", || program(false), || program(true));
}

#[test]
fn a_weak_compare_exchange_without_a_loop() {
    fn program(weak: bool) {
        let value = AtomicU32::new(0);
        let done = match weak {
            true => value.compare_exchange_weak(0, 1, SeqCst, SeqCst),
            false => value.compare_exchange(0, 1, SeqCst, SeqCst),
        };
        assert!(done.is_ok());
    }
    check(
        Freedom::Weak,
        "needs a weak compare-exchange to fail although the expected value is there",
        || program(true),
        || program(false),
    );
}

#[test]
fn a_reader_that_reads_again() {
    fn program(again: bool) {
        let lock = Arc::new(RwLock::new(1));
        let other = lock.clone();
        let child = thread::spawn(move || *other.write().unwrap() += 1);
        let outer = lock.read().unwrap();
        let inner = if again { *lock.read().unwrap() } else { *outer };
        assert_eq!(*outer, inner);
        drop(outer);
        child.join().unwrap();
    }
    check(
        Freedom::Writers,
        "needs a reader-writer lock to let no reader in while a writer waits",
        || program(true),
        || program(false),
    );
    let report = checker().check(|| program(true)).unwrap();
    assert_eq!(report.bug.unwrap().finding, Finding::Deadlock);
}

#[test]
fn a_bounded_loop_that_gives_up() {
    /// Takes the flag, for some rounds.
    fn take(flag: &AtomicU32) -> bool {
        for _ in 0..4 {
            if flag.load(SeqCst) == 0 && flag.compare_exchange(0, 1, SeqCst, SeqCst).is_ok() {
                return true;
            }
            interloper::hint::spin_loop();
        }
        false
    }
    fn program(relies: bool) {
        let (flag, value) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
        let other = (flag.clone(), value.clone());
        let child = thread::spawn(move || {
            if take(&other.0) {
                other.1.fetch_add(1, SeqCst);
                other.0.store(0, SeqCst);
            }
        });
        let taken = take(&flag);
        assert!(taken || !relies, "busy");
        if taken {
            flag.store(0, SeqCst);
        }
        child.join().unwrap();
    }
    check(
        Freedom::Hints,
        "needs a thread that spins or yields to go on although nothing has changed",
        || program(true),
        || program(false),
    );
}

/// What needs no freedom is shown without: the second thread may wait for its time, too.
#[test]
fn what_can_do_without_is_shown_without() {
    let report = checker()
        .check(|| {
            let value = Arc::new(AtomicU32::new(0));
            let add = |value: &AtomicU32| value.store(value.load(SeqCst) + 1, SeqCst);
            let other = value.clone();
            let child = thread::spawn(move || {
                thread::sleep(Duration::from_millis(1));
                add(&other);
            });
            thread::park_timeout(Duration::from_millis(1));
            add(&value);
            child.join().unwrap();
            assert_eq!(value.load(SeqCst), 2);
        })
        .unwrap();
    report.assert_grade(Grade::Bug);
    assert!(!report.to_string().contains("needs"), "{report}");
    assert!(report.bug.unwrap().departures.is_none());
}

/// A block that waits by the clock has serial orders in which its time passes early: what one of them gives is not a bug.
#[test]
fn serial_orders_are_as_free_as_the_executions() {
    let program = || {
        let shared = Arc::new((Mutex::new(0), Condvar::new()));
        let other = shared.clone();
        let child = thread::spawn(move || {
            interloper::atomic("notify", || {
                *other.0.lock().unwrap() += 1;
                other.1.notify_one();
            });
        });
        let seen = interloper::atomic("wait", || {
            let mut guard = shared.0.lock().unwrap();
            if *guard == 0 {
                guard = shared.1.wait_timeout(guard, Duration::from_secs(1)).unwrap().0;
            }
            *guard
        });
        child.join().unwrap();
        seen
    };
    // 1 where the notification comes first; 0 where the wait ends early, alone.
    let report = checker().check(program).unwrap();
    assert!(report.grade < Grade::Bug, "{report}");
}
