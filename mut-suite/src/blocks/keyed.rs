//! Programs over concurrent maps: each call is a step, calls about different keys commute, and a guard keeps a lock.

use interloper::ToValue;
use interloper::collections::DashMap;

use super::platform::sync::Arc;
use super::platform::{atomic, beside};
use super::{Bug, CLASSIC, Expected, Family, Program};

const FILE: Family = Family::new(CLASSIC, include_str!("keyed.rs"));

pub(super) fn programs() -> Vec<Program> {
    vec![
        FILE.bad(
            "map-check-then-insert",
            "map-entry-or-insert",
            Bug::NotSerialisable,
            "Looks whether the key is there, and inserts it if not: both threads do, and the value of one is lost.",
            || register_twice(check_then_insert).to_value(),
        ),
        FILE.good(
            "map-entry-or-insert",
            Expected::Clean,
            "Takes the entry of the key: what is done with it is one step.",
            || register_twice(entry_or_insert).to_value(),
        ),
        FILE.bad(
            "map-two-guards",
            "map-two-guards-in-order",
            Bug::Deadlock,
            "Keeps the entry of one key while it asks for that of the other: each thread waits for the guard of the other.",
            || transfer_both_ways(transfer).to_value(),
        ),
        FILE.good(
            "map-two-guards-in-order",
            Expected::Clean,
            "Takes the entries in the order of their keys, whichever it takes from.",
            || transfer_both_ways(transfer_in_order).to_value(),
        ),
    ]
}

type Map = DashMap<i64, i64>;

/// Each thread says whether it was the one that registered the name; then whose value is there.
fn register_twice(register: fn(&Map, i64) -> bool) -> (bool, bool, i64) {
    let map = Arc::new(Map::new());
    let (own, other) =
        beside(&map, |map| atomic("register", || register(map, 1)), move |map| atomic("register", || register(map, 2)));
    let registered = map.get(&7).map_or(0, |value| *value);
    (own, other, registered)
}

// case: map-check-then-insert
/// Whether the value was registered, as it is to be when there was none.
fn check_then_insert(map: &Map, value: i64) -> bool {
    let absent = !map.contains_key(&7);
    if absent {
        map.insert(7, value);
    }
    absent
}
// end

// case: map-entry-or-insert
/// Whether the value was registered: the entry is locked from the look to the insertion.
fn entry_or_insert(map: &Map, value: i64) -> bool {
    *map.entry(7).or_insert(value) == value
}
// end

/// What is in both accounts at the end.
fn transfer_both_ways(transfer: fn(&Map, i64, i64)) -> (i64, i64) {
    let map = Arc::new(Map::from_iter([(1, 10), (2, 10)]));
    beside(&map, |map| transfer(map, 1, 2), move |map| transfer(map, 2, 1));
    let balance = |account| map.get(&account).map_or(0, |balance| *balance);
    (balance(1), balance(2))
}

// case: map-two-guards
/// Moves 1 from one account to the other, with both entries locked.
fn transfer(map: &Map, from: i64, to: i64) {
    let mut source = map.get_mut(&from).unwrap();
    let mut target = map.get_mut(&to).unwrap();
    *source -= 1;
    *target += 1;
}
// end

// case: map-two-guards-in-order
/// Moves 1 from one account to the other, with both entries locked in the order of their keys.
fn transfer_in_order(map: &Map, from: i64, to: i64) {
    let mut first = map.get_mut(&from.min(to)).unwrap();
    let mut second = map.get_mut(&from.max(to)).unwrap();
    let change = if from < to { -1 } else { 1 };
    *first += change;
    *second -= change;
}
// end
