//! Counters, maxima, identifiers and flags.

use interloper::MethodUnderTest;
use interloper::collections::{AtomicBool, AtomicI64, AtomicU64, DashMap, Mutex};
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use super::{EVERYDAY, boxed};
use crate::Case;
use crate::source::Family;

const FILE: Family = Family::new(EVERYDAY, include_str!("counters.rs"));

pub(super) fn cases() -> Vec<Case> {
    vec![
        FILE.bad(
            "count-get-then-insert",
            "count-entry",
            "Counts in a map by get and insert: a count between the two is lost.",
            || boxed(MethodUnderTest::new("count", DashMap::new, count_get_then_insert).arguments([7])),
        ),
        FILE.good("count-entry", "Counts in a map inside the entry.", || {
            boxed(MethodUnderTest::new("count", DashMap::new, count_entry).arguments([7]).values([1, 2]))
        }),
        FILE.bad("counter-load-then-store", "counter-compare-exchange-loop", "Counts by a load and a store.", || {
            boxed(MethodUnderTest::new("hit", AtomicU64::default, hit_load_then_store))
        }),
        FILE.bad(
            "counter-compare-exchange-once",
            "counter-compare-exchange-loop",
            "Counts by one compare-and-exchange and does not look whether it worked.",
            || boxed(MethodUnderTest::new("hit", AtomicU64::default, hit_once)),
        ),
        FILE.good("counter-compare-exchange-loop", "Counts by a compare-and-exchange loop.", || {
            boxed(MethodUnderTest::new("hit", AtomicU64::default, hit_loop).values([1, 5]))
        }),
        FILE.bad(
            "permit-load-then-subtract",
            "permit-compare-exchange-loop",
            "Takes a permit when one was left a moment ago: more can be taken than there are.",
            || boxed(MethodUnderTest::new("try_acquire", || AtomicI64::counter(1), acquire_unchecked)),
        ),
        FILE.good("permit-compare-exchange-loop", "Takes a permit out of exactly the number that it saw.", || {
            boxed(MethodUnderTest::new("try_acquire", || AtomicI64::counter(1), acquire_loop))
        }),
        FILE.bad(
            "max-load-then-store",
            "max-fetch-max",
            "Raises a maximum by a load and a store: a larger value that was stored between the two is overwritten.",
            || {
                let method = MethodUnderTest::new("observe", AtomicU64::default, observe_load_then_store);
                boxed(method.arguments([5]).values([3, 9]))
            },
        ),
        FILE.good("max-fetch-max", "Raises a maximum in one operation.", || {
            let method = MethodUnderTest::new("observe", AtomicU64::default, observe_fetch_max);
            boxed(method.arguments([5]).values([3, 9]))
        }),
        FILE.bad(
            "high-water-get-then-insert",
            "high-water-entry",
            "Keeps the largest value of each key by get and insert.",
            || {
                let method = MethodUnderTest::new("record", DashMap::new, record_get_then_insert);
                boxed(method.arguments([(7, 5)]).values([3, 5, 9]))
            },
        ),
        FILE.good("high-water-entry", "Keeps the largest value of each key inside the entry.", || {
            let method = MethodUnderTest::new("record", DashMap::new, record_entry);
            boxed(method.arguments([(7, 5)]).values([3, 5, 9]))
        }),
        FILE.bad(
            "id-load-then-store",
            "id-fetch-add",
            "Gives out identifiers by a load and a store: two callers can get the same.",
            || boxed(MethodUnderTest::new("next_id", AtomicU64::default, id_load_then_store)),
        ),
        FILE.good("id-fetch-add", "Gives out identifiers in one operation.", || {
            boxed(MethodUnderTest::new("next_id", AtomicU64::default, id_fetch_add))
        }),
        FILE.bad(
            "id-by-length",
            "id-by-length-locked",
            "Numbers the users of a map by how many there are: two can get the same number, and one is lost.",
            || boxed(MethodUnderTest::new("add_user", DashMap::new, add_user).arguments([70])),
        ),
        FILE.good("id-by-length-locked", "Numbers users by how many there are, and adds them, under one lock.", || {
            boxed(MethodUnderTest::new("add_user", Mutex::default, add_user_locked).arguments([70]).values([70, 71]))
        }),
        FILE.bad(
            "run-once-load-then-store",
            "run-once-swap",
            "Decides by a load and a store who runs something once: two can.",
            || boxed(MethodUnderTest::new("start", AtomicBool::default, start_load_then_store)),
        ),
        FILE.good("run-once-swap", "Decides by one swap who runs something once.", || {
            boxed(MethodUnderTest::new("start", AtomicBool::default, start_swap))
        }),
    ]
}

// case: count-get-then-insert
/// Counts one more word.
fn count_get_then_insert(words: &DashMap<u64, u64>, word: u64) {
    let count = words.get(&word).map_or(0, |count| *count);
    words.insert(word, count + 1);
}
// end

// case: count-entry
/// Counts one more word.
fn count_entry(words: &DashMap<u64, u64>, word: u64) {
    *words.entry(word).or_insert(0) += 1;
}
// end

// case: counter-load-then-store
/// Counts a hit.
fn hit_load_then_store(hits: &AtomicU64, (): ()) {
    let seen = hits.load(Relaxed);
    hits.store(seen + 1, Relaxed);
}
// end

// case: counter-compare-exchange-once
/// Counts a hit.
fn hit_once(hits: &AtomicU64, (): ()) {
    let seen = hits.load(Relaxed);
    let _ = hits.compare_exchange(seen, seen + 1, Relaxed, Relaxed);
}
// end

// case: counter-compare-exchange-loop
/// Counts a hit.
fn hit_loop(hits: &AtomicU64, (): ()) {
    let mut seen = hits.load(Relaxed);
    while let Err(current) = hits.compare_exchange(seen, seen + 1, Relaxed, Relaxed) {
        seen = current;
    }
}
// end

// case: permit-load-then-subtract
/// Takes a permit if there is one.
fn acquire_unchecked(permits: &AtomicI64, (): ()) -> bool {
    if permits.load(Acquire) > 0 {
        permits.fetch_sub(1, AcqRel);
        return true;
    }
    false
}
// end

// case: permit-compare-exchange-loop
/// Takes a permit if there is one.
fn acquire_loop(permits: &AtomicI64, (): ()) -> bool {
    let mut left = permits.load(Acquire);
    while left > 0 {
        match permits.compare_exchange(left, left - 1, AcqRel, Acquire) {
            Ok(_) => return true,
            Err(current) => left = current,
        }
    }
    false
}
// end

// case: max-load-then-store
/// Notes a latency; keeps the largest.
fn observe_load_then_store(largest: &AtomicU64, latency: u64) {
    if latency > largest.load(Relaxed) {
        largest.store(latency, Relaxed);
    }
}
// end

// case: max-fetch-max
/// Notes a latency; keeps the largest.
fn observe_fetch_max(largest: &AtomicU64, latency: u64) {
    largest.fetch_max(latency, Relaxed);
}
// end

// case: high-water-get-then-insert
/// Notes the level of a tank; keeps the largest.
fn record_get_then_insert(marks: &DashMap<u64, u64>, (tank, level): (u64, u64)) {
    let mark = marks.get(&tank).map(|mark| *mark);
    if mark.is_none_or(|mark| mark < level) {
        marks.insert(tank, level);
    }
}
// end

// case: high-water-entry
/// Notes the level of a tank; keeps the largest.
fn record_entry(marks: &DashMap<u64, u64>, (tank, level): (u64, u64)) {
    marks.entry(tank).and_modify(|mark| *mark = level.max(*mark)).or_insert(level);
}
// end

// case: id-load-then-store
/// An identifier that nobody else has.
fn id_load_then_store(next: &AtomicU64, (): ()) -> u64 {
    let id = next.load(Acquire);
    next.store(id + 1, Release);
    id
}
// end

// case: id-fetch-add
/// An identifier that nobody else has.
fn id_fetch_add(next: &AtomicU64, (): ()) -> u64 {
    next.fetch_add(1, Relaxed)
}
// end

// case: id-by-length
/// Adds a user under the next number, and gives it.
fn add_user(users: &DashMap<usize, u64>, name: u64) -> usize {
    let id = users.len();
    users.insert(id, name);
    id
}
// end

// case: id-by-length-locked
/// Adds a user under the next number, and gives it.
fn add_user_locked(users: &Mutex<Vec<u64>>, name: u64) -> usize {
    let mut users = users.lock().unwrap();
    users.push(name);
    users.len() - 1
}
// end

// case: run-once-load-then-store
/// Whether the caller is the one to start the service.
fn start_load_then_store(started: &AtomicBool, (): ()) -> bool {
    if started.load(Acquire) {
        return false;
    }
    started.store(true, Release);
    true
}
// end

// case: run-once-swap
/// Whether the caller is the one to start the service.
fn start_swap(started: &AtomicBool, (): ()) -> bool {
    !started.swap(true, AcqRel)
}
// end
