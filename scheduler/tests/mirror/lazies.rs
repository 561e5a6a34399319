//! What is initialised once, in statics above all: it is fresh in each execution, at the end of which it is dropped.

use std::sync::atomic::{AtomicU32, Ordering};

use interloper_scheduler::End;
use interloper_std::sync::{Arc, LazyLock, Mutex, Once, OnceLock};
use interloper_std::thread;

use crate::common::*;

/// Counts, outside all executions, how often a value is made and dropped.
struct Counted(&'static AtomicU32);

impl Counted {
    fn new(made: &AtomicU32, dropped: &'static AtomicU32) -> Counted {
        made.fetch_add(1, Ordering::Relaxed);
        Counted(dropped)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_static_is_made_and_dropped_in_each_execution() {
    static MADE: AtomicU32 = AtomicU32::new(0);
    static DROPPED: AtomicU32 = AtomicU32::new(0);
    static LAZY: LazyLock<Counted> = LazyLock::new(|| Counted::new(&MADE, &DROPPED));
    static CELL: OnceLock<Counted> = OnceLock::new();
    static ONCE: Once = Once::new();
    let mut runs = 0;
    let ends = sample(10, || {
        assert!(!ONCE.is_completed() && CELL.get().is_none());
        assert_eq!(DROPPED.load(Ordering::Relaxed), 2 * runs);
        ONCE.call_once(|| runs += 1);
        ONCE.call_once(|| runs += 100);
        let child = thread::spawn(|| {
            LazyLock::force(&LAZY);
            CELL.get_or_init(|| Counted::new(&MADE, &DROPPED));
        });
        LazyLock::force(&LAZY);
        child.join().unwrap();
        assert!(CELL.get().is_some());
    });
    assert!(all_finished(&ends), "{ends:?}");
    assert_eq!(runs, 10);
    assert_eq!((MADE.load(Ordering::Relaxed), DROPPED.load(Ordering::Relaxed)), (20, 20));
}

#[test]
fn a_static_outside_is_another_one() {
    static CELL: OnceLock<u32> = OnceLock::new();
    assert_eq!(CELL.set(1), Ok(()));
    let ends = sample(3, || assert_eq!((CELL.set(2), CELL.get()), (Ok(()), Some(&2))));
    assert!(all_finished(&ends), "{ends:?}");
    assert_eq!(CELL.get(), Some(&1));
}

#[test]
fn a_value_is_dropped_before_those_that_it_was_made_from() {
    static LOG: std::sync::Mutex<Vec<&str>> = std::sync::Mutex::new(Vec::new());
    struct Logs(&'static str);
    impl Drop for Logs {
        fn drop(&mut self) {
            LOG.lock().unwrap().push(self.0);
        }
    }
    static OUTER: LazyLock<Logs> = LazyLock::new(|| Logs(if INNER.0.is_empty() { "" } else { "outer" }));
    static INNER: LazyLock<Logs> = LazyLock::new(|| Logs("inner"));
    let ends = sample(2, || assert_eq!(OUTER.0, "outer"));
    assert!(all_finished(&ends), "{ends:?}");
    assert_eq!(*LOG.lock().unwrap(), ["outer", "inner", "outer", "inner"]);
}

#[test]
fn poison_stays_in_its_execution() {
    static LAZY: LazyLock<u32> = LazyLock::new(|| std::panic::resume_unwind(Box::new(1)));
    static ONCE: Once = Once::new();
    let ends = sample(3, || {
        let force = || thread::spawn(|| *LAZY).join().unwrap_err();
        assert!(force().is::<i32>());
        assert!(force().is::<&str>());
        let once = thread::spawn(|| ONCE.call_once(|| std::panic::resume_unwind(Box::new(2))));
        assert!(once.join().unwrap_err().is::<i32>());
        ONCE.call_once_force(|state| assert!(state.is_poisoned()));
    });
    assert!(all_finished(&ends), "{ends:?}");
}

#[test]
fn an_initialiser_that_needs_its_own_value_is_a_deadlock() {
    let inside_itself = || {
        let cell = OnceLock::new();
        cell.get_or_init(|| *cell.get_or_init(|| 1));
    };
    assert!(matches!(exhaust(inside_itself)[..], [End::Deadlock(_)]));
    let beside = || {
        let (cell, other) = (OnceLock::new(), OnceLock::new());
        assert_eq!(cell.get_or_init(|| *other.get_or_init(|| 1)), &1);
    };
    assert!(matches!(exhaust(beside)[..], [End::Finished]));
}

#[test]
fn waiting_for_what_nobody_does_is_a_deadlock() {
    fn program(initialises: bool) {
        let once = Arc::new(Once::new());
        let waits = thread::spawn({
            let once = Arc::clone(&once);
            move || once.wait()
        });
        if initialises {
            once.call_once(|| ());
        }
        waits.join().unwrap();
    }
    let ends = exhaust(|| program(false));
    assert_eq!(deadlocks(&ends), ends.len());
    assert!(all_finished(&exhaust(|| program(true))));
}

#[test]
fn two_cells_in_opposite_orders_deadlock() {
    fn program(opposite: bool) {
        let cells = Arc::new([OnceLock::new(), OnceLock::new()]);
        let nested = |outer: usize, inner: usize| {
            let cells = Arc::clone(&cells);
            move || *cells[outer].get_or_init(|| *cells[inner].get_or_init(|| 1))
        };
        let other = if opposite { nested(1, 0) } else { nested(0, 1) };
        let other = thread::spawn(other);
        nested(0, 1)();
        other.join().unwrap();
    }
    assert!(deadlocks(&exhaust(|| program(true))) > 0);
    assert!(all_finished(&exhaust(|| program(false))));
}

#[test]
fn what_an_initialiser_does_is_seen_by_all_who_look_after_it() {
    static VALUE: OnceLock<Arc<Mutex<u32>>> = OnceLock::new();
    let program = || {
        let reader = thread::spawn(|| VALUE.get().is_none_or(|value| *value.lock().unwrap() == 7));
        VALUE.get_or_init(|| {
            let value = Arc::new(Mutex::new(0));
            *value.lock().unwrap() = 7;
            value
        });
        assert!(reader.join().unwrap());
    };
    assert!(all_finished(&exhaust(program)));
}
