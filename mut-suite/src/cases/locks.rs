//! Check and act under locks: in two critical sections, and in one.

use std::collections::{BTreeMap, HashMap};

use interloper::MethodUnderTest;
use interloper::collections::{DashMap, Mutex, RwLock};

use super::{EVERYDAY, boxed, briefly};
use crate::Case;
use crate::source::Family;

const FILE: Family = Family::new(EVERYDAY, include_str!("locks.rs"));

pub(super) fn cases() -> Vec<Case> {
    vec![
        FILE.bad(
            "withdraw-two-sections",
            "withdraw-one-section",
            "Looks under the lock whether there is enough, and takes it under the lock: there may be less by then.",
            || {
                let method = MethodUnderTest::new("withdraw", Mutex::default, withdraw_two_sections);
                boxed(method.arguments([(7, 5)]).values([3, 8]))
            },
        ),
        FILE.good("withdraw-one-section", "Takes what there is enough of under one lock.", || {
            let method = MethodUnderTest::new("withdraw", Mutex::default, withdraw);
            boxed(method.arguments([(7, 5)]).keys([7]).values([3, 8]))
        }),
        FILE.bad(
            "append-two-sections",
            "append-one-section",
            "Gives the position of a line that it adds in another critical section.",
            || boxed(MethodUnderTest::new("append", Mutex::default, append_two_sections).arguments([5])),
        ),
        FILE.good(
            "append-one-section",
            "Gives the position of a line that it adds in the same critical section.",
            || boxed(briefly(MethodUnderTest::new("append", Mutex::default, append).arguments([5]))),
        ),
        FILE.bad(
            "next-key-read-then-write",
            "next-key-write",
            "Finds the next key under the read lock and uses it under the write lock.",
            || boxed(MethodUnderTest::new("add", RwLock::default, add_read_then_write).arguments([70])),
        ),
        FILE.good("next-key-write", "Finds the next key and uses it under the write lock.", || {
            boxed(briefly(MethodUnderTest::new("add", RwLock::default, add).arguments([70]).keys([1, 2]).values([70])))
        }),
        FILE.bad(
            "write-under-own-guard",
            "change-through-guard",
            "Inserts at a key while its own read guard keeps the shard locked, and waits for itself.",
            || boxed(MethodUnderTest::new("touch", DashMap::new, touch_under_guard).arguments([7])),
        ),
        FILE.good("change-through-guard", "Changes a value through a write guard.", || {
            boxed(MethodUnderTest::new("touch", DashMap::new, touch).arguments([7]).values([1, 2]))
        }),
    ]
}

// case: withdraw-two-sections
/// Withdraws an amount; says whether there was enough.
fn withdraw_two_sections(accounts: &Mutex<HashMap<u64, i64>>, (account, amount): (u64, i64)) -> bool {
    let balance = accounts.lock().unwrap().get(&account).copied().unwrap_or(0);
    if balance < amount {
        return false;
    }
    *accounts.lock().unwrap().entry(account).or_insert(0) -= amount;
    true
}
// end

// case: withdraw-one-section
/// Withdraws an amount; says whether there was enough.
fn withdraw(accounts: &Mutex<HashMap<u64, i64>>, (account, amount): (u64, i64)) -> bool {
    let mut accounts = accounts.lock().unwrap();
    match accounts.get_mut(&account) {
        Some(balance) if *balance >= amount => {
            *balance -= amount;
            true
        }
        _ => false,
    }
}
// end

// case: append-two-sections
/// Adds a line to the log; gives its position.
fn append_two_sections(log: &Mutex<Vec<u64>>, line: u64) -> usize {
    let position = log.lock().unwrap().len();
    log.lock().unwrap().push(line);
    position
}
// end

// case: append-one-section
/// Adds a line to the log; gives its position.
fn append(log: &Mutex<Vec<u64>>, line: u64) -> usize {
    let mut log = log.lock().unwrap();
    log.push(line);
    log.len() - 1
}
// end

// case: next-key-read-then-write
/// Adds a ticket under the next number; gives it.
fn add_read_then_write(tickets: &RwLock<BTreeMap<u64, u64>>, ticket: u64) -> u64 {
    let number = tickets.read().unwrap().last_key_value().map_or(1, |(last, _)| last + 1);
    tickets.write().unwrap().insert(number, ticket);
    number
}
// end

// case: next-key-write
/// Adds a ticket under the next number; gives it.
fn add(tickets: &RwLock<BTreeMap<u64, u64>>, ticket: u64) -> u64 {
    let mut tickets = tickets.write().unwrap();
    let number = tickets.last_key_value().map_or(1, |(last, _)| last + 1);
    tickets.insert(number, ticket);
    number
}
// end

// case: write-under-own-guard
/// Counts a visit to a page that is known.
fn touch_under_guard(visits: &DashMap<u64, u64>, page: u64) {
    if let Some(count) = visits.get(&page) {
        visits.insert(page, *count + 1);
    }
}
// end

// case: change-through-guard
/// Counts a visit to a page that is known.
fn touch(visits: &DashMap<u64, u64>, page: u64) {
    if let Some(mut count) = visits.get_mut(&page) {
        *count += 1;
    }
}
// end
