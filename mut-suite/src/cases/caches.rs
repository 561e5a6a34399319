//! Caches: capacity, age and order of use.

use std::collections::{HashMap, VecDeque};

use interloper::MethodUnderTest;
use interloper::collections::{DashMap, Mutex};

use super::{EVERYDAY, boxed, briefly, from_few_states};
use crate::Case;
use crate::source::Family;

const FILE: Family = Family::new(EVERYDAY, include_str!("caches.rs"));

pub(super) fn cases() -> Vec<Case> {
    vec![
        FILE.bad(
            "bounded-insert-by-length",
            "bounded-insert-locked",
            "Inserts when there was room a moment ago.",
            || boxed(MethodUnderTest::new("store", DashMap::new, store_by_length).arguments([(7, 70)])),
        ),
        FILE.good("bounded-insert-locked", "Looks for room and inserts under one lock.", || {
            boxed(briefly(MethodUnderTest::new("store", Mutex::default, store_locked).arguments([(7, 70)])))
        }),
        FILE.bad(
            "lru-touch-two-sections",
            "lru-touch-one-section",
            "Takes a key out of the order of use under the lock, and puts it at the end under the lock.",
            || boxed(MethodUnderTest::new("touch", Mutex::default, touch_two_sections).arguments([7])),
        ),
        FILE.good("lru-touch-one-section", "Moves a key to the end of the order of use under one lock.", || {
            boxed(briefly(MethodUnderTest::new("touch", Mutex::default, touch_one_section).arguments([7])))
        }),
        FILE.bad(
            "lru-get-then-touch",
            "lru-touch-under-guard",
            "Gets a value and then notes the use, when the entry may be gone and the order another.",
            || {
                let make = || (DashMap::new(), Mutex::default());
                let method = MethodUnderTest::new("get", make, |(cache, order), key| get_then_touch(cache, order, key));
                boxed(from_few_states(method.arguments([7]).names(["cache", "order"])))
            },
        ),
        FILE.good("lru-touch-under-guard", "Notes the use while the entry is locked.", || {
            let make = || (DashMap::new(), Mutex::default());
            let method = MethodUnderTest::new("get", make, |(cache, order), key| touch_under_guard(cache, order, key));
            boxed(briefly(from_few_states(method.arguments([7]).names(["cache", "order"]))))
        }),
        FILE.bad(
            "refresh-remove-then-insert",
            "refresh-insert",
            "Removes a stale value before it stores the new one: for a while the cache has no value.",
            || boxed(MethodUnderTest::new("refresh", DashMap::new, refresh_remove_first).arguments([7])),
        ),
        FILE.good("refresh-insert", "Stores the new value over the stale one.", || {
            boxed(MethodUnderTest::new("refresh", DashMap::new, refresh).arguments([7]))
        }),
        FILE.bad(
            "expire-get-then-remove",
            "expire-remove-if",
            "Removes an entry that had expired a moment ago, and may have been renewed.",
            || {
                let method = MethodUnderTest::new("expire", DashMap::new, expire_get_then_remove);
                boxed(method.arguments([(7, 5)]).values([3, 9]))
            },
        ),
        FILE.good("expire-remove-if", "Removes an entry if it has expired, in one operation.", || {
            let method = MethodUnderTest::new("expire", DashMap::new, expire);
            boxed(method.arguments([(7, 5)]).values([3, 9]))
        }),
    ]
}

/// How many entries a cache may have.
const CAPACITY: usize = 1;

// case: bounded-insert-by-length
/// Stores a value unless the cache is full; says whether it was stored.
fn store_by_length(cache: &DashMap<u64, u64>, (key, value): (u64, u64)) -> bool {
    if cache.len() >= CAPACITY {
        return false;
    }
    cache.insert(key, value);
    true
}
// end

// case: bounded-insert-locked
/// Stores a value unless the cache is full; says whether it was stored.
fn store_locked(cache: &Mutex<HashMap<u64, u64>>, (key, value): (u64, u64)) -> bool {
    let mut cache = cache.lock().unwrap();
    if cache.len() >= CAPACITY {
        return false;
    }
    cache.insert(key, value);
    true
}
// end

// case: lru-touch-two-sections
/// Makes a page the one used last.
fn touch_two_sections(order: &Mutex<VecDeque<u64>>, page: u64) {
    order.lock().unwrap().retain(|other| *other != page);
    order.lock().unwrap().push_back(page);
}
// end

// case: lru-touch-one-section
/// Makes a page the one used last.
fn touch_one_section(order: &Mutex<VecDeque<u64>>, page: u64) {
    let mut order = order.lock().unwrap();
    order.retain(|other| *other != page);
    order.push_back(page);
}
// end

// case: lru-get-then-touch
/// The cached value, whose key becomes the one used last.
fn get_then_touch(cache: &DashMap<u64, u64>, order: &Mutex<VecDeque<u64>>, key: u64) -> Option<u64> {
    let value = cache.get(&key).map(|value| *value)?;
    let mut order = order.lock().unwrap();
    order.retain(|other| *other != key);
    order.push_back(key);
    Some(value)
}
// end

// case: lru-touch-under-guard
/// The cached value, whose key becomes the one used last.
fn touch_under_guard(cache: &DashMap<u64, u64>, order: &Mutex<VecDeque<u64>>, key: u64) -> Option<u64> {
    let value = cache.get(&key)?;
    let mut order = order.lock().unwrap();
    order.retain(|other| *other != key);
    order.push_back(key);
    Some(*value)
}
// end

fn load(key: u64) -> u64 {
    key * 2
}

// case: refresh-remove-then-insert
/// Loads a value anew, and gives it.
fn refresh_remove_first(cache: &DashMap<u64, u64>, key: u64) -> u64 {
    cache.remove(&key);
    let value = load(key);
    cache.insert(key, value);
    value
}
// end

// case: refresh-insert
/// Loads a value anew, and gives it.
fn refresh(cache: &DashMap<u64, u64>, key: u64) -> u64 {
    let value = load(key);
    cache.insert(key, value);
    value
}
// end

// case: expire-get-then-remove
/// Ends a session that was valid until before `now`; says whether it was.
fn expire_get_then_remove(sessions: &DashMap<u64, u64>, (session, now): (u64, u64)) -> bool {
    let expired = sessions.get(&session).is_some_and(|until| *until < now);
    if expired {
        sessions.remove(&session);
    }
    expired
}
// end

// case: expire-remove-if
/// Ends a session that was valid until before `now`; says whether it was.
fn expire(sessions: &DashMap<u64, u64>, (session, now): (u64, u64)) -> bool {
    sessions.remove_if(&session, |_, until| *until < now).is_some()
}
// end
