//! The wrappers under the driver: guards, values that change by themselves, counters, iteration, critical sections.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use interloper::collections::{AtomicUsize, DashMap, Mutex, OnceLock, SegQueue};
use interloper::{MethodUnderTest, Verdict};

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
