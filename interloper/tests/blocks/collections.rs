//! Concurrent collections in programs: each operation is a step, operations on different keys commute, and a guard keeps
//! the lock that the original keeps.

use std::collections::HashMap;
use std::sync::Arc;

use interloper::blocks::{Finding, Grade, Report, Schedule};
use interloper::collections::{
    ArrayQueue, AtomicI64, DashMap, Mutex, OnceLock, RwLock, SegQueue, Shared, SkipMap, SkipSet,
};
use interloper::commutativity::models::CounterModel;
use interloper::sync::atomic::Ordering::SeqCst;
use interloper::{Checker, ToValue, atomic, hint};

use crate::support::spawn;

type Map = DashMap<i64, i64>;

#[track_caller]
fn exhaustively<R: ToValue>(program: impl Fn() -> R + Sync) -> Report {
    // Nothing is what there is to explore where all operations commute.
    let report = Checker::new("program").schedule(Schedule::Exhaustive).allow_trivial().check(program).unwrap();
    if report.grade == Grade::Clean {
        assert!(report.coverage.complete, "{report}");
    }
    report
}

/// Two tasks share what `make` makes: there are so many Mazurkiewicz traces, each in one execution.
#[track_caller]
fn traces<T: Send + Sync + 'static>(make: fn() -> T, one: fn(&T), other: fn(&T), expected: u64) {
    let report = exhaustively(|| {
        let shared = Arc::new(make());
        let theirs = Arc::clone(&shared);
        let task = spawn(move || other(&theirs));
        one(&shared);
        task.join();
    });
    assert_eq!(report.grade, Grade::Clean, "{report}");
    assert_eq!(report.coverage.executions, expected, "{report}");
}

/// With the entry 1: 10.
fn full() -> Map {
    let map = Map::new();
    map.insert(1, 10);
    map
}

#[test]
fn operations_on_different_keys_commute() {
    traces(Map::new, |map| _ = map.insert(1, 0), |map| _ = map.insert(2, 0), 1);
    traces(Map::new, |map| _ = map.remove(&1), |map| _ = map.entry(2).or_insert(0), 1);
    // Also many of them, some of which share a shard: there are 16.
    traces(
        Map::new,
        |map| (0..40).for_each(|key| _ = map.insert(key, 0)),
        |map| (40..80).for_each(|key| _ = map.insert(key, 0)),
        1,
    );
    traces(SkipMap::<i64, i64>::new, |map| _ = map.insert(1, 0), |map| _ = map.remove(&2), 1);
    traces(SkipSet::<i64>::new, |set| _ = set.insert(1), |set| _ = set.insert(2), 1);
    let names = DashMap::<String, i64>::new;
    traces(names, |map| _ = map.insert("a".to_owned(), 0), |map| _ = map.insert("b".to_owned(), 0), 1);
}

#[test]
fn operations_on_one_key_come_in_both_orders() {
    traces(Map::new, |map| _ = map.insert(1, 0), |map| _ = map.insert(1, 1), 2);
    traces(Map::new, |map| _ = map.contains_key(&1), |map| _ = map.insert(1, 1), 2);
    // The steps of each task are r and w: r w r, or r r w w with either w first, or the other one's r w r.
    traces(Map::new, check_then_insert, check_then_insert, 4);
    traces(Map::new, |map| _ = map.entry(1).or_insert(0), |map| _ = map.entry(1).or_insert(1), 2);
    traces(SkipMap::<i64, i64>::new, |map| _ = map.insert(1, 0), |map| _ = map.remove(&1), 2);
    let names = DashMap::<String, i64>::new;
    traces(names, |map| _ = map.insert("a".to_owned(), 0), |map| _ = map.remove("a"), 2);
}

fn check_then_insert(map: &Map) {
    if !map.contains_key(&1) {
        map.insert(1, 0);
    }
}

#[test]
fn reads_commute() {
    traces(full, |map| _ = map.get(&1).map(|found| *found), |map| _ = map.get(&1).map(|found| *found), 1);
    traces(full, |map| _ = map.contains_key(&1), |map| _ = map.len(), 1);
    traces(full, |map| _ = map.len(), |map| map.iter().for_each(|entry| assert_eq!(*entry, 10)), 1);
    traces(SkipSet::<i64>::new, |set| _ = set.len(), |set| assert!(!set.contains(&1) && set.front().is_none()), 1);
    traces(|| AtomicI64::new(0), |number| _ = number.load(SeqCst), |number| _ = number.load(SeqCst), 1);
    traces(SegQueue::<i64>::new, |queue| _ = queue.len(), |queue| _ = queue.is_empty(), 1);
}

#[test]
fn a_look_at_the_whole_collection_depends_on_each_key() {
    traces(SkipMap::<i64, i64>::new, |map| _ = map.len(), |map| _ = map.insert(1, 0), 2);
    traces(SkipMap::<i64, i64>::new, |map| _ = map.pop_front(), |map| _ = map.contains_key(&1), 2);
    // The two inserts commute, and each comes before or after the look.
    let inserts = |map: &SkipMap<i64, i64>| {
        map.insert(1, 0);
        map.insert(2, 0);
    };
    traces(SkipMap::new, |map| _ = map.len(), inserts, 3);
    // Nothing is found, or the entry is found and then counted or gone, and nothing is found after it.
    traces(Map::new, |map| _ = map.len(), |map| _ = map.insert(1, 0), 2);
    traces(full, |map| _ = map.len(), |map| _ = map.remove(&1), 4);
}

#[test]
fn queues_and_atomics_are_steps() {
    traces(SegQueue::new, |queue| queue.push(1), |queue| queue.push(2), 2);
    traces(SegQueue::new, |queue| queue.push(1), |queue| _ = queue.pop(), 2);
    traces(|| ArrayQueue::new(1), |queue| _ = queue.push(1), |queue| _ = queue.push(2), 2);
    traces(|| AtomicI64::new(0), |number| number.store(1, SeqCst), |number| _ = number.load(SeqCst), 2);
    traces(|| AtomicI64::new(0), |number| _ = number.fetch_add(1, SeqCst), |number| _ = number.swap(2, SeqCst), 2);
    let counter = || Shared::new(CounterModel);
    traces(counter, |one| _ = one.call("fetch_add", [1.to_value()]), |one| _ = one.call("load", []), 2);
}

#[test]
fn critical_sections_are_steps() {
    let map = || Mutex::new(HashMap::<i64, i64>::new());
    traces(map, |map| _ = map.lock().unwrap().insert(1, 1), |map| _ = map.lock().unwrap().remove(&1), 2);
    let list = || RwLock::new(Vec::<i64>::new());
    traces(list, |list| _ = list.read().unwrap().len(), |list| _ = list.read().unwrap().len(), 1);
    traces(list, |list| _ = list.read().unwrap().len(), |list| list.write().unwrap().push(1), 2);
}

#[test]
fn a_cell_is_filled_once() {
    // Who is first fills it.
    let fill = |cell: &OnceLock<i64>| assert_eq!(*cell.get_or_init(|| 1), 1);
    traces(OnceLock::new, fill, fill, 2);
    traces(|| OnceLock::from(1), |cell| _ = cell.get(), |cell| _ = cell.get(), 1);
    // The other one waits for it, or finds it full.
    traces(OnceLock::<i64>::new, |cell| assert_eq!(*cell.wait(), 3), |cell| cell.set(3).unwrap(), 2);
}

/// A guard is a region: what needs its lock comes before it or after it.
#[test]
fn a_guard_keeps_the_lock_of_its_shard() {
    struct Shop {
        stock: Map,
        open: AtomicI64,
    }
    let shop = || Shop { stock: full(), open: AtomicI64::new(0) };
    let looks = |shop: &Shop| {
        let stock = shop.stock.get(&1).unwrap();
        shop.open.store(1, SeqCst);
        assert!(*stock == 10 || *stock == 20);
    };
    // The insertion comes before the guard, and the load before or after the store; or both come after the guard.
    traces(shop, looks, |shop| _ = shop.stock.insert(1, 20).filter(|_| shop.open.load(SeqCst) < 2), 3);
    // Other readers are let in: the load comes before or after the store.
    traces(shop, looks, |shop| _ = shop.stock.get(&1).filter(|_| shop.open.load(SeqCst) < 2), 2);
    // A key in another shard is free: as if there were no guard.
    traces(shop, looks, |shop| assert!(shop.stock.insert(2, 20).is_none() && shop.open.load(SeqCst) < 2), 2);
    // What the guard writes is there as a whole, or not at all.
    let changes = |shop: &Shop| {
        let mut stock = shop.stock.get_mut(&1).unwrap();
        *stock += 1;
        shop.open.store(1, SeqCst);
        *stock += 1;
    };
    traces(shop, changes, |shop| assert_ne!(shop.stock.get(&1).map(|found| *found), Some(11)), 2);
}

/// The shard that two keys share is locked for both.
#[test]
fn a_guard_keeps_out_other_keys_of_its_shard() {
    let shard_of = |map: &Map, key: i64| map.hash_usize(&key) >> 53 & 0b1111;
    traces(
        full,
        |map| {
            let found = map.get(&1).unwrap();
            assert_eq!((*found, map.contains_key(&2)), (10, false));
        },
        |map| _ = map.insert(17, 0),
        2,
    );
    let report = exhaustively(|| {
        let map = Map::new();
        shard_of(&map, 1) == shard_of(&map, 17) && shard_of(&map, 1) != shard_of(&map, 2)
    });
    assert_eq!(report.grade, Grade::Clean, "{report}");
}

#[test]
fn an_attempt_may_find_the_lock_taken() {
    let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
    let report = exhaustively(|| {
        let map = Arc::new(full());
        let theirs = Arc::clone(&map);
        let task = spawn(move || {
            let _guard = theirs.get_mut(&1);
            theirs.hash_usize(&0);
            interloper::thread::yield_now();
        });
        let found = map.try_get(&1).is_locked();
        task.join();
        seen.lock().unwrap().push(found);
    });
    assert_eq!(report.grade, Grade::Clean, "{report}");
    let seen = seen.lock().unwrap();
    assert!(seen.contains(&true) && seen.contains(&false), "{seen:?}");
}

#[test]
fn the_lock_of_a_guard_is_not_taken_twice() {
    let report = exhaustively(|| {
        let map = full();
        let found = map.get(&1).unwrap();
        map.insert(1, *found + 1);
    });
    let bug = report.bug.unwrap();
    assert_eq!(bug.finding, Finding::Deadlock);
    let deadlock = bug.counterexample.deadlock.unwrap();
    let line = |place: &str| place.split(':').nth(1).unwrap().parse::<u32>().unwrap();
    assert_eq!(line(&deadlock.held.location) + 1, line(&deadlock.wanted.location), "{deadlock:?}");
    assert_eq!(deadlock.held.operation, "main holds shard 1");
    // Two tasks, each with the guard of one key, that want the other.
    let report = exhaustively(|| {
        let map = Arc::new(Map::from_iter([(1, 0), (2, 0)]));
        let theirs = Arc::clone(&map);
        let move_from = |map: &Map, from, to| {
            let mut source = map.get_mut(&from).unwrap();
            *source -= 1;
            *map.get_mut(&to).unwrap() += 1;
        };
        let task = spawn(move || move_from(&theirs, 2, 1));
        move_from(&map, 1, 2);
        task.join();
    });
    let bug = report.bug.unwrap();
    assert_eq!(bug.finding, Finding::Deadlock);
    assert!(bug.counterexample.detail.contains("main → shard"), "{}", bug.counterexample.detail);
}

#[test]
fn a_loop_that_waits_for_an_entry_comes_to_its_end() {
    let report = Checker::new("waits")
        .check(|| {
            let map = Arc::new(Map::new());
            let theirs = Arc::clone(&map);
            let task = spawn(move || theirs.insert(1, 7));
            while !map.contains_key(&1) {
                hint::spin_loop();
            }
            task.join();
            map.get(&1).map(|found| *found)
        })
        .unwrap();
    assert_eq!(report.grade, Grade::Clean, "{report}");
    // And one with many keys waits for nothing.
    traces(Map::new, |map| assert!((0..100).all(|key| !map.contains_key(&key))), |map| _ = map.contains_key(&1), 1);
    // Nobody does what this one waits for.
    let livelock = |program: fn(&Map)| exhaustively(|| program(&full())).bug.unwrap().finding;
    assert_eq!(livelock(|map| while map.get(&2).is_none() {}), Finding::Livelock);
    assert_eq!(livelock(|map| while map.get(&1).is_some_and(|found| *found == 10) {}), Finding::Livelock);
    assert_eq!(livelock(|map| while map.remove(&2).is_none() {}), Finding::Livelock);
    assert_eq!(livelock(|map| while map.get_mut(&2).is_none() {}), Finding::Livelock);
}

fn put_if_absent(insert: fn(&Map, i64) -> bool) -> Vec<bool> {
    let map = Arc::new(Map::new());
    let theirs = Arc::clone(&map);
    let task = spawn(move || atomic("put if absent", || insert(&theirs, 1)));
    let mine = atomic("put if absent", || insert(&map, 2));
    vec![mine, task.join()]
}

fn check_and_insert(map: &Map, value: i64) -> bool {
    let absent = !map.contains_key(&1);
    if absent {
        map.insert(1, value);
    }
    absent
}

fn insert_if_vacant(map: &Map, value: i64) -> bool {
    *map.entry(1).or_insert(value) == value
}

#[test]
fn a_check_and_an_insert_are_not_atomic() {
    let schedules = ["exhaustive", "atomfuzzer", "pct:3", "portfolio", "pos", "surw", "random", "preemptions:1"];
    for schedule in schedules {
        let checker = Checker::new("put if absent").schedule(schedule.parse().unwrap());
        let report = checker.check(|| put_if_absent(check_and_insert)).unwrap();
        assert_eq!(report.grade, Grade::Bug, "{schedule}: {report}");
        let bug = report.bug.unwrap();
        assert!(matches!(bug.finding, Finding::Unexplained { .. }), "{schedule}");
        let steps: Vec<_> = bug.trace.iter().map(|step| step.action.as_str()).collect();
        assert!(steps.contains(&"looks whether 1 is in map 1 → false"), "{schedule}: {steps:#?}");
        let orders = [
            ["inserts 1, 2 into map 1 → none", "inserts 1, 1 into map 1 → 2"],
            ["inserts 1, 1 into map 1 → none", "inserts 1, 2 into map 1 → 1"],
        ];
        assert!(orders.iter().any(|order| order.iter().all(|step| steps.contains(step))), "{schedule}: {steps:#?}");
        assert!(bug.trace.iter().any(|step| step.of_triple == Some(2)), "{schedule}");

        let good = checker.check(|| put_if_absent(insert_if_vacant)).unwrap();
        assert_eq!(good.grade, Grade::Clean, "{schedule}: {good}");
        assert_eq!(
            good.coverage.complete,
            schedule == "exhaustive" || schedule == "preemptions:1",
            "{schedule}: {good}"
        );
    }
}

/// Without a block the schedule in which both insert is made, too: the program says what is wrong with it.
#[test]
fn without_a_block_a_wrong_outcome_is_found() {
    let winners = |insert: fn(&Map, i64) -> bool| {
        let map = Arc::new(Map::new());
        let theirs = Arc::clone(&map);
        let task = spawn(move || insert(&theirs, 1));
        let winners = [insert(&map, 2), task.join()].into_iter().filter(|won| *won).count();
        assert_eq!(winners, 1, "winners");
    };
    for schedule in [Schedule::Exhaustive, Schedule::default()] {
        let checker = Checker::new("winners").schedule(schedule);
        let report = checker.check(|| winners(check_and_insert)).unwrap();
        assert!(matches!(report.bug.unwrap().finding, Finding::Panic { .. }));
        assert_eq!(checker.check(|| winners(insert_if_vacant)).unwrap().grade, Grade::Clean);
    }
}

/// A block that goes from key to key is violated by what another task does to the same key only.
#[test]
fn a_block_is_violated_key_by_key() {
    let grade = |block: fn(&SkipMap<i64, i64>), other: fn(&SkipMap<i64, i64>)| {
        let report = exhaustively(|| {
            let map = Arc::new(SkipMap::new());
            let theirs = Arc::clone(&map);
            let task = spawn(move || other(&theirs));
            atomic("block", || block(&map));
            task.join();
        });
        report.grade
    };
    let both = |map: &SkipMap<i64, i64>| {
        map.insert(1, 0);
        map.insert(2, 0);
    };
    assert_eq!(grade(both, |map| _ = map.insert(3, 0)), Grade::Clean);
    assert_eq!(grade(both, |map| _ = map.insert(2, 0)), Grade::Clean);
    // The count is of a moment at which one of the two is there.
    assert_eq!(grade(both, |map| _ = map.len()), Grade::Error);
    let twice = |map: &SkipMap<i64, i64>| {
        map.get(&1);
        map.get(&1);
    };
    assert_eq!(grade(twice, |map| _ = map.insert(2, 0)), Grade::Warning);
    assert_eq!(grade(twice, |map| _ = map.insert(1, 0)), Grade::Error);
    let count_and_insert = |map: &SkipMap<i64, i64>| {
        map.is_empty();
        map.insert(1, 0);
    };
    assert_eq!(grade(count_and_insert, |map| _ = map.insert(2, 0)), Grade::Warning);
    assert_eq!(grade(count_and_insert, |map| _ = map.insert(1, 0)), Grade::Error);
}

/// What one execution leaves in a collection must not be there in the next.
#[test]
fn a_collection_that_outlives_an_execution_is_found() {
    static QUEUE: SegQueue<i64> = SegQueue::new();
    let map = Map::new();
    let check =
        |program: &(dyn Fn() + Sync)| Checker::new("outlives").executions(20).allow_trivial().check(program).unwrap();
    let reason = |report: Report| match report.bug.expect("a finding").finding {
        Finding::Failed { reason } => reason,
        other => panic!("{other}"),
    };
    let writes = reason(check(&|| _ = map.insert(1, 1)));
    assert!(writes.starts_with("an earlier execution wrote to the map used at "), "{writes}");
    assert!(writes.ends_with("create it inside the checked closure, so that each execution starts with a fresh map"));
    assert!(reason(check(&|| QUEUE.push(1))).contains("wrote to the queue"));
    let cell = OnceLock::new();
    assert!(reason(check(&|| _ = cell.set(1))).contains("wrote to the once"));
    let lock = Mutex::new(0);
    assert!(reason(check(&|| *lock.lock().unwrap() += 1)).contains("wrote to the mutex"));
    // What is only read may be shared, and what is made inside is fresh.
    let known = full();
    let report = check(&|| {
        let map = Map::new();
        map.insert(1, *known.get(&1).unwrap());
        assert_eq!(map.len(), known.len());
    });
    assert_eq!(report.grade, Grade::Clean, "{report}");
}

/// The hash of a map does not depend on the process or the execution, and so does not what its guards lock.
#[test]
fn executions_are_made_twice_without_a_difference() {
    let report = Checker::new("twice")
        .check_determinism()
        .executions(200)
        .check(|| {
            let map = Arc::new(Map::new());
            let theirs = Arc::clone(&map);
            let task = spawn(move || (0..5).for_each(|key| *theirs.entry(key).or_insert(0) += 1));
            (0..5).for_each(|key| *map.entry(key).or_insert(0) += 1);
            task.join();
            map.iter().map(|entry| (*entry.key(), *entry.value())).collect::<Vec<_>>()
        })
        .unwrap();
    assert_eq!(report.grade, Grade::Clean, "{report}");
}
