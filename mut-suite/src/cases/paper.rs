//! The paper's Figures 1, 2, 3 and 8, and the six kinds of `compute` of Figure 12 that need no future.
//!
//! The text of Figure 12 survives only as a picture; (iii) to (vi) are written here after their description in section
//! 5.5. Java's `putIfAbsent` is `entry(…).or_insert(…)`, its `replace(key, old, new)` a comparison under `get_mut`.
//! `linearization_point()` is where the paper has `@LP`: the last one on the path counts.

use interloper::collections::dashmap::Entry;
use interloper::collections::{DashMap, Mutex};
use interloper::{MethodUnderTest, linearization_point};
use std::collections::HashMap;

use super::boxed;
use crate::Case;
use crate::source::Family;

const FILE: Family = Family::new("COLT", include_str!("paper.rs"));
const FIGURE_2: &str = "COLT, Figure 2 (Apache Tomcat)";

pub(super) fn cases() -> Vec<Case> {
    vec![
        FILE.from("COLT, Figure 1 (OpenJDK)").good(
            "figure-1-increment",
            "An optimistic loop counts in a concurrent histogram.",
            || boxed(MethodUnderTest::new("increment", DashMap::new, increment).arguments([7]).values([1, 2])),
        ),
        FILE.from(FIGURE_2).good(
            "figure-2a-remove-attribute",
            "Looks for an attribute and removes it, all under the lock of a sequential map (version 5).",
            || {
                boxed(
                    MethodUnderTest::new("remove_attribute", Mutex::default, remove_attribute_locked)
                        .arguments([7])
                        .keys([7]),
                )
            },
        ),
        FILE.from(FIGURE_2).bad(
            "figure-2b-remove-attribute",
            "figure-2c-remove-attribute",
            "The same over a concurrent map, without the lock (version 6): another thread may have removed the \
             attribute that is returned.",
            || boxed(MethodUnderTest::new("remove_attribute", DashMap::new, remove_attribute).arguments([7])),
        ),
        FILE.from(FIGURE_2).good(
            "figure-2c-remove-attribute",
            "The fix that was accepted: what is returned is what the removal gave.",
            || boxed(MethodUnderTest::new("remove_attribute", DashMap::new, remove_attribute_fixed).arguments([7])),
        ),
        FILE.from("COLT, Figure 3 (Adobe BlazeDS)").bad(
            "figure-3-compute",
            "figure-12-ii",
            "Memoization that reads what it has just stored: it may be gone.",
            || boxed(MethodUnderTest::new("compute", DashMap::new, compute_and_get).arguments([7])),
        ),
        FILE.from("COLT, Figure 8").bad(
            "figure-8-add",
            "figure-8-add-fixed",
            "Adds a key unless it is there; a value that was added meanwhile is overwritten.",
            || boxed(MethodUnderTest::new("add", DashMap::new, add).arguments([7])),
        ),
        FILE.from("COLT, Figure 8").good(
            "figure-8-add-fixed",
            "Adds a key unless it is there, in one operation.",
            || boxed(MethodUnderTest::new("add", DashMap::new, add_fixed).arguments([7])),
        ),
        FILE.from("COLT, Figure 12(i)").good(
            "figure-12-i",
            "Memoization by one put-if-absent, whether or not the value is needed.",
            || boxed(MethodUnderTest::new("compute", DashMap::new, compute_i).arguments([7])),
        ),
        FILE.from("COLT, Figure 12(ii)").good(
            "figure-12-ii",
            "Memoization that looks first, and returns what put-if-absent found or stored.",
            || boxed(MethodUnderTest::new("compute", DashMap::new, compute_ii).arguments([7])),
        ),
        FILE.from("COLT, Figure 12(iii)").bad(
            "figure-12-iii",
            "figure-12-i",
            "Stores unless there is a value, and reads again what may be gone.",
            || boxed(MethodUnderTest::new("compute", DashMap::new, compute_iii).arguments([7])),
        ),
        FILE.from("COLT, Figure 12(iv)").bad(
            "figure-12-iv",
            "figure-12-ii",
            "Looks, stores, and reads again only when it has stored.",
            || boxed(MethodUnderTest::new("compute", DashMap::new, compute_iv).arguments([7])),
        ),
        FILE.from("COLT, Figure 12(v)").bad(
            "figure-12-v",
            "figure-12-ii",
            "Looks, stores, and returns its own value although another may be stored: the most common mistake.",
            || boxed(MethodUnderTest::new("compute", DashMap::new, compute_v).arguments([7])),
        ),
        FILE.from("COLT, Figure 12(vi)").bad(
            "figure-12-vi",
            "figure-12-ii",
            "Asks whether the key is there, stores if not, and reads what may be gone.",
            || boxed(MethodUnderTest::new("compute", DashMap::new, compute_vi).arguments([7])),
        ),
    ]
}

// case: figure-1-increment
/// Counts one more of this class.
fn increment(histogram: &DashMap<u64, u64>, class: u64) {
    loop {
        let count = histogram.get(&class).map(|count| *count);
        match count {
            None => {
                if let Entry::Vacant(vacant) = histogram.entry(class) {
                    vacant.insert(1);
                    linearization_point();
                    return;
                }
            }
            Some(count) => {
                if let Some(mut current) = histogram.get_mut(&class)
                    && *current == count
                {
                    *current += 1;
                    linearization_point();
                    return;
                }
            }
        }
    }
}
// end

// case: figure-2a-remove-attribute
/// Removes an attribute of the session and gives its value.
fn remove_attribute_locked(attributes: &Mutex<HashMap<u64, u64>>, name: u64) -> Option<u64> {
    let mut value = None;
    let mut attributes = attributes.lock().unwrap();
    let found = attributes.contains_key(&name);
    if found {
        value = attributes.get(&name).copied();
        attributes.remove(&name);
    }
    value
}
// end

// case: figure-2b-remove-attribute
/// Removes an attribute of the session and gives its value.
fn remove_attribute(attributes: &DashMap<u64, u64>, name: u64) -> Option<u64> {
    let mut value = None;
    let found = attributes.contains_key(&name);
    if found {
        value = attributes.get(&name).map(|value| *value);
        attributes.remove(&name);
    }
    value
}
// end

// case: figure-2c-remove-attribute
/// Removes an attribute of the session and gives its value.
fn remove_attribute_fixed(attributes: &DashMap<u64, u64>, name: u64) -> Option<u64> {
    let mut value = attributes.get(&name).map(|value| *value);
    linearization_point(); // if there is none
    if value.is_some() {
        value = attributes.remove(&name).map(|(_, value)| value);
        linearization_point();
    }
    value
}
// end

// case: figure-3-compute
/// The value of `calculate_value` at `key`, computed once.
fn compute_and_get(cache: &DashMap<u64, u64>, key: u64) -> Option<u64> {
    let known = cache.get(&key).map(|value| *value);
    if known.is_none() {
        let value = calculate_value(key);
        cache.entry(key).or_insert(value);
    }
    cache.get(&key).map(|value| *value)
}
// end

fn calculate_value(key: u64) -> u64 {
    key * 2
}

// case: figure-8-add
/// Starts `key` at 2 unless it is known.
fn add(map: &DashMap<u64, u64>, key: u64) {
    let value = map.get(&key).map(|value| *value);
    linearization_point(); // if there is one
    if value.is_none() {
        map.insert(key, 2);
        linearization_point();
    }
}
// end

// case: figure-8-add-fixed
/// Starts `key` at 2 unless it is known.
fn add_fixed(map: &DashMap<u64, u64>, key: u64) {
    map.entry(key).or_insert(2);
}
// end

// case: figure-12-i
/// The value of `calculate_value` at `key`, stored.
fn compute_i(cache: &DashMap<u64, u64>, key: u64) -> u64 {
    let value = calculate_value(key);
    let stored = *cache.entry(key).or_insert(value);
    linearization_point();
    stored
}
// end

// case: figure-12-ii
/// The value of `calculate_value` at `key`, computed only when it is not stored.
fn compute_ii(cache: &DashMap<u64, u64>, key: u64) -> u64 {
    let known = cache.get(&key).map(|value| *value);
    linearization_point(); // if there is one
    match known {
        Some(value) => value,
        None => {
            let value = calculate_value(key);
            let stored = *cache.entry(key).or_insert(value);
            linearization_point();
            stored
        }
    }
}
// end

// case: figure-12-iii
/// The value of `calculate_value` at `key`, stored.
fn compute_iii(cache: &DashMap<u64, u64>, key: u64) -> Option<u64> {
    let value = calculate_value(key);
    cache.entry(key).or_insert(value);
    cache.get(&key).map(|value| *value)
}
// end

// case: figure-12-iv
/// The value of `calculate_value` at `key`, computed only when it is not stored.
fn compute_iv(cache: &DashMap<u64, u64>, key: u64) -> Option<u64> {
    let mut value = cache.get(&key).map(|value| *value);
    if value.is_none() {
        cache.entry(key).or_insert(calculate_value(key));
        value = cache.get(&key).map(|value| *value);
    }
    value
}
// end

// case: figure-12-v
/// The value of `calculate_value` at `key`, computed only when it is not stored.
fn compute_v(cache: &DashMap<u64, u64>, key: u64) -> u64 {
    let known = cache.get(&key).map(|value| *value);
    match known {
        Some(value) => value,
        None => {
            let value = calculate_value(key);
            cache.entry(key).or_insert(value);
            value
        }
    }
}
// end

// case: figure-12-vi
/// The value of `calculate_value` at `key`, computed only when it is not stored.
fn compute_vi(cache: &DashMap<u64, u64>, key: u64) -> Option<u64> {
    if !cache.contains_key(&key) {
        cache.entry(key).or_insert(calculate_value(key));
    }
    cache.get(&key).map(|value| *value)
}
// end
