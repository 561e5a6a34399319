//! Several keys of one map.

use std::collections::HashMap;

use interloper::MethodUnderTest;
use interloper::collections::{DashMap, Mutex};

use super::{EVERYDAY, boxed, briefly, from_few_states};
use crate::Case;
use crate::source::Family;

const FILE: Family = Family::new(EVERYDAY, include_str!("keys.rs"));

pub(super) fn cases() -> Vec<Case> {
    vec![
        FILE.bad(
            "rename-remove-then-insert",
            "rename-locked",
            "Moves a value to another key; for a while it is under neither.",
            || {
                boxed(from_few_states(
                    MethodUnderTest::new("rename", DashMap::new, rename).arguments([(1, 2)]).values([10]),
                ))
            },
        ),
        FILE.good("rename-locked", "Moves a value to another key under one lock.", || {
            boxed(briefly(MethodUnderTest::new("rename", Mutex::default, rename_locked).arguments([(1, 2)])))
        }),
        FILE.bad(
            "swap-values",
            "swap-values-locked",
            "Swaps the values of two keys by two reads and two writes.",
            || boxed(MethodUnderTest::new("swap", DashMap::new, swap).arguments([(1, 2)])),
        ),
        FILE.good("swap-values-locked", "Swaps the values of two keys under one lock.", || {
            boxed(briefly(MethodUnderTest::new("swap", Mutex::default, swap_locked).arguments([(1, 2)])))
        }),
        FILE.bad(
            "batch-insert",
            "batch-insert-locked",
            "Inserts two entries that belong together one after the other.",
            || boxed(from_few_states(MethodUnderTest::new("publish", DashMap::new, publish).arguments([(3, 4)]))),
        ),
        FILE.good("batch-insert-locked", "Inserts two entries that belong together under one lock.", || {
            boxed(briefly(MethodUnderTest::new("publish", Mutex::default, publish_locked).arguments([(3, 4)])))
        }),
        FILE.bad(
            "transfer",
            "transfer-locked",
            "Moves money between two accounts; for a while it is on neither.",
            || boxed(MethodUnderTest::new("transfer", DashMap::new, transfer).arguments([(1, 2)]).values([0, 5])),
        ),
        FILE.good("transfer-locked", "Moves money between two accounts under one lock.", || {
            boxed(briefly(
                MethodUnderTest::new("transfer", Mutex::default, transfer_locked).arguments([(1, 2)]).values([0, 5]),
            ))
        }),
    ]
}

// case: rename-remove-then-insert
/// Renames a file; says whether there was one.
fn rename(files: &DashMap<u64, u64>, (from, to): (u64, u64)) -> bool {
    match files.remove(&from) {
        None => false,
        Some((_, content)) => {
            files.insert(to, content);
            true
        }
    }
}
// end

// case: rename-locked
/// Renames a file; says whether there was one.
fn rename_locked(files: &Mutex<HashMap<u64, u64>>, (from, to): (u64, u64)) -> bool {
    let mut files = files.lock().unwrap();
    match files.remove(&from) {
        None => false,
        Some(content) => {
            files.insert(to, content);
            true
        }
    }
}
// end

// case: swap-values
/// Swaps what two players hold, when both are there.
fn swap(hands: &DashMap<u64, u64>, (left, right): (u64, u64)) {
    let in_left = hands.get(&left).map(|hand| *hand);
    let in_right = hands.get(&right).map(|hand| *hand);
    if let (Some(in_left), Some(in_right)) = (in_left, in_right) {
        hands.insert(left, in_right);
        hands.insert(right, in_left);
    }
}
// end

// case: swap-values-locked
/// Swaps what two players hold, when both are there.
fn swap_locked(hands: &Mutex<HashMap<u64, u64>>, (left, right): (u64, u64)) {
    let mut hands = hands.lock().unwrap();
    let in_left = hands.get(&left).copied();
    let in_right = hands.get(&right).copied();
    if let (Some(in_left), Some(in_right)) = (in_left, in_right) {
        hands.insert(left, in_right);
        hands.insert(right, in_left);
    }
}
// end

/// Settings that are published together, by number.
const ADDRESS: u64 = 1;
const PORT: u64 = 2;

// case: batch-insert
/// Publishes where a service is.
fn publish(settings: &DashMap<u64, u64>, (address, port): (u64, u64)) {
    for (name, value) in [(ADDRESS, address), (PORT, port)] {
        settings.insert(name, value);
    }
}
// end

// case: batch-insert-locked
/// Publishes where a service is.
fn publish_locked(settings: &Mutex<HashMap<u64, u64>>, (address, port): (u64, u64)) {
    settings.lock().unwrap().extend([(ADDRESS, address), (PORT, port)]);
}
// end

/// What one transfer moves.
const AMOUNT: u64 = 5;

// case: transfer
/// Transfers a fixed amount; says whether there was enough.
fn transfer(accounts: &DashMap<u64, u64>, (from, to): (u64, u64)) -> bool {
    match accounts.get_mut(&from) {
        Some(mut balance) if *balance >= AMOUNT => *balance -= AMOUNT,
        _ => return false,
    }
    *accounts.entry(to).or_insert(0) += AMOUNT;
    true
}
// end

// case: transfer-locked
/// Transfers a fixed amount; says whether there was enough.
fn transfer_locked(accounts: &Mutex<HashMap<u64, u64>>, (from, to): (u64, u64)) -> bool {
    let mut accounts = accounts.lock().unwrap();
    match accounts.get_mut(&from) {
        Some(balance) if *balance >= AMOUNT => *balance -= AMOUNT,
        _ => return false,
    }
    *accounts.entry(to).or_insert(0) += AMOUNT;
    true
}
// end
