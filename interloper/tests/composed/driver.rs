//! The driver's promises: counts, verdicts, misuse.

use interloper::collections::{DashMap, SegQueue};
use interloper::{Adversary, MethodUnderTest, Misuse, Search, Verdict};

fn compute(map: &DashMap<u32, u32>, key: u32) -> Option<u32> {
    // Figure 3a
    let found = map.get(&key).map(|value| *value);
    if found.is_none() {
        map.entry(key).or_insert(key * 2);
    }
    map.get(&key).map(|value| *value)
}

/// Figure 12(i).
fn compute_in_one_step(map: &DashMap<u32, u32>, key: u32) -> u32 {
    *map.entry(key).or_insert(key * 2)
}

#[test]
fn figure_3_fails_with_one_operation() {
    let report = MethodUnderTest::new("compute", DashMap::new, compute).arguments([7]).check().expect("well described");
    assert_eq!(report.verdict, Verdict::NotLinearizable);
    let violation = report.violation.expect("a violation");
    assert_eq!(violation.environment_operations, 1);
}

#[test]
fn one_step_is_atomic() {
    let method = MethodUnderTest::new("compute", DashMap::new, compute_in_one_step).arguments([7]);
    method.assert_linearizable();
}

/// One step, one key, two values, from the empty map, by hand.
///
/// The alphabet is get(7), insert(7, 14), insert(7, 15), insert_if_absent(7, 14), insert_if_absent(7, 15), remove(7): 6
/// operations. The step is an entry, whose effect is not known beforehand: all 6 are candidates in the gap before it.
/// In the gap before the return a candidate is one that does not commute with the step in the state before it or in
/// the current one.
#[test]
fn executions_are_counted_by_hand() {
    let count = |adversary, bound| {
        let report = MethodUnderTest::new("compute", DashMap::new, compute_in_one_step)
            .arguments([7])
            .keys([7u32])
            .values([14u32, 15])
            .initial_states([vec![interloper::Value::map([])]])
            .settings(|settings| {
                settings.adversary = adversary;
                settings.bound = bound;
            })
            .check()
            .expect("well described");
        assert_eq!(report.verdict, Verdict::Linearizable);
        report.executions()
    };
    // No environment operation: 1 run. One: 6 in each of two gaps. Two: 6 × 6 in (before, before), (before, after) and
    // (after, after).
    assert_eq!(count(Adversary::Unfiltered, 1), 1 + 12);
    assert_eq!(count(Adversary::Unfiltered, 2), 1 + 12 + 3 * 36);
    // After the step every one of the 6 still fails to commute with insert_if_absent(7, 14) in the empty map: get sees
    // the insertion, an insertion is seen by it, remove undoes it.
    assert_eq!(count(Adversary::Preceding, 1), 1 + 12);
}

#[test]
fn a_panic_is_a_result() {
    let pop = |queue: &SegQueue<u32>, (): ()| if queue.is_empty() { 0 } else { queue.pop().unwrap() };
    let report = MethodUnderTest::new("pop", SegQueue::new, pop).check().expect("well described");
    assert_eq!(report.verdict, Verdict::NotLinearizable);
    let text = report.to_string();
    assert!(text.contains("panic"), "{text}");
}

#[test]
fn replay_makes_the_same_run() {
    let method = || MethodUnderTest::new("compute", DashMap::new, compute).arguments([7]);
    let first = method().check().expect("well described").violation.expect("a violation");
    let again = method().replay(first.decisions.to_string()).check().expect("replayable").violation.expect("the same");
    assert_eq!(again.history, first.history);
    assert_eq!(again.counterexample.rows, first.counterexample.rows);
}

#[test]
fn random_search_finds_it_too() {
    let report = MethodUnderTest::new("compute", DashMap::new, compute).arguments([7]).random(42, 10_000).check();
    // A run violates with probability above 1/100; all of 10,000 miss with probability below 2^-100.
    assert_eq!(report.expect("well described").verdict, Verdict::NotLinearizable);
}

#[test]
fn the_naive_adversary_misses_it() {
    let report = MethodUnderTest::new("compute", DashMap::new, compute)
        .arguments([7])
        .settings(|settings| {
            settings.adversary = Adversary::Naive;
            settings.search = Search::Random { executions: 2_000 };
        })
        .check()
        .expect("well described");
    assert_eq!(report.verdict, Verdict::NothingFound, "a 32-bit key is not guessed in 2,000 runs");
}

#[test]
fn a_limit_is_said() {
    let report = MethodUnderTest::new("compute", DashMap::new, compute_in_one_step)
        .arguments([7])
        .settings(|settings| settings.executions = Some(10))
        .check()
        .expect("well described");
    assert_eq!(report.verdict, Verdict::Unfinished);
    assert_eq!(report.executions(), 10);
}

#[test]
fn misuse_is_named() {
    let untouched = MethodUnderTest::new("idle", DashMap::<u32, u32>::new, |_: &DashMap<u32, u32>, (): ()| 3).check();
    assert_eq!(untouched.unwrap_err(), Misuse::NoInstrumentedOperation);

    let counter = std::cell::Cell::new(0);
    let moody = MethodUnderTest::new("moody", DashMap::<u32, u32>::new, move |map: &DashMap<u32, u32>, (): ()| {
        counter.set(counter.get() + 1);
        map.insert(1, 1);
        counter.get()
    });
    assert!(matches!(moody.check().unwrap_err(), Misuse::Nondeterministic { .. }));

    let unknown = MethodUnderTest::new("compute", DashMap::new, compute).without("delete").check();
    assert!(matches!(unknown.unwrap_err(), Misuse::UnknownMethod { .. }));

    let endless = MethodUnderTest::new(
        "spin",
        DashMap::<u32, u32>::new,
        |map: &DashMap<u32, u32>, (): ()| {
            while map.get(&1).is_none() {}
        },
    );
    assert!(matches!(endless.check().unwrap_err(), Misuse::SequentialStepBound { .. }));
}

#[test]
fn a_guard_that_is_taken_again_is_a_deadlock() {
    let method = MethodUnderTest::new("update", DashMap::new, |map: &DashMap<u32, u32>, key: u32| {
        if let Some(guard) = map.get(&key) {
            map.insert(key, *guard + 1);
        }
    });
    let report = method.arguments([7]).check().expect("well described");
    assert_eq!(report.verdict, Verdict::NotLinearizable);
    let deadlock = report.violation.expect("a violation").counterexample.deadlock.expect("a deadlock");
    assert!(
        deadlock.held.location.contains("driver.rs") && deadlock.wanted.location.contains("driver.rs"),
        "{deadlock:?}"
    );
    assert_ne!(deadlock.held.location, deadlock.wanted.location);
}
