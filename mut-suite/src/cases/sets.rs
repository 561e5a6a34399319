//! Sets of things done, taken or chosen.

use std::collections::{BTreeSet, HashSet};

use interloper::MethodUnderTest;
use interloper::collections::dashmap::Entry;
use interloper::collections::{DashMap, Mutex, RwLock};

use super::{EVERYDAY, boxed, briefly};
use crate::Case;
use crate::source::Family;

const FILE: Family = Family::new(EVERYDAY, include_str!("sets.rs"));

pub(super) fn cases() -> Vec<Case> {
    vec![
        FILE.bad(
            "idempotency-token-contains-then-insert",
            "idempotency-token-insert",
            "Executes a request unless its token was seen: the same request can be executed twice.",
            || boxed(MethodUnderTest::new("admit", DashMap::new, admit_checked).arguments([7])),
        ),
        FILE.good("idempotency-token-insert", "Executes a request when its token could be inserted.", || {
            boxed(MethodUnderTest::new("admit", DashMap::new, admit).arguments([7]))
        }),
        FILE.bad(
            "toggle-remove-or-insert",
            "toggle-entry",
            "Takes a mark away, or makes one when there was none.",
            || boxed(MethodUnderTest::new("toggle", DashMap::new, toggle).arguments([7])),
        ),
        FILE.good("toggle-entry", "Takes a mark away or makes one inside the entry.", || {
            boxed(MethodUnderTest::new("toggle", DashMap::new, toggle_entry).arguments([7]))
        }),
        FILE.bad(
            "reserve-read-then-write",
            "reserve-write",
            "Looks under the read lock whether a seat is free, and takes it under the write lock.",
            || boxed(MethodUnderTest::new("reserve", RwLock::default, reserve_read_then_write).arguments([7])),
        ),
        FILE.good("reserve-write", "Takes a seat, or not, under the write lock.", || {
            boxed(MethodUnderTest::new("reserve", RwLock::default, reserve).arguments([7]))
        }),
        FILE.modular(
            "first-free-number",
            "first-free-number-locked",
            "Tries number after number until one can be taken; a smaller one may be free by then, in a program that \
             gives numbers back.",
            || boxed(MethodUnderTest::new("take_number", DashMap::new, take_number).without("remove")),
        ),
        FILE.good("first-free-number-locked", "Finds the first free number, and takes it, under one lock.", || {
            boxed(briefly(MethodUnderTest::new("take_number", Mutex::default, take_number_locked)))
        }),
    ]
}

// case: idempotency-token-contains-then-insert
/// Whether the request with this token is to be executed.
fn admit_checked(seen: &DashMap<u64, ()>, token: u64) -> bool {
    if seen.contains_key(&token) {
        return false;
    }
    seen.insert(token, ());
    true
}
// end

// case: idempotency-token-insert
/// Whether the request with this token is to be executed.
fn admit(seen: &DashMap<u64, ()>, token: u64) -> bool {
    seen.insert(token, ()).is_none()
}
// end

// case: toggle-remove-or-insert
/// Marks a message, or takes its mark away.
fn toggle(marked: &DashMap<u64, ()>, message: u64) {
    if marked.remove(&message).is_none() {
        marked.insert(message, ());
    }
}
// end

// case: toggle-entry
/// Marks a message, or takes its mark away.
fn toggle_entry(marked: &DashMap<u64, ()>, message: u64) {
    match marked.entry(message) {
        Entry::Occupied(mark) => mark.remove(),
        Entry::Vacant(place) => *place.insert(()),
    }
}
// end

// case: reserve-read-then-write
/// Reserves a seat; says whether it was free.
fn reserve_read_then_write(taken: &RwLock<HashSet<u64>>, seat: u64) -> bool {
    if taken.read().unwrap().contains(&seat) {
        return false;
    }
    taken.write().unwrap().insert(seat);
    true
}
// end

// case: reserve-write
/// Reserves a seat; says whether it was free.
fn reserve(taken: &RwLock<HashSet<u64>>, seat: u64) -> bool {
    taken.write().unwrap().insert(seat)
}
// end

// case: first-free-number
/// Takes the smallest free number, from 1 on.
fn take_number(taken: &DashMap<u64, ()>, (): ()) -> u64 {
    let mut number = 1;
    while taken.insert(number, ()).is_some() {
        number += 1;
    }
    number
}
// end

// case: first-free-number-locked
/// Takes the smallest free number, from 1 on.
fn take_number_locked(taken: &Mutex<BTreeSet<u64>>, (): ()) -> u64 {
    let mut taken = taken.lock().unwrap();
    let mut number = 1;
    while !taken.insert(number) {
        number += 1;
    }
    number
}
// end
