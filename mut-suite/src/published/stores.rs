//! Maps of sessions, letters, versions and cached values.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::Ordering::Relaxed;

use interloper::ToValue;
use interloper::collections::dashmap::Entry;
use interloper::collections::{AtomicU64, DashMap, Mutex};

use super::method;
use crate::Case;
use crate::cases::{boxed, briefly, from_few_states};
use crate::source::Family;

const SHARED_STATE: Family = Family::new("shared-state 0.1.3", include_str!("stores.rs"));
const DASHCACHE: Family = SHARED_STATE.from("dashcache 0.2.2");
const PUNCH_KERNEL: Family = SHARED_STATE.from("punch-kernel 1.2.0");
const MOCRA: Family = SHARED_STATE.from("mocra 0.6.0");
const POET: Family = SHARED_STATE.from("poet 0.8.0");
const MOCKFORGE_COLLAB: Family = SHARED_STATE.from("mockforge-collab 0.3.238");
const EXPIRE_MAP: Family = SHARED_STATE.from("expire_map 0.0.34");
const MULTI_TIER_CACHE: Family = SHARED_STATE.from("multi-tier-cache 0.6.9");

pub(super) fn cases() -> Vec<Case> {
    vec![
        SHARED_STATE.bad(
            "ttl-get-then-remove",
            "ttl-entry",
            "Gets an entry and removes it when it had expired: by then it may have been renewed.",
            || boxed(method("get", DashMap::new, ttl_get_then_remove).arguments([(7, 5)]).values([3, 9])),
        ),
        SHARED_STATE.good("ttl-entry", "Gets an entry, or removes it when it has expired, inside the entry.", || {
            boxed(method("get", DashMap::new, ttl_entry).arguments([(7, 5)]).values([3, 9]))
        }),
        DASHCACHE.good(
            "hash-consing-get-then-entry",
            "Gets what is shared for a value, or enters a new one unless another was quicker.",
            || boxed(method("cache", DashMap::new, cache_get_then_entry).arguments([7]).values([SHARED, 3])),
        ),
        DASHCACHE.bad(
            "hash-consing-contains-then-get",
            "hash-consing-get-then-entry",
            "Asks whether a value is shared and then gets it, which panics when it was collected meanwhile.",
            || boxed(method("cache", DashMap::new, cache_contains_then_get).arguments([7]).values([SHARED, 3])),
        ),
        PUNCH_KERNEL.bad(
            "letters-list-then-remove",
            "letters-take",
            "Lists the keys of all letters and removes one after the other: meanwhile some go and some come.",
            || boxed(briefly(method("drain", DashMap::new, drain_letters).keys([1, 2]).values([5]))),
        ),
        PUNCH_KERNEL.good("letters-take", "Takes all letters under one lock.", || {
            boxed(briefly(method("drain", Mutex::default, take_letters).keys([1, 2]).values([5])))
        }),
        PUNCH_KERNEL.bad(
            "letter-insert-then-prune",
            "letter-insert-and-prune",
            "Numbers a letter, adds it, and then removes the oldest ones while there are too many.",
            || {
                let make = || (AtomicU64::new(0), DashMap::new());
                let method = method("add", make, add_letter).arguments([5]).names(["next", "letters"]);
                let full = vec![1.to_value(), BTreeMap::from([(0, 4)]).to_value()];
                boxed(briefly(method.initial_states([full]).keys([0, 1]).values([4, 5])))
            },
        ),
        PUNCH_KERNEL.good(
            "letter-insert-and-prune",
            "Numbers a letter, adds it and removes the oldest ones while the letters are locked.",
            || {
                let make = || (AtomicU64::new(0), Mutex::default());
                let method = method("add", make, add_letter_locked).arguments([5]).names(["next", "letters"]);
                boxed(briefly(from_few_states(method.keys([0, 1]).values([5]))))
            },
        ),
        PUNCH_KERNEL.bad(
            "unregister-two-maps",
            "unregister-locked",
            "Removes a fighter from two maps, one after the other.",
            || {
                let method = method("unregister", two_maps, unregister).arguments([7]);
                boxed(from_few_states(method.names(["mailboxes", "receivers"])))
            },
        ),
        PUNCH_KERNEL.good("unregister-locked", "Removes a fighter from two maps with both locked.", || {
            let method = method("unregister", two_locked_maps, unregister_locked).arguments([7]).keys([7]);
            boxed(briefly(from_few_states(method.names(["mailboxes", "receivers"]))))
        }),
        MOCRA.bad(
            "dispatch-two-keys",
            "dispatch-locked",
            "Delivers an event to its subscribers, and then to those of all events.",
            || boxed(briefly(method("dispatch", DashMap::new, dispatch).arguments([7]).keys([ALL, 7]).values([1, 2]))),
        ),
        MOCRA.good("dispatch-locked", "Delivers an event to both lists of subscribers under one lock.", || {
            let method = method("dispatch", Mutex::default, dispatch_locked).arguments([7]);
            boxed(briefly(method.keys([ALL, 7]).values([1, 2])))
        }),
        POET.bad(
            "subscribe-contains-then-insert",
            "subscribe-vacant-entry",
            "Refuses a second subscription unless the first one was made just now.",
            || boxed(method("subscribe", DashMap::new, subscribe).arguments([(7, 1)])),
        ),
        POET.good("subscribe-vacant-entry", "Subscribes if the entry is vacant.", || {
            boxed(method("subscribe", DashMap::new, subscribe_entry).arguments([(7, 1)]))
        }),
        MOCKFORGE_COLLAB.bad(
            "version-get-then-update",
            "version-entry",
            "Gets a version, and then raises it or inserts the one that it has computed.",
            || boxed(method("update", DashMap::new, update).arguments([7]).values([1, 4])),
        ),
        MOCKFORGE_COLLAB.good("version-entry", "Raises a version, or inserts the first one, inside the entry.", || {
            boxed(method("update", DashMap::new, update_entry).arguments([7]).values([1, 4]))
        }),
        EXPIRE_MAP.bad(
            "renew-or-insert-loop",
            "renew-entry",
            "Renews a task, or inserts one and tries again: another's task is replaced.",
            || boxed(method("renew_or_create", DashMap::new, renew_or_create).arguments([(7, 5)])),
        ),
        EXPIRE_MAP.good("renew-entry", "Renews a task, or inserts one, inside the entry.", || {
            boxed(method("renew_or_create", DashMap::new, renew_entry).arguments([(7, 5)]))
        }),
        MULTI_TIER_CACHE.bad(
            "promote-to-first-tier",
            "promote-to-first-tier-locked",
            "Gets a value out of the second tier and copies it to the first, where there is a newer one by then.",
            || {
                let method = method("get", two_maps, get_promoting).arguments([7]).values([3, 9]);
                boxed(briefly(from_few_states(method.names(["first", "second"]))))
            },
        ),
        MULTI_TIER_CACHE.good(
            "promote-to-first-tier-locked",
            "Copies a value to the first tier with both locked.",
            || {
                let method = method("get", two_locked_maps, get_promoting_locked).arguments([7]).keys([7]);
                boxed(briefly(from_few_states(method.values([3, 9]).names(["first", "second"]))))
            },
        ),
    ]
}

type TwoMaps = (DashMap<u64, u64>, DashMap<u64, u64>);

fn two_maps() -> TwoMaps {
    Default::default()
}

type TwoLockedMaps = (Mutex<HashMap<u64, u64>>, Mutex<HashMap<u64, u64>>);

fn two_locked_maps() -> TwoLockedMaps {
    Default::default()
}

// case: ttl-get-then-remove
/// Whether there is an entry that has not expired by `now`. An entry is the time when it expires.
///
/// shared-state 0.1.3, `TtlCache::get`: `inner.get`, and `inner.remove` when the entry has expired. Not atomic: an
/// entry that was renewed between the two is removed. The crate's own `insert` does that.
fn ttl_get_then_remove(cache: &DashMap<u64, u64>, (key, now): (u64, u64)) -> bool {
    let Some(expires) = cache.get(&key).map(|expires| *expires) else { return false };
    if expires > now {
        return true;
    }
    cache.remove(&key);
    false
}
// end

// case: ttl-entry
/// Whether there is an entry that has not expired by `now`. An entry is the time when it expires.
///
/// Atomic: the entry is locked.
fn ttl_entry(cache: &DashMap<u64, u64>, (key, now): (u64, u64)) -> bool {
    let Entry::Occupied(expires) = cache.entry(key) else { return false };
    if *expires.get() > now {
        return true;
    }
    expires.remove();
    false
}
// end

/// What a new entry shares.
const SHARED: u64 = 1;

// case: hash-consing-get-then-entry
/// What all users of a value share.
///
/// dashcache 0.2.2, `DashCache::cache`: `cache.get`, then `cache.entry(…).or_default`. Atomic: it takes effect at the
/// get that finds something, or at the entry, which looks again.
fn cache_get_then_entry(cache: &DashMap<u64, u64>, value: u64) -> u64 {
    if let Some(shared) = cache.get(&value) {
        return *shared;
    }
    *cache.entry(value).or_insert(SHARED)
}
// end

// case: hash-consing-contains-then-get
/// What all users of a value share.
///
/// The twin asks first. Not atomic: the crate's `gc` can remove the value between the two.
fn cache_contains_then_get(cache: &DashMap<u64, u64>, value: u64) -> u64 {
    if cache.contains_key(&value) {
        return *cache.get(&value).expect("it is there");
    }
    *cache.entry(value).or_insert(SHARED)
}
// end

// case: letters-list-then-remove
/// Takes all dead letters, in the order of their numbers.
///
/// punch-kernel 1.2.0, `MessageRouter::drain_dead_letters`: an iteration that collects the keys, then `remove` for
/// each. Not atomic: a letter that comes after the list was made stays, and after it has come, another thread finds a
/// letter that is then taken. Two operations: those two. The letters are for an operator, who drains them again.
fn drain_letters(letters: &DashMap<u64, u64>, (): ()) -> Vec<u64> {
    let mut numbers: Vec<u64> = letters.iter().map(|letter| *letter.key()).collect();
    numbers.sort_unstable();
    numbers.into_iter().filter_map(|number| letters.remove(&number)).map(|(number, _)| number).collect()
}
// end

// case: letters-take
/// Takes all dead letters, in the order of their numbers.
///
/// Atomic: one critical section.
fn take_letters(letters: &Mutex<BTreeMap<u64, u64>>, (): ()) -> Vec<u64> {
    std::mem::take(&mut *letters.lock().unwrap()).into_keys().collect()
}
// end

/// How many dead letters are kept.
const KEPT: usize = 1;

// case: letter-insert-then-prune
/// Adds a dead letter; the oldest ones make way.
///
/// punch-kernel 1.2.0, `MessageRouter::add_dead_letter`: `dead_letter_counter.fetch_add`, `dead_letters.insert`, and
/// while `len` is too large, an iteration for the smallest key and `remove`. Not atomic: another thread takes the new
/// letter before the length is read, and the old one, for which there was no room, stays. One operation: it removes the
/// new letter. Two callers can also remove one letter more than needed.
fn add_letter((next, letters): &(AtomicU64, DashMap<u64, u64>), letter: u64) {
    letters.insert(next.fetch_add(1, Relaxed), letter);
    while letters.len() > KEPT {
        let oldest = letters.iter().map(|letter| *letter.key()).min();
        let Some(oldest) = oldest else { break };
        letters.remove(&oldest);
    }
}
// end

// case: letter-insert-and-prune
/// Adds a dead letter; the oldest ones make way.
///
/// Atomic: the letters are locked until there are few enough.
fn add_letter_locked((next, letters): &(AtomicU64, Mutex<BTreeMap<u64, u64>>), letter: u64) {
    let mut letters = letters.lock().unwrap();
    letters.insert(next.fetch_add(1, Relaxed), letter);
    while letters.len() > KEPT {
        letters.pop_first();
    }
}
// end

// case: unregister-two-maps
/// Forgets a fighter.
///
/// punch-kernel 1.2.0, `MessageRouter::unregister`: `mailboxes.remove`, then `pending_receivers.remove`. Not atomic: a
/// fighter that comes back between the two keeps its mailbox and loses its receiver. Two operations, one on each map.
/// Version 1.2.0 puts nothing into the second map yet, so only a later version can be harmed.
fn unregister((mailboxes, receivers): &TwoMaps, fighter: u64) {
    mailboxes.remove(&fighter);
    receivers.remove(&fighter);
}
// end

// case: unregister-locked
/// Forgets a fighter.
///
/// Atomic: both are locked.
fn unregister_locked((mailboxes, receivers): &TwoLockedMaps, fighter: u64) {
    let mut mailboxes = mailboxes.lock().unwrap();
    let mut receivers = receivers.lock().unwrap();
    mailboxes.remove(&fighter);
    receivers.remove(&fighter);
}
// end

/// Stands for all kinds of events.
const ALL: u64 = 0;

// case: dispatch-two-keys
/// Delivers an event to those who have subscribed to its kind, and to those who have subscribed to all: of each only
/// the number of events is kept.
///
/// mocra 0.6.0, `dispatch` of the event bus: `subscribers.get_mut` of the kind, then of `*`. Not atomic: the event
/// reaches a subscriber to all events, and not an earlier one to its kind. Two operations: two subscribers come between
/// the two calls. In the crate one task delivers all events, and subscribers may come at any time.
fn dispatch(delivered: &DashMap<u64, u64>, kind: u64) {
    for subscription in [kind, ALL] {
        if let Some(mut number) = delivered.get_mut(&subscription) {
            *number += 1;
        }
    }
}
// end

// case: dispatch-locked
/// Delivers an event to those who have subscribed to its kind, and to those who have subscribed to all: of each only
/// the number of events is kept.
///
/// Atomic: one critical section.
fn dispatch_locked(delivered: &Mutex<HashMap<u64, u64>>, kind: u64) {
    let mut delivered = delivered.lock().unwrap();
    for subscription in [kind, ALL] {
        if let Some(number) = delivered.get_mut(&subscription) {
            *number += 1;
        }
    }
}
// end

// case: subscribe-contains-then-insert
/// Subscribes to a resource; `false` when there is a subscription.
///
/// poet 0.8.0, `Session::subscribe_to_resource`: `resource_subscriptions.contains_key`, then
/// `resource_subscriptions.insert`. Not atomic: two requests of a session are both accepted, and the first one's token
/// is lost.
fn subscribe(subscriptions: &DashMap<u64, u64>, (resource, token): (u64, u64)) -> bool {
    if subscriptions.contains_key(&resource) {
        return false;
    }
    subscriptions.insert(resource, token);
    true
}
// end

// case: subscribe-vacant-entry
/// Subscribes to a resource; `false` when there is a subscription.
///
/// Atomic: the entry is locked.
fn subscribe_entry(subscriptions: &DashMap<u64, u64>, (resource, token): (u64, u64)) -> bool {
    let Entry::Vacant(vacant) = subscriptions.entry(resource) else { return false };
    vacant.insert(token);
    true
}
// end

// case: version-get-then-update
/// Makes a new version of a workspace; gives its number.
///
/// mockforge-collab 0.3.238, `SyncEngine::update_state`: `states.get` for the number, then `states.get_mut`, or
/// `states.insert` when there is none. Not atomic: two updates store snapshots under one number, or the second one
/// replaces the first.
fn update(versions: &DashMap<u64, u64>, workspace: u64) -> u64 {
    let number = versions.get(&workspace).map_or(1, |version| *version + 1);
    if let Some(mut version) = versions.get_mut(&workspace) {
        *version += 1;
        return number;
    }
    versions.insert(workspace, number);
    number
}
// end

// case: version-entry
/// Makes a new version of a workspace; gives its number.
///
/// Atomic: the entry is locked.
fn update_entry(versions: &DashMap<u64, u64>, workspace: u64) -> u64 {
    let mut version = versions.entry(workspace).or_insert(0);
    *version += 1;
    *version
}
// end

// case: renew-or-insert-loop
/// Lets a task expire at `time`; makes the task if there is none. Gives when it expired before, or 0 for a new one.
///
/// expire_map 0.0.34, `renew_or_create`: `task.get_mut`, and when there is none, `task.insert` and another round. Not
/// atomic: a task that was made between the two is replaced, and then renewed. The crate's index of expiry times is
/// left out.
fn renew_or_create(tasks: &DashMap<u64, u64>, (task, time): (u64, u64)) -> u64 {
    loop {
        if let Some(mut expires) = tasks.get_mut(&task) {
            return std::mem::replace(&mut *expires, time);
        }
        tasks.insert(task, 0);
    }
}
// end

// case: renew-entry
/// Lets a task expire at `time`; makes the task if there is none. Gives when it expired before, or 0 for a new one.
///
/// Atomic: the entry is locked.
fn renew_entry(tasks: &DashMap<u64, u64>, (task, time): (u64, u64)) -> u64 {
    std::mem::replace(&mut *tasks.entry(task).or_insert(0), time)
}
// end

// case: promote-to-first-tier
/// The cached value of a key, which is then in the first tier.
///
/// multi-tier-cache 0.6.9, `CacheManager::get`: a get in each tier, and an insertion into the tiers above the one that
/// has it. Not atomic: an old value replaces a new one in the first tier. One operation: it puts a new value there
/// after the method has found none. The crate's `set` does, and the old value stays until it expires.
fn get_promoting((first, second): &TwoMaps, key: u64) -> Option<u64> {
    if let Some(value) = first.get(&key) {
        return Some(*value);
    }
    let value = *second.get(&key)?;
    first.insert(key, value);
    Some(value)
}
// end

// case: promote-to-first-tier-locked
/// The cached value of a key, which is then in the first tier.
///
/// Atomic: both are locked.
fn get_promoting_locked((first, second): &TwoLockedMaps, key: u64) -> Option<u64> {
    let mut first = first.lock().unwrap();
    let second = second.lock().unwrap();
    if let Some(value) = first.get(&key) {
        return Some(*value);
    }
    let value = *second.get(&key)?;
    first.insert(key, value);
    Some(value)
}
// end
