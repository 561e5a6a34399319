//! Objects whose collections only their own methods touch: some of these methods are atomic as seen through the others.

use std::sync::atomic::Ordering::Relaxed;

use interloper::MethodUnderTest;
use interloper::collections::{AtomicUsize, DashMap};

use super::{EVERYDAY, boxed};
use crate::Case;
use crate::source::Family;

const FILE: Family = Family::new(EVERYDAY, include_str!("closed.rs"));

pub(super) fn cases() -> Vec<Case> {
    vec![
        FILE.bad(
            "release-then-remove",
            "release-entry",
            "Counts one holder less, and removes the count that was zero a moment ago: an acquire between the two is \
             lost.",
            || {
                let method = MethodUnderTest::new("release", DashMap::new, release);
                boxed(method.arguments([7]).values([1, 2]).beside("acquire", acquire))
            },
        ),
        FILE.modular(
            "release-then-remove-if-zero",
            "release-entry",
            "Removes the count if it is still zero: no caller sees a count of zero as long as all of them use acquire \
             and release.",
            || {
                let method = MethodUnderTest::new("release", DashMap::new, release_remove_if);
                boxed(method.arguments([7]).values([1, 2]).beside("acquire", acquire))
            },
        ),
        FILE.modular(
            "memoize-pure-function",
            "memoize-entry",
            "Memoization by get and insert: safe while all that is ever stored is the value of the same function.",
            || {
                let method = MethodUnderTest::new("memoize", DashMap::new, memoize).arguments([7]);
                boxed(method.beside("peek", peek))
            },
        ),
        FILE.modular(
            "count-hits-unread",
            "count-hits-under-guard",
            "Counts the hits of a cache after the lookup: safe while no caller reads the count together with the \
             cache.",
            || {
                let make = || (DashMap::new(), AtomicUsize::new(0));
                let method = MethodUnderTest::new("lookup", make, |(cache, hits), key| lookup(cache, hits, key));
                let method = method.arguments([7]).names(["cache", "hits"]);
                let method = method.beside("store", |(cache, _), key| store(cache, key));
                boxed(method.beside("evict", |(cache, _), key| evict(cache, key)))
            },
        ),
    ]
}

/// Opens a file once more; gives how many hold it.
fn acquire(holders: &DashMap<u64, u64>, file: u64) -> Option<u64> {
    let mut count = holders.entry(file).or_insert(0);
    *count += 1;
    Some(*count)
}

// case: release-then-remove
/// Gives a file back; gives how many still hold it, if anybody did.
fn release(holders: &DashMap<u64, u64>, file: u64) -> Option<u64> {
    let left = {
        let mut count = holders.get_mut(&file)?;
        *count = count.saturating_sub(1);
        *count
    };
    if left == 0 {
        holders.remove(&file);
    }
    Some(left)
}
// end

// case: release-then-remove-if-zero
/// Gives a file back; gives how many still hold it, if anybody did.
fn release_remove_if(holders: &DashMap<u64, u64>, file: u64) -> Option<u64> {
    let left = {
        let mut count = holders.get_mut(&file)?;
        *count = count.checked_sub(1)?;
        *count
    };
    holders.remove_if(&file, |_, count| *count == 0);
    Some(left)
}
// end

// case: memoize-pure-function
/// The square of a number.
fn memoize(squares: &DashMap<u64, u64>, number: u64) -> Option<u64> {
    if let Some(square) = squares.get(&number) {
        return Some(*square);
    }
    let square = number.checked_mul(number)?;
    squares.insert(number, square);
    Some(square)
}

/// The square of a number, if it is known.
fn peek(squares: &DashMap<u64, u64>, number: u64) -> Option<u64> {
    squares.get(&number).map(|square| *square)
}
// end

// case: count-hits-unread
/// The cached value; a hit is counted.
fn lookup(cache: &DashMap<u64, u64>, hits: &AtomicUsize, key: u64) -> Option<u64> {
    let value = cache.get(&key).map(|value| *value);
    if value.is_some() {
        hits.fetch_add(1, Relaxed);
    }
    value
}

/// Loads a value into the cache; gives the one before.
fn store(cache: &DashMap<u64, u64>, key: u64) -> Option<u64> {
    cache.insert(key, key * 2)
}

/// Takes a value out of the cache.
fn evict(cache: &DashMap<u64, u64>, key: u64) -> Option<u64> {
    cache.remove(&key).map(|(_, value)| value)
}
// end
