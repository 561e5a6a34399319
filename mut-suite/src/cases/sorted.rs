//! Sorted maps and sets: the first, the last, and all of them.

use std::collections::BTreeMap;

use interloper::MethodUnderTest;
use interloper::collections::{RwLock, SkipMap, SkipSet};

use super::{EVERYDAY, boxed, briefly};
use crate::Case;
use crate::source::Family;

const FILE: Family = Family::new(EVERYDAY, include_str!("sorted.rs"));

pub(super) fn cases() -> Vec<Case> {
    vec![
        FILE.bad(
            "sorted-memoize-get-then-insert",
            "sorted-memoize-get-or-insert",
            "Memoization by get and insert over a skip list.",
            || boxed(MethodUnderTest::new("memoize", SkipMap::new, sorted_get_then_insert).arguments([7])),
        ),
        FILE.good("sorted-memoize-get-or-insert", "Memoization by one operation of a skip list.", || {
            boxed(MethodUnderTest::new("memoize", SkipMap::new, sorted_get_or_insert).arguments([7]))
        }),
        FILE.bad(
            "timer-front-then-remove",
            "timer-pop-front",
            "Looks for the earliest timer and removes it: when another thread was quicker, it reports that there is \
             no timer.",
            || boxed(MethodUnderTest::new("fire", SkipMap::<u64, u64>::new, fire_front_then_remove)),
        ),
        FILE.good(
            "timer-pop-front",
            "Removes the earliest timer in one operation.",
            || boxed(MethodUnderTest::new("fire", SkipMap::new, fire).keys([1, 2]).values([70])),
        ),
        FILE.bad(
            "port-front-then-remove",
            "port-pop-front",
            "Looks for the smallest free port and removes it without asking whether it was still there: two can get the \
             same.",
            || boxed(MethodUnderTest::new("allocate", SkipSet::<u64>::new, allocate_front_then_remove)),
        ),
        FILE.good(
            "port-pop-front",
            "Takes the smallest free port in one operation.",
            || boxed(MethodUnderTest::new("allocate", SkipSet::<u64>::new, allocate)),
        ),
        FILE.bad(
            "sum-while-iterating",
            "sum-locked",
            "Adds up balances one after the other: money that is moved meanwhile is counted twice, or not at all.",
            || boxed(MethodUnderTest::new("total", SkipMap::new, total).keys([1, 2]).values([5, 6])),
        ),
        FILE.good(
            "sum-locked",
            "Adds up balances under the read lock.",
            || boxed(briefly(MethodUnderTest::new("total", RwLock::default, total_locked).keys([1, 2]).values([5, 6]))),
        ),
    ]
}

fn expensive(key: u64) -> u64 {
    key * 2
}

// case: sorted-memoize-get-then-insert
/// The expensive value at `key`, out of the cache if it is there.
fn sorted_get_then_insert(cache: &SkipMap<u64, u64>, key: u64) -> u64 {
    if let Some(known) = cache.get(&key) {
        return *known.value();
    }
    *cache.insert(key, expensive(key)).value()
}
// end

// case: sorted-memoize-get-or-insert
/// The expensive value at `key`, out of the cache if it is there.
fn sorted_get_or_insert(cache: &SkipMap<u64, u64>, key: u64) -> u64 {
    *cache.get_or_insert_with(key, || expensive(key)).value()
}
// end

// case: timer-front-then-remove
/// Takes the earliest timer: when it is due, and what it does.
fn fire_front_then_remove(timers: &SkipMap<u64, u64>, (): ()) -> Option<(u64, u64)> {
    let due = *timers.front()?.key();
    timers.remove(&due).map(|timer| (*timer.key(), *timer.value()))
}
// end

// case: timer-pop-front
/// Takes the earliest timer: when it is due, and what it does.
fn fire(timers: &SkipMap<u64, u64>, (): ()) -> Option<(u64, u64)> {
    timers.pop_front().map(|timer| (*timer.key(), *timer.value()))
}
// end

// case: port-front-then-remove
/// Takes the smallest free port.
fn allocate_front_then_remove(free: &SkipSet<u64>, (): ()) -> Option<u64> {
    let port = *free.front()?.value();
    free.remove(&port);
    Some(port)
}
// end

// case: port-pop-front
/// Takes the smallest free port.
fn allocate(free: &SkipSet<u64>, (): ()) -> Option<u64> {
    free.pop_front().map(|port| *port.value())
}
// end

// case: sum-while-iterating
/// What all accounts hold together.
fn total(accounts: &SkipMap<u64, u64>, (): ()) -> u64 {
    accounts.iter().map(|account| *account.value()).sum()
}
// end

// case: sum-locked
/// What all accounts hold together.
fn total_locked(accounts: &RwLock<BTreeMap<u64, u64>>, (): ()) -> u64 {
    accounts.read().unwrap().values().sum()
}
// end
