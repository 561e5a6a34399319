//! The wrappers under the driver: guards, values that change by themselves, counters, iteration, critical sections.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use interloper::collections::{AtomicUsize, DashMap, Mutex, OnceLock, RwLock, SegQueue};
use interloper::{Environment, MethodUnderTest, Subject, Verdict};

/// While a write guard lives, the state of the rest is read back after each environment operation.
#[test]
fn cells_in_a_map_are_followed_beside_a_guard() {
    type Cells = (DashMap<u32, Arc<OnceLock<u32>>>, SegQueue<u32>);
    let register = |(cells, log): &Cells, key: u32| {
        let cell = cells.entry(key).or_default();
        log.push(key);
        cell.get().copied()
    };
    let make = || (DashMap::new(), SegQueue::new());
    let report = MethodUnderTest::new("register", make, register).arguments([1]).check().expect("well described");
    assert_eq!(report.verdict, Verdict::Linearizable, "{report}");
}

#[test]
fn an_unsigned_counter_is_not_counted_below_zero() {
    let next = |counter: &AtomicUsize, (): ()| counter.fetch_add(1, Ordering::SeqCst);
    MethodUnderTest::new("next", || AtomicUsize::counter(0), next).assert_linearizable();
    let next = |counter: &AtomicUsize, (): ()| {
        let id = counter.load(Ordering::SeqCst);
        counter.store(id + 1, Ordering::SeqCst);
        id
    };
    MethodUnderTest::new("next", || AtomicUsize::counter(0), next).assert_verdict(Verdict::NotLinearizable);
}

#[test]
fn an_iteration_is_no_snapshot() {
    let total = |map: &DashMap<u32, u32>, (): ()| map.iter().map(|entry| *entry.value()).sum::<u32>();
    MethodUnderTest::new("total", DashMap::new, total).assert_verdict(Verdict::NotLinearizable);
    let total = |map: &Mutex<HashMap<u32, u32>>, (): ()| map.lock().unwrap().values().sum::<u32>();
    MethodUnderTest::new("total", Mutex::default, total).assert_linearizable();
}

#[test]
fn removing_in_a_loop_over_a_map_waits_for_itself() {
    let clear = |map: &DashMap<u32, u32>, (): ()| {
        for key in map.iter().map(|entry| *entry.key()) {
            map.remove(&key);
        }
    };
    let report = MethodUnderTest::new("clear", DashMap::new, clear).check().expect("well described");
    let deadlock = report.violation.expect("a violation").counterexample.deadlock.expect("a deadlock");
    assert!(deadlock.held.location.contains("wrappers.rs"), "{deadlock:?}");
}

#[test]
fn two_sections_are_two_steps() {
    let take = |stack: &Mutex<Vec<u32>>, (): ()| {
        let empty = stack.lock().unwrap().is_empty();
        if empty { None } else { Some(stack.lock().unwrap().pop().unwrap()) }
    };
    MethodUnderTest::new("take", Mutex::default, take).assert_verdict(Verdict::NotLinearizable);
    let take = |stack: &Mutex<Vec<u32>>, (): ()| {
        let mut stack = stack.lock().unwrap();
        if stack.is_empty() { None } else { Some(stack.pop().unwrap()) }
    };
    MethodUnderTest::new("take", Mutex::default, take).assert_linearizable();
}

/// Runs two calls of `method` at once, with nobody else around.
fn two_calls<S: Subject + 'static>(make: impl Fn() -> S + 'static, method: impl Fn(&S, u32) + 'static) -> Verdict {
    let method = MethodUnderTest::new("method", make, method).arguments([1]).concurrent(2);
    let report = method.settings(|settings| settings.environment = Environment::Closed).check();
    let report = report.expect("well described");
    println!("{report}");
    report.verdict
}

/// A task that waits for a cell goes on when another has filled it.
#[test]
fn waiting_for_a_cell_is_no_deadlock() {
    type Cells = (DashMap<u32, Arc<OnceLock<u32>>>, SegQueue<u32>);
    let once = |(cells, log): &Cells, key: u32| {
        let cell = Arc::clone(&cells.entry(key).or_default());
        cell.get_or_init(|| {
            log.push(key);
            key * 2
        });
    };
    assert_eq!(two_calls(|| (DashMap::new(), SegQueue::new()), once), Verdict::Linearizable);
}

/// Collections that are not part of the run, but shared by its tasks.
#[derive(Default)]
struct Hidden {
    log: SegQueue<u32>,
    mutex: Mutex<u32>,
    lock: RwLock<u32>,
    map: DashMap<u32, u32>,
}

interloper::subject!(Hidden { log });

#[test]
fn waiting_for_a_hidden_lock_is_no_deadlock() {
    let check = |method: fn(&Hidden, u32)| assert_eq!(two_calls(Hidden::default, method), Verdict::Linearizable);
    check(|hidden, key| {
        let _guard = hidden.mutex.lock().unwrap();
        hidden.log.push(key);
    });
    check(|hidden, key| {
        let _guard = hidden.lock.write().unwrap();
        hidden.log.push(key);
    });
    check(|hidden, key| {
        let _guard = hidden.map.entry(key).or_insert(1);
        hidden.log.push(key);
    });
    check(|hidden, key| {
        let _guard = hidden.map.entry(key).or_insert(1).downgrade();
        hidden.log.push(key);
    });
    check(|hidden, key| {
        hidden.map.insert(key, 1);
        for _entry in hidden.map.iter_mut() {
            hidden.log.push(key);
        }
    });
}

#[test]
fn waiting_for_oneself_at_a_hidden_lock_is_a_deadlock() {
    let twice = |hidden: &Hidden, key: u32| {
        hidden.log.push(key);
        let _guard = hidden.map.entry(key).or_insert(1);
        hidden.map.remove(&key);
    };
    let report = MethodUnderTest::new("twice", Hidden::default, twice).arguments([1]).check().expect("well described");
    assert!(report.violation.expect("a violation").counterexample.deadlock.is_some());
}
