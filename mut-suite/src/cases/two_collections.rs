//! Two collections, or more, that are kept in step.
//!
//! An environment that may use all of them needs two operations to see the violation: one that has seen the first
//! change, and one that has not seen the second. A lock that is kept over both changes corrects these methods: the lock
//! of a critical section, or of an entry.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::Ordering::Relaxed;

use interloper::MethodUnderTest;
use interloper::collections::dashmap::Entry;
use interloper::collections::{AtomicBool, AtomicUsize, DashMap, Mutex, SegQueue};

use super::{EVERYDAY, boxed, briefly, from_few_states};
use crate::Case;
use crate::source::Family;

const FILE: Family = Family::new(EVERYDAY, include_str!("two_collections.rs"));

pub(super) fn cases() -> Vec<Case> {
    vec![
        FILE.bad(
            "archive",
            "archive-locked",
            "Moves an order from one map to another; for a while it is in neither.",
            || {
                let make = || (DashMap::new(), DashMap::new());
                let method =
                    MethodUnderTest::new("archive", make, |(active, archived), order| archive(active, archived, order));
                boxed(from_few_states(method.arguments([7]).names(["active", "archived"])))
            },
        ),
        FILE.good("archive-locked", "Moves an order from one map to another with both locked.", || {
            let make = || (Mutex::default(), Mutex::default());
            let method = MethodUnderTest::new("archive", make, |(active, archived), order| {
                archive_locked(active, archived, order)
            });
            boxed(briefly(method.arguments([7]).keys([7]).names(["active", "archived"])))
        }),
        FILE.bad(
            "promote",
            "promote-locked",
            "Moves a job from one queue to another; for a while it is in neither.",
            || {
                let make = || (SegQueue::new(), SegQueue::new());
                let method = MethodUnderTest::new("promote", make, |(waiting, ready), ()| promote(waiting, ready));
                boxed(method.names(["waiting", "ready"]))
            },
        ),
        FILE.good("promote-locked", "Moves a job from one queue to another with both locked.", || {
            let make = || (Mutex::default(), Mutex::default());
            let method = MethodUnderTest::new("promote", make, |(waiting, ready), ()| promote_locked(waiting, ready));
            boxed(briefly(from_few_states(method.names(["waiting", "ready"]))))
        }),
        FILE.bad(
            "drain-into-another",
            "drain-into-another-locked",
            "Moves all jobs from one queue to another, one by one: other operations come between them.",
            || {
                let make = || (SegQueue::new(), SegQueue::new());
                let method =
                    MethodUnderTest::new("promote_all", make, |(waiting, ready), ()| promote_all(waiting, ready));
                boxed(method.names(["waiting", "ready"]))
            },
        ),
        FILE.good("drain-into-another-locked", "Moves all jobs from one queue to another with both locked.", || {
            let make = || (Mutex::default(), Mutex::default());
            let method =
                MethodUnderTest::new("promote_all", make, |(waiting, ready), ()| promote_all_locked(waiting, ready));
            boxed(briefly(from_few_states(method.names(["waiting", "ready"]))))
        }),
        FILE.bad(
            "insert-then-count",
            "count-inside-the-entry",
            "Keeps a count beside a map, and changes it after the map.",
            || {
                let make = || (DashMap::new(), AtomicUsize::new(0));
                let method = MethodUnderTest::new("join", make, |(members, count), member| {
                    join_then_count(members, count, member)
                });
                boxed(method.arguments([7]).names(["members", "count"]))
            },
        ),
        FILE.good(
            "count-inside-the-entry",
            "Keeps a count beside a map, and changes it while the entry is locked.",
            || {
                let make = || (DashMap::new(), AtomicUsize::new(0));
                let method =
                    MethodUnderTest::new("join", make, |(members, count), member| join_counted(members, count, member));
                boxed(method.arguments([7]).keys([7]).names(["members", "count"]))
            },
        ),
        FILE.bad(
            "count-hits-afterwards",
            "count-hits-under-guard",
            "Counts the hits of a cache after the lookup.",
            || {
                let make = || (DashMap::new(), AtomicUsize::new(0));
                let method = MethodUnderTest::new("lookup", make, |(cache, hits), key| lookup(cache, hits, key));
                boxed(method.arguments([7]).names(["cache", "hits"]))
            },
        ),
        FILE.good(
            "count-hits-under-guard",
            "Counts the hits of a cache while the entry that was found is locked.",
            || {
                let make = || (DashMap::new(), AtomicUsize::new(0));
                let method =
                    MethodUnderTest::new("lookup", make, |(cache, hits), key| lookup_under_guard(cache, hits, key));
                boxed(method.arguments([7]).keys([7]).names(["cache", "hits"]))
            },
        ),
        FILE.bad("two-way-map", "two-way-map-locked", "Enters a pair into two maps, one for each direction.", || {
            let make = || (DashMap::new(), DashMap::new());
            let method = MethodUnderTest::new("pair", make, |(numbers, names), (name, number)| {
                pair(numbers, names, name, number)
            });
            boxed(from_few_states(method.arguments([(7, 70)]).names(["numbers", "names"])))
        }),
        FILE.good("two-way-map-locked", "Enters a pair into two maps with both locked.", || {
            let make = || (Mutex::default(), Mutex::default());
            let method = MethodUnderTest::new("pair", make, |(numbers, names), (name, number)| {
                pair_locked(numbers, names, name, number)
            });
            boxed(briefly(method.arguments([(7, 7)]).keys([7]).names(["numbers", "names"])))
        }),
        FILE.bad(
            "log-after-guard",
            "log-under-guard",
            "Logs what it has given out after the entry is unlocked. Between the two there is only a step that has nothing \
             to do with either: the nearest adversary does not find it.",
            || {
                let make = || (DashMap::new(), AtomicBool::new(false), SegQueue::new());
                let method = MethodUnderTest::new("give_out", make, |(stock, verbose, given), key| {
                    give_out_then_log(stock, verbose, given, key)
                });
                let method = method.arguments([7]).keys([7]).names(["stock", "verbose", "given"]);
                boxed(from_few_states(method))
            },
        ),
        FILE.good("log-under-guard", "Logs what it gives out while the entry is locked.", || {
            let make = || (DashMap::new(), AtomicBool::new(false), SegQueue::new());
            let method = MethodUnderTest::new("give_out", make, |(stock, verbose, given), key| {
                give_out(stock, verbose, given, key)
            });
            let method = method.arguments([7]).keys([7]).names(["stock", "verbose", "given"]);
            boxed(briefly(from_few_states(method)))
        }),
    ]
}

// case: archive
/// Moves an order to the archive; says whether there was one.
fn archive(active: &DashMap<u64, u64>, archived: &DashMap<u64, u64>, order: u64) -> bool {
    match active.remove(&order) {
        None => false,
        Some((order, content)) => {
            archived.insert(order, content);
            true
        }
    }
}
// end

// case: archive-locked
/// Moves an order to the archive; says whether there was one.
fn archive_locked(active: &Mutex<HashMap<u64, u64>>, archived: &Mutex<HashMap<u64, u64>>, order: u64) -> bool {
    let mut active = active.lock().unwrap();
    let mut archived = archived.lock().unwrap();
    match active.remove(&order) {
        None => false,
        Some(content) => {
            archived.insert(order, content);
            true
        }
    }
}
// end

// case: promote
/// Makes the first waiting job ready.
fn promote(waiting: &SegQueue<u64>, ready: &SegQueue<u64>) {
    if let Some(job) = waiting.pop() {
        ready.push(job);
    }
}
// end

// case: promote-locked
/// Makes the first waiting job ready.
fn promote_locked(waiting: &Mutex<VecDeque<u64>>, ready: &Mutex<VecDeque<u64>>) {
    let mut waiting = waiting.lock().unwrap();
    let mut ready = ready.lock().unwrap();
    if let Some(job) = waiting.pop_front() {
        ready.push_back(job);
    }
}
// end

// case: drain-into-another
/// Makes all waiting jobs ready.
fn promote_all(waiting: &SegQueue<u64>, ready: &SegQueue<u64>) {
    while let Some(job) = waiting.pop() {
        ready.push(job);
    }
}
// end

// case: drain-into-another-locked
/// Makes all waiting jobs ready.
fn promote_all_locked(waiting: &Mutex<VecDeque<u64>>, ready: &Mutex<VecDeque<u64>>) {
    let mut waiting = waiting.lock().unwrap();
    let mut ready = ready.lock().unwrap();
    ready.append(&mut waiting);
}
// end

// case: insert-then-count
/// Adds a member; says whether it is a new one.
fn join_then_count(members: &DashMap<u64, ()>, count: &AtomicUsize, member: u64) -> bool {
    let new = members.insert(member, ()).is_none();
    if new {
        count.fetch_add(1, Relaxed);
    }
    new
}
// end

// case: count-inside-the-entry
/// Adds a member; says whether it is a new one.
fn join_counted(members: &DashMap<u64, ()>, count: &AtomicUsize, member: u64) -> bool {
    match members.entry(member) {
        Entry::Occupied(_) => false,
        Entry::Vacant(vacant) => {
            count.fetch_add(1, Relaxed);
            vacant.insert(());
            true
        }
    }
}
// end

// case: count-hits-afterwards
/// The cached value; a hit is counted.
fn lookup(cache: &DashMap<u64, u64>, hits: &AtomicUsize, key: u64) -> Option<u64> {
    let value = cache.get(&key).map(|value| *value);
    if value.is_some() {
        hits.fetch_add(1, Relaxed);
    }
    value
}
// end

// case: count-hits-under-guard
/// The cached value; a hit is counted.
fn lookup_under_guard(cache: &DashMap<u64, u64>, hits: &AtomicUsize, key: u64) -> Option<u64> {
    let value = cache.get(&key)?;
    hits.fetch_add(1, Relaxed);
    Some(*value)
}
// end

// case: two-way-map
/// Enters a name and its number.
fn pair(numbers: &DashMap<u64, u64>, names: &DashMap<u64, u64>, name: u64, number: u64) {
    numbers.insert(name, number);
    names.insert(number, name);
}
// end

// case: two-way-map-locked
/// Enters a name and its number.
fn pair_locked(numbers: &Mutex<HashMap<u64, u64>>, names: &Mutex<HashMap<u64, u64>>, name: u64, number: u64) {
    let mut numbers = numbers.lock().unwrap();
    let mut names = names.lock().unwrap();
    numbers.insert(name, number);
    names.insert(number, name);
}
// end

/// For the operator's eyes only.
fn trace(_key: u64) {}

// case: log-after-guard
/// What there is of an article; each answer is logged.
fn give_out_then_log(
    stock: &DashMap<u64, u64>,
    verbose: &AtomicBool,
    given: &SegQueue<u64>,
    article: u64,
) -> Option<u64> {
    let amount = {
        let amount = stock.get(&article)?;
        if verbose.load(Relaxed) {
            trace(article);
        }
        *amount
    };
    given.push(article);
    Some(amount)
}
// end

// case: log-under-guard
/// What there is of an article; each answer is logged.
fn give_out(stock: &DashMap<u64, u64>, verbose: &AtomicBool, given: &SegQueue<u64>, article: u64) -> Option<u64> {
    let amount = stock.get(&article)?;
    if verbose.load(Relaxed) {
        trace(article);
    }
    given.push(article);
    Some(*amount)
}
// end
