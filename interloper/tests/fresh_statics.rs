//! Whole statics of chosen crates start fresh in each execution of a check.

use std::cell::{Cell, UnsafeCell};
use std::num::NonZeroUsize;
use std::sync::atomic::AtomicI64 as RealAtomic;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use interloper::blocks::{Checker, Finding, Report};
use interloper::sync::Once;
use interloper::sync::atomic::{AtomicI64, AtomicU8, Ordering::SeqCst};
use interloper::{atomic, thread};

/// No other test runs: its own use of statics would be outside executions. Held at the start of each, so that none
/// finds it as it was at first. The mutex lies outside of the static: after an execution, the bytes of statics are those from before it, and
/// a mutex there would forget who began to wait for it meanwhile.
fn one_at_a_time() -> MutexGuard<'static, ()> {
    static ONE: LazyLock<Box<Mutex<()>>> = LazyLock::new(Box::default);
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A value that one task makes, and a function that makes it, which is taken: as lazy values of many crates are.
struct Lazy<T> {
    state: AtomicU8,
    value: UnsafeCell<Option<T>>,
    make: Cell<Option<fn() -> T>>,
}

// SAFETY: who has made the state 1 sets the value before it makes it 2; the others read it after that.
unsafe impl<T: Send + Sync> Sync for Lazy<T> {}

impl<T> Lazy<T> {
    const fn new(make: fn() -> T) -> Lazy<T> {
        Lazy { state: AtomicU8::new(0), value: UnsafeCell::new(None), make: Cell::new(Some(make)) }
    }

    fn get(&self) -> &T {
        if self.state.compare_exchange(0, 1, SeqCst, SeqCst).is_ok() {
            let make = self.make.take().expect("it was poisoned before");
            // SAFETY: see above.
            unsafe { *self.value.get() = Some(make()) };
            self.state.store(2, SeqCst);
        }
        while self.state.load(SeqCst) != 2 {
            interloper::hint::spin_loop();
        }
        // SAFETY: see above.
        unsafe { (*self.value.get()).as_ref() }.expect("it is set")
    }
}

static NUMBER: Lazy<AtomicI64> = Lazy::new(|| AtomicI64::new(40));

/// Two tasks that add 1 to a lazy number, each in one step or in two.
fn add(increment: fn()) -> i64 {
    let other = thread::spawn(increment);
    increment();
    other.join().unwrap();
    NUMBER.get().load(SeqCst)
}

fn in_one_step() {
    atomic("increment", || NUMBER.get().fetch_add(1, SeqCst));
}

fn in_two_steps() {
    atomic("increment", || {
        let number = NUMBER.get().load(SeqCst);
        NUMBER.get().store(number + 1, SeqCst);
    });
}

fn checker() -> Checker {
    Checker::new("program").fresh_statics(["fresh-statics"])
}

#[test]
fn a_lazy_static_is_made_in_each_execution() {
    let _one = one_at_a_time();
    let report = checker().executions(3_000).check_determinism().check(|| add(in_one_step)).unwrap();
    assert!(report.bug.is_none() && report.coverage.executions == 3_000, "{report}");
    let report = checker().executions(3_000).check(|| add(in_two_steps)).unwrap();
    assert_eq!(report.bug.unwrap().finding, Finding::Unexplained { outcome: "the program returns 41".into() });
}

/// Executions that change statics are never made at the same time.
#[test]
fn the_number_of_jobs_does_not_matter() {
    let _one = one_at_a_time();
    let text = |report: Report| format!("{report}");
    for program in [in_one_step, in_two_steps] {
        let check = |jobs: usize| {
            let jobs = NonZeroUsize::new(jobs).unwrap();
            text(checker().executions(1_000).jobs(jobs).check(|| add(program)).unwrap())
        };
        assert_eq!(check(1), check(4));
    }
}

/// Only a schedule that the first executions do not have changes a static: those that ran beside it are rerun.
#[test]
fn a_static_that_is_changed_late_is_noticed() {
    let _one = one_at_a_time();
    static LATE: RealAtomic = RealAtomic::new(0);
    let program = || {
        let first = AtomicI64::new(0);
        let seen = thread::scope(|scope| {
            scope.spawn(|| first.store(1, SeqCst));
            first.load(SeqCst)
        });
        // Would be another number each time.
        if seen == 0 { 1 } else { LATE.fetch_add(1, std::sync::atomic::Ordering::SeqCst) + 1 }
    };
    for jobs in [1, 4] {
        let jobs = NonZeroUsize::new(jobs).unwrap();
        let report = checker().executions(3_000).jobs(jobs).check(program).unwrap();
        assert!(report.bug.is_none() && report.coverage.executions == 3_000, "{report}");
    }
    assert_eq!(LATE.load(std::sync::atomic::Ordering::SeqCst), 0);
}

static mut TABLE: Vec<i64> = Vec::new();

#[interloper::test(fresh_statics, executions = 3000, check_determinism)]
#[allow(static_mut_refs)]
fn a_static_mut_under_a_once() -> i64 {
    static ONCE: Once = Once::new();
    let look = || {
        // SAFETY: written once, before it is read.
        ONCE.call_once(|| unsafe { TABLE.extend([1, 2, 3]) });
        // SAFETY: as above.
        unsafe { TABLE.iter().sum::<i64>() }
    };
    let other = thread::spawn(look);
    look() + other.join().unwrap()
}
