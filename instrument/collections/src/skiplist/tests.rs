//! Tests of the instrumented skip lists.

use std::ops::Bound;
use std::rc::Rc;

use interloper_commutativity::models::{sorted_map, sorted_set};
use interloper_commutativity::{Invocation, ToValue, Value};
use proptest::prelude::*;

use super::*;
use crate::session::{Instrumented, Needs};
use crate::testing::{Recorder, check_environment, done};

type Map = SkipMap<i64, i64>;
type Set = SkipSet<i64>;

/// Which operation, a key, a value and whether bounds are excluded.
type Op = (u8, i64, i64, bool);

const MAP_OPS: u8 = 23;
const SET_OPS: u8 = 20;

fn bound(key: &i64, excluded: bool) -> Bound<&i64> {
    if excluded { Bound::Excluded(key) } else { Bound::Included(key) }
}

/// What the program sees of the operations that the map and the set have in common.
macro_rules! shared_operations {
    ($list:expr, $op:expr, $show:expr) => {{
        let (list, (which, k, v, excluded), show) = ($list, $op, $show);
        let (low, high) = (k.min(v), k.max(v));
        match which {
            0 => list.is_empty().to_value(),
            1 => list.len().to_value(),
            2 => list.front().map(show).to_value(),
            3 => list.back().map(show).to_value(),
            4 => list.get(&k).map(show).to_value(),
            5 => list.lower_bound(bound(&k, excluded)).map(show).to_value(),
            6 => list.upper_bound(bound(&k, excluded)).map(show).to_value(),
            7 => (
                list.lower_bound::<i64>(Bound::Unbounded).map(show),
                list.upper_bound::<i64>(Bound::Unbounded).map(show),
            )
                .to_value(),
            8 => list.iter().map(show).collect::<Vec<_>>().to_value(),
            9 => list.iter().rev().map(show).collect::<Vec<_>>().to_value(),
            10 => {
                let mut iter = list.iter();
                let ends = (
                    iter.next().map(show),
                    iter.next_back().map(show),
                    iter.next().map(show),
                    iter.next_back().map(show),
                );
                ends.to_value()
            }
            11 => list.range((bound(&low, excluded), bound(&high, false))).map(show).collect::<Vec<_>>().to_value(),
            12 => list.range(low..high).rev().map(show).collect::<Vec<_>>().to_value(),
            13 => list.pop_front().map(show).to_value(),
            14 => list.pop_back().map(show).to_value(),
            15 => list.remove(&k).map(show).to_value(),
            16 => list.clear().to_value(),
            17 => {
                // An entry, its neighbours, and what becomes of it.
                let Some(mut entry) = list.get(&k) else { return Value::None };
                let around = (entry.next().map(show), entry.prev().map(show), entry.is_removed());
                let removed = (entry.clone().remove(), entry.remove(), entry.is_removed());
                let moved = (entry.move_next(), entry.move_prev());
                Value::list([around.to_value(), removed.to_value(), moved.to_value(), Some(entry).map(show).to_value()])
            }
            other => unreachable!("{other}"),
        }
    }};
}

macro_rules! map_program {
    ($name:ident, $type:ty, $entry:ty) => {
        fn $name(map: &$type, op: Op) -> Value {
            let show = |entry: $entry| (*entry.key(), *entry.value());
            let (which, k, v, excluded) = op;
            match which {
                18 => show(map.insert(k, v)).to_value(),
                19 => show(map.get_or_insert(k, v)).to_value(),
                20 => show(map.get_or_insert_with(k, || v)).to_value(),
                21 => show(map.compare_insert(k, v, |old| *old < v)).to_value(),
                22 => map.contains_key(&k).to_value(),
                _ => shared_operations!(map, (which, k, v, excluded), show),
            }
        }
    };
}

macro_rules! set_program {
    ($name:ident, $type:ty, $entry:ty) => {
        fn $name(set: &$type, op: Op) -> Value {
            let show = |entry: $entry| *entry.value();
            let (which, k, v, excluded) = op;
            match which {
                18 => show(set.insert(k)).to_value(),
                19 => (show(set.get_or_insert(k)), set.contains(&v)).to_value(),
                _ => shared_operations!(set, (which, k, v, excluded), show),
            }
        }
    };
}

map_program!(original_map, crossbeam_skiplist::SkipMap<i64, i64>, crossbeam_skiplist::map::Entry<'_, i64, i64>);
map_program!(wrapped_map, Map, map::Entry<'_, i64, i64>);
set_program!(original_set, crossbeam_skiplist::SkipSet<i64>, crossbeam_skiplist::set::Entry<'_, i64>);
set_program!(wrapped_set, Set, set::Entry<'_, i64>);

fn ops(kinds: u8, insert: u8) -> impl Strategy<Value = Vec<Op>> {
    // Every second operation inserts, so that there is something to find.
    let op = (any::<bool>(), 0..kinds, 0i64..5, 0i64..5, any::<bool>())
        .prop_map(move |(more, which, k, v, excluded)| (if more { insert } else { which }, k, v, excluded));
    prop::collection::vec(op, 1..40)
}

proptest! {
    #[test]
    fn the_map_behaves_as_the_original(ops in ops(MAP_OPS, 18)) {
        let recorder = Recorder::new();
        let (original, free, bound) = (crossbeam_skiplist::SkipMap::new(), Map::new(), recorder.make(Map::new));
        for op in ops {
            let expected = original_map(&original, op);
            prop_assert_eq!(&wrapped_map(&free, op), &expected, "free: {:?}", op);
            let (seen, log) = recorder.run(|| wrapped_map(&bound, op));
            prop_assert_eq!(&seen, &expected, "bound: {:?}: {:?}", op, log);
        }
        let all: Vec<(i64, i64)> = original.into_iter().collect();
        prop_assert_eq!(&free.into_iter().collect::<Vec<_>>(), &all);
        prop_assert_eq!(bound.snapshot(), Value::map(all.iter().map(|(k, v)| (k.to_value(), v.to_value()))));
    }

    #[test]
    fn the_set_behaves_as_the_original(ops in ops(SET_OPS, 18)) {
        let recorder = Recorder::new();
        let (original, free, bound) = (crossbeam_skiplist::SkipSet::new(), Set::new(), recorder.make(Set::new));
        for op in ops {
            let expected = original_set(&original, op);
            prop_assert_eq!(&wrapped_set(&free, op), &expected, "free: {:?}", op);
            let (seen, log) = recorder.run(|| wrapped_set(&bound, op));
            prop_assert_eq!(&seen, &expected, "bound: {:?}: {:?}", op, log);
        }
        let all: Vec<i64> = original.into_iter().collect();
        prop_assert_eq!(&free.into_iter().collect::<Vec<_>>(), &all);
        prop_assert_eq!(bound.snapshot(), Value::set(all.iter().map(ToValue::to_value)));
    }
}

/// Runs `program` on the map {1: 5, 3: 6} and compares what the session hears.
#[track_caller]
fn check(program: impl FnOnce(&Map), expected: &[&str]) {
    let recorder = Recorder::new();
    let map = recorder.make(|| Map::from_iter([(1, 5), (3, 6)]));
    let ((), log) = recorder.run(|| program(&map));
    assert_eq!(log, expected);
}

#[test]
fn single_operations_are_one_step() {
    check(|map| done(map.get(&1)), &["? get(1) -", "get(1) -> 5"]);
    check(|map| done(map.insert(1, 2)), &["? insert(1, 2) -", "insert(1, 2) -> 5"]);
    check(|map| done(map.get_or_insert(2, 2)), &["? insert_if_absent(2, 2) -", "insert_if_absent(2, 2) -> none"]);
    check(|map| done(map.compare_insert(1, 2, |_| false)), &["? insert(1, 2) -", "get(1) -> 5"]);
    check(|map| done(map.compare_insert(1, 2, |_| true)), &["? insert(1, 2) -", "insert(1, 2) -> 5"]);
    check(|map| done(map.remove(&2)), &["? remove(2) -", "remove(2) -> none"]);
    check(|map| done(map.pop_front()), &["? pop_first() -", "pop_first() -> (1, 5)"]);
    check(|map| done(map.lower_bound(Bound::Excluded(&1))), &["? next_after(1) -", "next_after(1) -> (3, 6)"]);
    check(
        |map| done(map.get_or_insert_with(2, || 9)),
        &["? get(2) -", "get(2) -> none", "? insert_if_absent(2, 9) -", "insert_if_absent(2, 9) -> none"],
    );
}

#[test]
fn the_entry_before_a_key_is_seen_with_the_one_after_it() {
    check(
        |map| done(map.upper_bound(Bound::Excluded(&3))),
        &["? upper_bound(3) -", "get(1) -> 5", "next_after(1) -> (3, 6)"],
    );
    check(|map| done(map.upper_bound(Bound::Excluded(&1))), &["? upper_bound(1) -", "first() -> (1, 5)"]);
}

#[test]
fn iteration_and_clear_are_sequences_of_steps() {
    let walk = [
        "? first() -",
        "first() -> (1, 5)",
        "? next_after(1) -",
        "next_after(1) -> (3, 6)",
        "? next_after(3) -",
        "next_after(3) -> none",
    ];
    check(|map| assert_eq!(map.iter().count(), 2), &walk);
    let clear = [&walk[..4], &["? remove(1) -", "remove(1) -> 5"], &walk[4..], &["? remove(3) -", "remove(3) -> 6"]];
    check(|map| map.clear(), &clear.concat());
    check(
        |map| assert_eq!(map.range(2..).count(), 1),
        &["? lower_bound(2) -", "lower_bound(2) -> (3, 6)", "? next_after(3) -", "next_after(3) -> none"],
    );
    check(|map| assert_eq!(map.range(..=2).count(), 1), &walk[..4]);
}

#[test]
fn a_set_speaks_of_elements() {
    let recorder = Recorder::new();
    let set = recorder.make(|| Set::from_iter([1, 3]));
    let ((), log) = recorder.run(|| {
        assert!(set.get(&1).is_some());
        set.insert(2);
        set.get_or_insert(2);
        assert_eq!(set.iter().next_back().map(|entry| *entry), Some(3));
        assert!(set.front().expect("an element").remove());
    });
    assert_eq!(
        log,
        [
            "? contains(1) -",
            "contains(1) -> true",
            "? insert(2) -",
            "insert(2) -> true",
            "? insert(2) -",
            "insert(2) -> false",
            "? last() -",
            "last() -> 3",
            "? first() -",
            "first() -> 1",
            "? remove(1) -",
            "remove(1) -> true",
        ]
    );
}

#[test]
fn an_iteration_goes_on_from_an_entry_that_is_gone() {
    let recorder = Recorder::new();
    let map = recorder.make(|| Map::from_iter([(1, 5), (3, 6)]));
    let other = Rc::clone(&map);
    recorder.on_step(move |number, _| {
        if number == 2 {
            other.remove(&1);
            other.insert(2, 7);
        }
        true
    });
    let (keys, _) = recorder.run(|| map.iter().map(|entry| *entry.key()).collect::<Vec<_>>());
    assert_eq!(keys, [1, 2, 3]);
}

#[test]
fn an_entry_that_was_replaced_is_not_removed_again() {
    let recorder = Recorder::new();
    let map = recorder.make(|| Map::from_iter([(1, 5)]));
    let (removed, log) = recorder.run(|| {
        let entry = map.get(&1).expect("there");
        map.insert(1, 6);
        (entry.is_removed(), entry.remove(), *entry.value())
    });
    assert_eq!(removed, (true, false, 5));
    assert_eq!(log[4..], ["? get(1) -", "get(1) -> 6", "? remove(1) -", "get(1) -> 6"]);
}

#[test]
fn environment_operations_do_what_the_model_does() {
    // As for a map in a lock, of which a sorted one has two ends, two pops and two bounds more.
    let ends = 4 + 2 * 2;
    assert_eq!(check_environment(&Map::new(), &[sorted_map::MODIFY]), 9 * (3 * 2 + 4 * 4 + 8 + 3 + 3 + ends));
    assert_eq!(check_environment(&Set::new(), &[]), 4 * (3 * 2 + 3 + 3 + ends));
}

#[test]
fn what_is_of_another_type_is_refused() {
    let text = Value::text("a");
    assert_eq!(Map::new().restore(&Value::map([(text.clone(), Value::Int(1))])), Err(text.clone()));
    assert_eq!(Set::new().restore(&Value::set([text.clone()])), Err(text.clone()));
    let call = Invocation::new(sorted_set::INSERT, [text.clone()]);
    assert_eq!(Set::new().apply(&call).err(), Some(text));
    assert_eq!(Set::new().needs(&call), Needs::Nothing);
}
