//! Several concurrent calls on the fiber engine, with and without the environment.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use interloper::Notices;
use interloper::collections::{AtomicU64, DashMap};
use interloper::{Check, Environment, MethodUnderTest, Parts, Shard, Value, Verdict};

fn increment(map: &DashMap<u32, u32>, key: u32) -> u32 {
    let next = map.get(&key).map_or(1, |count| *count + 1);
    map.insert(key, next);
    next
}

fn increment_in_one_step(map: &DashMap<u32, u32>, key: u32) -> u32 {
    let mut count = map.entry(key).or_insert(0);
    *count += 1;
    *count
}

fn closed(method: fn(&DashMap<u32, u32>, u32) -> u32, calls: usize) -> MethodUnderTest<DashMap<u32, u32>, u32, u32> {
    MethodUnderTest::new("increment", DashMap::new, method)
        .arguments([7])
        .initial_states([vec![Value::map([])]])
        .concurrent(calls)
        .settings(|settings| settings.environment = Environment::Closed)
}

#[test]
fn two_increments_lose_one() {
    let report = closed(increment, 2).check().expect("well described");
    assert_eq!(report.verdict, Verdict::NotLinearizable);
    let violation = report.violation.expect("a violation");
    let rows: Vec<(usize, String)> =
        violation.counterexample.rows.iter().map(|row| (row.column, row.event.to_string())).collect();
    let reads = rows.iter().filter(|(_, text)| text.contains("get(7) → none")).count();
    assert_eq!(reads, 2, "both calls read before either writes: {rows:?}");
    // Two calls that overlap: two sequential orders.
    assert_eq!(violation.counterexample.orders.len(), 2);
    assert_eq!(violation.environment_operations, 0);
}

/// Each call is one entry, which holds its lock until the reference is dropped: one step. From each state two calls
/// of one step have 2 interleavings, three calls 3! = 6. The object reaches {}, {7: 1} and {7: 2} in up to two calls.
#[test]
fn interleavings_of_one_step_calls_are_counted() {
    for (calls, interleavings) in [(2, 2), (3, 6)] {
        let report = closed(increment_in_one_step, calls).check().expect("well described");
        assert_eq!(report.verdict, Verdict::Linearizable, "{report}");
        assert_eq!(report.executions(), 3 * interleavings);
        assert!(report.coverage[0].complete);
    }
}

#[test]
fn calls_with_the_environment_around_them() {
    let open = |method: fn(&DashMap<u32, u32>, u32) -> u32| {
        MethodUnderTest::new("increment", DashMap::new, method)
            .arguments([7])
            .keys([7u32])
            .concurrent(2)
            .settings(|settings| settings.bound = 1)
            .check()
            .expect("well described")
    };
    assert_eq!(open(increment).verdict, Verdict::NotLinearizable);
    let good = open(increment_in_one_step);
    assert_eq!(good.verdict, Verdict::Linearizable, "{good}");
    assert_eq!(good.coverage[0].calls, 2);
}

/// The argument is given twice, so each history comes several times, and each part numbers the states in the order in which it meets
/// them: joined, each history counts once. What parts have not found, nothing runs again to find.
#[test]
fn the_parts_of_a_check_with_several_calls_give_its_report() {
    let method = |increment: fn(&DashMap<u32, u32>, u32) -> u32| {
        MethodUnderTest::new("increment", DashMap::new, increment)
            .arguments([7, 7])
            .keys([7u32])
            .concurrent(2)
            .settings(|settings| settings.bound = 1)
    };
    for (increment, expected) in
        [(increment as fn(&_, _) -> _, Verdict::NotLinearizable), (increment_in_one_step, Verdict::Linearizable)]
    {
        let method = method(increment);
        let whole = method.check().expect("well described");
        assert_eq!(whole.verdict, expected);
        for of in [1, 2, 3, 9] {
            let part = |number| {
                let shard = Shard::new(number, of).expect("a shard");
                method.part_with(Check::settings(&method), shard, None).expect("well described")
            };
            let parts: Vec<Parts> = (1..=of).map(part).collect();
            let told = Arc::new(Told::default());
            let beside = |number| {
                let shard = Shard::new(number, of).expect("a shard");
                method.part_with(Check::settings(&method), shard, Some(told.clone())).expect("well described")
            };
            // In any order; the first one that finds something ends the search of the others.
            let others: Vec<Parts> = (1..=of).rev().map(beside).collect();
            let executed = |parts: &[Parts]| parts.iter().map(Parts::executions).sum::<u64>();
            match expected {
                Verdict::Linearizable => assert_eq!(others.iter().rev().cloned().collect::<Vec<_>>(), parts, "{of}"),
                _ => assert!(executed(&others) <= executed(&parts), "{of}"),
            }
            let joined = others.into_iter().reduce(Parts::and).expect("a part");
            let report = method.joined_with(Check::settings(&method), joined).expect("well described");
            assert_eq!((report.to_string(), &report.coverage), (whole.to_string(), &whole.coverage), "{of}");
            let executions: u64 = parts.iter().map(Parts::executions).sum();
            let joined = parts.into_iter().reduce(Parts::and).expect("a part");
            let report = method.joined_with(Check::settings(&method), joined).expect("well described");
            assert_eq!((report.to_string(), &report.coverage), (whole.to_string(), &whole.coverage), "{of}");
            if expected == Verdict::Linearizable {
                assert_eq!(executions, whole.executions(), "{of}");
                assert!(whole.coverage[0].histories < executions, "some histories come several times");
            }
        }
    }
}

/// What parts tell each other, in memory.
#[derive(Debug, Default)]
struct Told(Mutex<BTreeMap<usize, u64>>);

impl Notices for Told {
    fn earliest(&self, search: usize) -> Option<u64> {
        self.0.lock().expect("no test panics here").get(&search).copied()
    }

    fn post(&self, search: usize, place: u64) {
        let mut found = self.0.lock().expect("no test panics here");
        let earliest = found.entry(search).or_insert(place);
        *earliest = place.min(*earliest);
    }
}

/// A method that is only called on objects which nobody else resets.
#[test]
fn a_closed_environment_tells_modular_from_bad() {
    let take_ticket = |next: &AtomicU64, (): ()| {
        use std::sync::atomic::Ordering::SeqCst;
        let before = next.load(SeqCst);
        let ticket = next.fetch_add(1, SeqCst);
        // Holds as long as nobody turns the counter back.
        assert!(ticket >= before, "tickets never go back");
        ticket
    };
    let method = || MethodUnderTest::new("take_ticket", || AtomicU64::new(0), take_ticket);
    assert_eq!(method().check().expect("well described").verdict, Verdict::NotLinearizable);
    let peek = |next: &AtomicU64, (): ()| next.load(std::sync::atomic::Ordering::SeqCst);
    let report = method().beside("peek", peek).check().expect("well described");
    assert_eq!(report.verdict, Verdict::Modular, "{report}");
    assert_eq!(report.coverage.len(), 2);
}

/// What is settled with one value by the method under test, and with another one beside it.
#[test]
fn a_call_beside_has_arguments_of_its_own() {
    fn settle(map: &DashMap<u32, u32>, value: u32) -> u32 {
        if let Some(known) = map.get(&1) {
            return *known;
        }
        map.insert(1, value);
        value
    }
    let method = || {
        let closed = |settings: &mut interloper::Settings| settings.environment = Environment::Closed;
        MethodUnderTest::new("settle", DashMap::new, settle).arguments([7]).settings(closed)
    };
    // Who settles the same value does no harm.
    let same = method().beside_call("settle", "(7)", |map| settle(map, 7)).check().expect("well described");
    assert_eq!(same.verdict, Verdict::Linearizable, "{same}");
    let other = method().beside_call("settle", "(8)", |map| settle(map, 8));
    let report = other.check().expect("well described");
    assert_eq!(report.verdict, Verdict::NotLinearizable, "{report}");
    assert_eq!(report.coverage[0].environment, "closed environment of settle, settle(8)");
    let violation = report.violation.expect("a violation");
    let titles: Vec<&str> = violation.counterexample.columns.iter().map(|column| column.title.as_str()).collect();
    assert_eq!(titles, ["task 1: settle(7)", "task 2: settle(8)"]);
    let again = other.replay(violation.decisions.to_string()).check().expect("replayable");
    assert_eq!(again.violation.expect("the same").history, violation.history);
}

/// One call beside the method is enough, so no violation has two, whichever call is listed first.
#[test]
fn the_first_violation_has_the_fewest_calls() {
    let take = |jobs: &DashMap<u32, u32>, key: u32| match jobs.contains_key(&key) {
        true => jobs.remove(&key).is_some(),
        false => true, // somebody else has taken it
    };
    let report = MethodUnderTest::new("of::take", DashMap::new, take)
        .arguments([7])
        .initial_states([vec![Value::map([(Value::Int(7), Value::Int(1))])]])
        .beside_call("look", "()", |jobs| jobs.contains_key(&7))
        .beside_call("take", "(7)", move |jobs| take(jobs, 7))
        .settings(|settings| settings.environment = Environment::Closed)
        .check()
        .expect("well described");
    let violation = report.violation.expect("a violation");
    let titles: Vec<&str> = violation.counterexample.columns.iter().map(|column| column.title.as_str()).collect();
    assert_eq!(titles, ["task 1: of::take(7)", "task 2: of::take(7)"]);
}

/// The programs are those that are counted by hand: the method with its argument, beside one or two of three calls.
#[test]
fn each_program_of_calls_is_made_once() {
    let look = |map: &DashMap<u32, u32>, key: u32| map.contains_key(&key);
    let report = MethodUnderTest::new("look", DashMap::new, look)
        .arguments([7])
        .beside_call("look", "(8)", move |map| look(map, 8))
        .beside_call("look", "(9)", move |map| look(map, 9))
        .settings(|settings| settings.environment = Environment::Closed)
        .check()
        .expect("well described");
    // Alone, each call is one step. Beside one call there are 2 orders, beside two in a row 3: 3·2 + 9·3.
    assert_eq!((report.verdict, report.coverage[0].executions), (Verdict::Linearizable, 33), "{report}");
}

#[test]
fn a_concurrent_run_is_replayed() {
    let first = closed(increment, 2).check().expect("well described").violation.expect("a violation");
    let again = closed(increment, 2).replay(first.decisions.to_string()).check().expect("replayable");
    assert_eq!(again.violation.expect("the same").history, first.history);
}

#[test]
fn two_locks_in_two_orders_are_a_deadlock() {
    let method = MethodUnderTest::new("swap", DashMap::new, |map: &DashMap<u32, u32>, (from, to): (u32, u32)| {
        let source = map.entry(from).or_insert(1);
        let mut target = map.entry(to).or_insert(2);
        *target += *source;
    });
    let report = method
        .arguments([(1, 2), (2, 1)])
        .initial_states([vec![Value::map([])]])
        .settings(|settings| settings.environment = Environment::Closed)
        .check()
        .expect("well described");
    let violation = report.violation.expect("a violation");
    assert!(violation.counterexample.deadlock.is_some(), "{}", violation.counterexample);
}
