//! Multimaps and reference counts: entries that are removed when they are empty.

use interloper::MethodUnderTest;
use interloper::collections::DashMap;
use interloper::collections::dashmap::Entry;

use super::{EVERYDAY, boxed};
use crate::Case;
use crate::source::Family;

const FILE: Family = Family::new(EVERYDAY, include_str!("registries.rs"));

pub(super) fn cases() -> Vec<Case> {
    vec![
        FILE.bad(
            "subscribe-get-or-insert",
            "subscribe-entry",
            "Adds to the list of a key, or inserts a list when there was none: another list may be overwritten.",
            || boxed(MethodUnderTest::new("subscribe", DashMap::new, subscribe).arguments([(7, 1)])),
        ),
        FILE.good("subscribe-entry", "Adds to the list of a key inside the entry.", || {
            let method = MethodUnderTest::new("subscribe", DashMap::new, subscribe_entry);
            boxed(method.arguments([(7, 1)]).values([vec![1], vec![2]]))
        }),
        FILE.bad(
            "unsubscribe-then-remove",
            "unsubscribe-entry",
            "Removes the list of a key when it was empty a moment ago, with whatever was added since.",
            || {
                let method = MethodUnderTest::new("unsubscribe", DashMap::new, unsubscribe);
                boxed(method.arguments([(7, 1)]).values([vec![1], vec![2]]))
            },
        ),
        FILE.bad(
            "unsubscribe-then-remove-if-empty",
            "unsubscribe-entry",
            "Removes the list of a key if it is still empty: nothing is lost, but the empty list was seen.",
            || {
                let method = MethodUnderTest::new("unsubscribe", DashMap::new, unsubscribe_remove_if);
                boxed(method.arguments([(7, 1)]).values([vec![1], vec![2]]))
            },
        ),
        FILE.good(
            "unsubscribe-entry",
            "Removes from the list of a key, and the list when it is empty, inside the entry.",
            || {
                let method = MethodUnderTest::new("unsubscribe", DashMap::new, unsubscribe_entry);
                boxed(method.arguments([(7, 1)]).values([vec![1], vec![2]]))
            },
        ),
        FILE.bad(
            "acquire-get-or-insert",
            "acquire-entry",
            "Counts one more holder, or begins at one when there was none: a holder is forgotten.",
            || boxed(MethodUnderTest::new("acquire", DashMap::new, acquire).arguments([7])),
        ),
        FILE.good("acquire-entry", "Counts one more holder inside the entry.", || {
            boxed(MethodUnderTest::new("acquire", DashMap::new, acquire_entry).arguments([7]).values([1, 2]))
        }),
        FILE.good(
            "release-entry",
            "Counts one holder less, and removes the count when it is zero, inside the entry.",
            || boxed(MethodUnderTest::new("release", DashMap::new, release_entry).arguments([7]).values([1, 2])),
        ),
    ]
}

// case: subscribe-get-or-insert
/// Adds a subscriber to a topic.
fn subscribe(topics: &DashMap<u64, Vec<u64>>, (topic, subscriber): (u64, u64)) {
    if let Some(mut subscribers) = topics.get_mut(&topic) {
        subscribers.push(subscriber);
        return;
    }
    topics.insert(topic, vec![subscriber]);
}
// end

// case: subscribe-entry
/// Adds a subscriber to a topic.
fn subscribe_entry(topics: &DashMap<u64, Vec<u64>>, (topic, subscriber): (u64, u64)) {
    topics.entry(topic).or_default().push(subscriber);
}
// end

// case: unsubscribe-then-remove
/// Removes a subscriber from a topic, and the topic when nobody is left.
fn unsubscribe(topics: &DashMap<u64, Vec<u64>>, (topic, subscriber): (u64, u64)) {
    let mut deserted = false;
    if let Some(mut subscribers) = topics.get_mut(&topic) {
        subscribers.retain(|other| *other != subscriber);
        deserted = subscribers.is_empty();
    }
    if deserted {
        topics.remove(&topic);
    }
}
// end

// case: unsubscribe-then-remove-if-empty
/// Removes a subscriber from a topic, and the topic when nobody is left.
fn unsubscribe_remove_if(topics: &DashMap<u64, Vec<u64>>, (topic, subscriber): (u64, u64)) {
    if let Some(mut subscribers) = topics.get_mut(&topic) {
        subscribers.retain(|other| *other != subscriber);
    }
    topics.remove_if(&topic, |_, subscribers| subscribers.is_empty());
}
// end

// case: unsubscribe-entry
/// Removes a subscriber from a topic, and the topic when nobody is left.
fn unsubscribe_entry(topics: &DashMap<u64, Vec<u64>>, (topic, subscriber): (u64, u64)) {
    if let Entry::Occupied(mut subscribers) = topics.entry(topic) {
        subscribers.get_mut().retain(|other| *other != subscriber);
        if subscribers.get().is_empty() {
            subscribers.remove();
        }
    }
}
// end

// case: acquire-get-or-insert
/// Opens a file once more; gives how many hold it.
fn acquire(holders: &DashMap<u64, u64>, file: u64) -> u64 {
    if let Some(mut count) = holders.get_mut(&file) {
        *count += 1;
        return *count;
    }
    holders.insert(file, 1);
    1
}
// end

// case: acquire-entry
/// Opens a file once more; gives how many hold it.
fn acquire_entry(holders: &DashMap<u64, u64>, file: u64) -> u64 {
    let mut count = holders.entry(file).or_insert(0);
    *count += 1;
    *count
}
// end

// case: release-entry
/// Gives a file back; gives how many still hold it, if anybody did.
fn release_entry(holders: &DashMap<u64, u64>, file: u64) -> Option<u64> {
    let Entry::Occupied(mut count) = holders.entry(file) else { return None };
    let left = *count.get() - 1;
    if left == 0 {
        count.remove();
    } else {
        count.insert(left);
    }
    Some(left)
}
// end
