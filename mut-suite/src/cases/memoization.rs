//! Put-if-absent and memoization, as Rust programs write them.

use std::collections::HashMap;
use std::sync::Arc;

use interloper::collections::dashmap::Entry;
use interloper::collections::{DashMap, Mutex, RwLock};
use interloper::{Datum, MethodUnderTest, ToValue, Value};

use super::{EVERYDAY, boxed};
use crate::Case;
use crate::source::Family;

const FILE: Family = Family::new(EVERYDAY, include_str!("memoization.rs"));

pub(super) fn cases() -> Vec<Case> {
    vec![
        FILE.bad(
            "contains-then-insert",
            "insert-if-vacant",
            "Inserts when the key was not there a moment ago, and overwrites a value that was inserted meanwhile.",
            || boxed(MethodUnderTest::new("register", DashMap::new, contains_then_insert).arguments([(7, 70)])),
        ),
        FILE.good("insert-if-vacant", "Inserts into a vacant entry.", || {
            boxed(MethodUnderTest::new("register", DashMap::new, insert_if_vacant).arguments([(7, 70)]))
        }),
        FILE.bad(
            "memoize-get-then-insert",
            "memoize-entry",
            "Memoization by get and insert: two callers can store, and get, different values.",
            || boxed(MethodUnderTest::new("memoize", DashMap::new, memoize_get_then_insert).arguments([7])),
        ),
        FILE.good("memoize-entry", "Memoization that computes under the lock of the entry.", || {
            boxed(MethodUnderTest::new("memoize", DashMap::new, memoize_entry).arguments([7]))
        }),
        FILE.bad(
            "intern-returns-computed",
            "intern-returns-stored",
            "Gives the symbol that it made, though another may be stored for the name.",
            || boxed(MethodUnderTest::new("intern", DashMap::new, intern_returns_computed).arguments([("pi", 31)])),
        ),
        FILE.good("intern-returns-stored", "Gives the symbol that is stored.", || {
            boxed(MethodUnderTest::new("intern", DashMap::new, intern_returns_stored).arguments([("pi", 31)]))
        }),
        FILE.bad(
            "lazy-lock-contains-then-insert",
            "lazy-lock-entry",
            "Makes the lock of a key when it is first wanted; two callers can end up with different locks.",
            || boxed(MethodUnderTest::new("lock_of", DashMap::new, lock_of).arguments([(7, 1)])),
        ),
        FILE.good("lazy-lock-entry", "Makes the lock of a key inside its entry.", || {
            boxed(MethodUnderTest::new("lock_of", DashMap::new, lock_of_entry).arguments([(7, 1)]))
        }),
        FILE.bad(
            "memoize-read-then-write",
            "memoize-read-then-recheck",
            "Looks under the read lock and stores under the write lock without looking again.",
            || boxed(MethodUnderTest::new("memoize", RwLock::default, memoize_read_then_write).arguments([7])),
        ),
        FILE.good("memoize-read-then-recheck", "Looks under the read lock, and again under the write lock.", || {
            let method = MethodUnderTest::new("memoize", RwLock::default, memoize_read_then_recheck);
            boxed(method.arguments([7]).keys([7]))
        }),
        FILE.bad(
            "memoize-two-sections",
            "memoize-one-section",
            "Lets go of the lock while it computes, and overwrites what was stored meanwhile.",
            || boxed(MethodUnderTest::new("memoize", Mutex::default, memoize_two_sections).arguments([7])),
        ),
        FILE.good("memoize-one-section", "Computes with the lock held.", || {
            boxed(MethodUnderTest::new("memoize", Mutex::default, memoize_one_section).arguments([7]).keys([7]))
        }),
    ]
}

fn expensive(key: u64) -> u64 {
    key * 2
}

// case: contains-then-insert
/// Registers a handler for an event unless there is one; says whether it was registered.
fn contains_then_insert(handlers: &DashMap<u64, u64>, (event, handler): (u64, u64)) -> bool {
    if handlers.contains_key(&event) {
        return false;
    }
    handlers.insert(event, handler);
    true
}
// end

// case: insert-if-vacant
/// Registers a handler for an event unless there is one; says whether it was registered.
fn insert_if_vacant(handlers: &DashMap<u64, u64>, (event, handler): (u64, u64)) -> bool {
    match handlers.entry(event) {
        Entry::Occupied(_) => false,
        Entry::Vacant(vacant) => {
            vacant.insert(handler);
            true
        }
    }
}
// end

// case: memoize-get-then-insert
/// The expensive value at `key`, out of the cache if it is there.
fn memoize_get_then_insert(cache: &DashMap<u64, u64>, key: u64) -> u64 {
    if let Some(value) = cache.get(&key) {
        return *value;
    }
    let value = expensive(key);
    cache.insert(key, value);
    value
}
// end

// case: memoize-entry
/// The expensive value at `key`, out of the cache if it is there.
fn memoize_entry(cache: &DashMap<u64, u64>, key: u64) -> u64 {
    *cache.entry(key).or_insert_with(|| expensive(key))
}
// end

// case: intern-returns-computed
/// The symbol for a name; `fresh` becomes the symbol of a name without one.
fn intern_returns_computed(symbols: &DashMap<&'static str, u32>, (name, fresh): (&'static str, u32)) -> u32 {
    if let Some(symbol) = symbols.get(name) {
        return *symbol;
    }
    symbols.entry(name).or_insert(fresh);
    fresh
}
// end

// case: intern-returns-stored
/// The symbol for a name; `fresh` becomes the symbol of a name without one.
fn intern_returns_stored(symbols: &DashMap<&'static str, u32>, (name, fresh): (&'static str, u32)) -> u32 {
    if let Some(symbol) = symbols.get(name) {
        return *symbol;
    }
    *symbols.entry(name).or_insert(fresh)
}
// end

/// A lock of one key. The worker that made a lock identifies it.
#[derive(Debug)]
struct KeyLock {
    made_by: u32,
}

impl ToValue for KeyLock {
    fn to_value(&self) -> Value {
        Value::variant("lock", [self.made_by.to_value()])
    }
}

/// The plain forms of locks made by workers.
#[derive(Clone, Debug)]
struct SharedLock(Arc<KeyLock>);

impl ToValue for SharedLock {
    fn to_value(&self) -> Value {
        self.0.to_value()
    }
}

impl Datum for SharedLock {
    fn from_value(value: &Value) -> Option<Self> {
        let Value::Variant(lock) = value else { return None };
        let made_by = lock.fields.first().and_then(u32::from_value)?;
        Some(SharedLock(Arc::new(KeyLock { made_by })))
    }

    fn fresh(seen: &[Value]) -> Option<Value> {
        let makers: Vec<Value> =
            seen.iter().filter_map(SharedLock::from_value).map(|lock| lock.0.made_by.to_value()).collect();
        u32::fresh(&makers).map(|made_by| Value::variant("lock", [made_by]))
    }
}

// case: lazy-lock-contains-then-insert
/// The lock that guards `key`.
fn lock_of(locks: &DashMap<u64, SharedLock>, (key, worker): (u64, u32)) -> SharedLock {
    if !locks.contains_key(&key) {
        locks.insert(key, SharedLock(Arc::new(KeyLock { made_by: worker })));
    }
    locks.get(&key).expect("just made").clone()
}
// end

// case: lazy-lock-entry
/// The lock that guards `key`.
fn lock_of_entry(locks: &DashMap<u64, SharedLock>, (key, worker): (u64, u32)) -> SharedLock {
    locks.entry(key).or_insert_with(|| SharedLock(Arc::new(KeyLock { made_by: worker }))).clone()
}
// end

// case: memoize-read-then-write
/// The expensive value at `key`, out of the cache if it is there.
fn memoize_read_then_write(cache: &RwLock<HashMap<u64, u64>>, key: u64) -> u64 {
    if let Some(value) = cache.read().unwrap().get(&key) {
        return *value;
    }
    let value = expensive(key);
    cache.write().unwrap().insert(key, value);
    value
}
// end

// case: memoize-read-then-recheck
/// The expensive value at `key`, out of the cache if it is there.
fn memoize_read_then_recheck(cache: &RwLock<HashMap<u64, u64>>, key: u64) -> u64 {
    if let Some(value) = cache.read().unwrap().get(&key) {
        return *value;
    }
    let value = expensive(key);
    *cache.write().unwrap().entry(key).or_insert(value)
}
// end

// case: memoize-two-sections
/// The expensive value at `key`, out of the cache if it is there.
fn memoize_two_sections(cache: &Mutex<HashMap<u64, u64>>, key: u64) -> u64 {
    let known = cache.lock().unwrap().get(&key).copied();
    known.unwrap_or_else(|| {
        let value = expensive(key);
        cache.lock().unwrap().insert(key, value);
        value
    })
}
// end

// case: memoize-one-section
/// The expensive value at `key`, out of the cache if it is there.
fn memoize_one_section(cache: &Mutex<HashMap<u64, u64>>, key: u64) -> u64 {
    *cache.lock().unwrap().entry(key).or_insert_with(|| expensive(key))
}
// end
