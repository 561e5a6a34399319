//! Programs of section 5.3: a migration between kinds of maps, and an optimistic loop.

use std::collections::HashMap;

use interloper::MethodUnderTest;
use interloper::collections::{DashMap, Mutex};

use super::{boxed, briefly};
use crate::Case;
use crate::source::Family;

const TOMCAT: Family =
    Family::new("COLT, section 5.3 (Apache Tomcat, FastHttpDateFormat)", include_str!("programs.rs"));
const CASSANDRA: Family = Family::new("COLT, section 5.3 (Apache Cassandra)", include_str!("programs.rs"));

pub(super) fn cases() -> Vec<Case> {
    vec![
        TOMCAT.good(
            "date-format-synchronized",
            "Empties a full cache of formatted dates and stores one, all under the lock of the map.",
            || {
                let method = MethodUnderTest::new("update_format_cache", Mutex::default, update_synchronized);
                boxed(briefly(method.arguments([(7, 70)])))
            },
        ),
        TOMCAT.bad(
            "date-format-migrated",
            "date-format-synchronized",
            "The same after the move to a concurrent map, whose own locks guard single operations only.",
            || {
                let method = MethodUnderTest::new("update_format_cache", DashMap::new, update_migrated);
                boxed(method.arguments([(7, 70)]))
            },
        ),
        CASSANDRA.modular(
            "optimistic-column",
            "optimistic-column-restarted",
            "An optimistic loop keeps the newest column, and panics when the column is removed meanwhile: this program \
             removes none.",
            || {
                let method = MethodUnderTest::new("add_column", DashMap::new, add_column);
                boxed(method.arguments([(7, 5)]).values([3, 9]).without("remove"))
            },
        ),
        CASSANDRA.good(
            "optimistic-column-restarted",
            "The loop starts again when the column is removed meanwhile.",
            || {
                let method = MethodUnderTest::new("add_column", DashMap::new, add_column_or_restart);
                boxed(method.arguments([(7, 5)]).values([3, 9]))
            },
        ),
    ]
}

/// How many entries make a cache full.
const CACHE_SIZE: usize = 1;

// case: date-format-synchronized
/// Remembers the text of a date; starts afresh when too many are remembered.
fn update_synchronized(cache: &Mutex<HashMap<u64, u64>>, (date, text): (u64, u64)) {
    let mut cache = cache.lock().unwrap();
    if cache.len() > CACHE_SIZE {
        cache.clear();
    }
    cache.insert(date, text);
}
// end

// case: date-format-migrated
/// Remembers the text of a date; starts afresh when too many are remembered.
fn update_migrated(cache: &DashMap<u64, u64>, (date, text): (u64, u64)) {
    if cache.len() > CACHE_SIZE {
        cache.clear();
    }
    cache.insert(date, text);
}
// end

// case: optimistic-column
/// Stores the column unless a newer one is stored.
fn add_column(columns: &DashMap<u64, u64>, (name, column): (u64, u64)) {
    let mut stored = *columns.entry(name).or_insert(column);
    while stored < column {
        if let Some(mut current) = columns.get_mut(&name)
            && *current == stored
        {
            *current = column;
            return;
        }
        stored = *columns.get(&name).expect("columns are never removed");
    }
}
// end

// case: optimistic-column-restarted
/// Stores the column unless a newer one is stored.
fn add_column_or_restart(columns: &DashMap<u64, u64>, (name, column): (u64, u64)) {
    loop {
        let stored = *columns.entry(name).or_insert(column);
        if stored >= column {
            return;
        }
        if let Some(mut current) = columns.get_mut(&name)
            && *current == stored
        {
            *current = column;
            return;
        }
    }
}
// end
