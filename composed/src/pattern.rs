//! What the calls of an operation look like.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::collections::{Effect, Family};
use crate::flow::Pairs;
use crate::values::Made;

/// What the calls of an operation look like. If several fit, the first of this list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// Gets a value, then inserts one.
    GetThenInsert,
    /// Asks whether something is there, then acts.
    CheckThenAct,
    /// Asks how much is there, then adds something.
    LenThenPush,
    /// Gets a value, then removes it.
    GetThenRemove,
    /// Reads a number, or a pointer, then writes it.
    ReadModifyWrite,
    /// Removes something, then inserts.
    RemoveThenInsert,
    /// Goes over all entries, then removes some.
    IterateThenRemove,
    /// Goes over all entries, then writes.
    IterateThenWrite,
    /// Writes if what was read is still there, and tries again otherwise.
    CompareExchangeLoop,
    /// Inserts, then removes.
    InsertThenRemove,
    /// Writes, then reads.
    WriteThenRead,
    /// Writes several times.
    SeveralWrites,
    /// Reads several times.
    SeveralReads,
    /// Calls several collections of one owner.
    SeveralCollections,
    /// Makes one call again and again.
    Loop,
}

impl fmt::Display for Pattern {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(match self {
            Pattern::GetThenInsert => "get-then-insert",
            Pattern::CheckThenAct => "check-then-act",
            Pattern::LenThenPush => "len-then-push",
            Pattern::GetThenRemove => "get-then-remove",
            Pattern::ReadModifyWrite => "read-modify-write",
            Pattern::RemoveThenInsert => "remove-then-insert",
            Pattern::IterateThenRemove => "iterate-then-remove",
            Pattern::IterateThenWrite => "iterate-then-write",
            Pattern::CompareExchangeLoop => "compare-exchange-loop",
            Pattern::InsertThenRemove => "insert-then-remove",
            Pattern::WriteThenRead => "write-then-read",
            Pattern::SeveralWrites => "several-writes",
            Pattern::SeveralReads => "several-reads",
            Pattern::SeveralCollections => "several-collections",
            Pattern::Loop => "loop",
        })
    }
}

impl Pattern {
    /// What to write instead, so that the operation is one step; `None` where that depends on what the code is for.
    pub fn advice(self) -> Option<&'static str> {
        Some(match self {
            Pattern::GetThenInsert => {
                "one call decides and inserts: `entry(key).or_insert_with(…)`, `get_or_insert_with`, `get_or_init`; under a \
                 lock, one critical section"
            }
            Pattern::CheckThenAct => {
                "let the call that acts decide: the result of `insert` or `remove`, `entry`, `remove_if`, `compute`; under a \
                 lock, one critical section"
            }
            Pattern::LenThenPush => {
                "a collection with a capacity (`ArrayQueue::push`), or one critical section around the length and the push"
            }
            Pattern::GetThenRemove => "`remove` gives the value; `remove_if` removes it only if it is still the same",
            Pattern::ReadModifyWrite => {
                "`fetch_add`, `fetch_max`, `fetch_update`, or a loop on `compare_exchange`; `rcu` for a pointer"
            }
            Pattern::RemoveThenInsert | Pattern::InsertThenRemove => {
                "one call changes the entry in its place: `entry(key).and_modify(…)`, `alter`, `compute`, `get_mut`"
            }
            Pattern::IterateThenRemove => {
                "`retain` decides and removes entry by entry; `remove_if` looks again before it removes"
            }
            Pattern::IterateThenWrite => {
                "`alter_all` or `iter_mut` changes each entry where it is; all at once needs one lock"
            }
            Pattern::WriteThenRead => "use what the writing call gives: the old value, the entry, the guard",
            Pattern::SeveralCollections => "one lock around both, or one collection whose values have both parts",
            Pattern::CompareExchangeLoop | Pattern::SeveralWrites | Pattern::SeveralReads | Pattern::Loop => {
                return None;
            }
        })
    }
}

/// What these pairs of calls look like.
pub(crate) fn of(made: &[Made], pairs: &Pairs) -> Pattern {
    let retries = |first: usize| pairs.around.iter().any(|(from, _)| *from == first);
    let name = |&(first, second): &(usize, usize)| {
        let (one, other) = (&made[first], &made[second]);
        match () {
            () if one.placed != other.placed => Pattern::SeveralCollections,
            () if one.total() == Effect::Get && other.effect == Effect::Exchange => {
                if retries(second) {
                    Pattern::CompareExchangeLoop
                } else {
                    Pattern::ReadModifyWrite
                }
            }
            () => of_two(one.family, one.total(), other.total()),
        }
    };
    let straight = pairs.straight.iter().filter(|(first, second)| first != second).map(name).min();
    let around = || pairs.around.iter().filter(|(first, second)| first != second).map(name).min();
    straight.or_else(around).unwrap_or(Pattern::Loop)
}

/// Two calls on the same collection.
fn of_two(family: Family, first: Effect, second: Effect) -> Pattern {
    let scalar = matches!(family, Family::Atomic | Family::Swap);
    let adds = matches!(second, Effect::Insert | Effect::Change | Effect::Other | Effect::Exchange);
    match (first, second) {
        (Effect::Get, second) if scalar && !second.reads_only() => Pattern::ReadModifyWrite,
        (Effect::Get, _) if adds => Pattern::GetThenInsert,
        (Effect::Get, Effect::Remove) => Pattern::GetThenRemove,
        (Effect::Size, _) if adds => Pattern::LenThenPush,
        (Effect::Check | Effect::Size, second) if !second.reads_only() => Pattern::CheckThenAct,
        (Effect::Remove, _) if adds => Pattern::RemoveThenInsert,
        (Effect::Iterate, Effect::Remove) => Pattern::IterateThenRemove,
        (Effect::Iterate, second) if !second.reads_only() => Pattern::IterateThenWrite,
        (first, Effect::Remove) if !first.reads_only() => Pattern::InsertThenRemove,
        (first, second) => match (first.reads_only(), second.reads_only()) {
            (true, true) => Pattern::SeveralReads,
            (false, true) => Pattern::WriteThenRead,
            _ => Pattern::SeveralWrites,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(family: Family, first: &str, second: &str, expected: Pattern) {
        let effect = |method| crate::collections::effect(family, method).expect("a call");
        assert_eq!(of_two(family, effect(first), effect(second)), expected);
    }

    #[test]
    fn two_calls_have_a_name() {
        use Pattern::{CheckThenAct, GetThenInsert, LenThenPush, ReadModifyWrite, RemoveThenInsert};
        check(Family::Map, "get", "insert", GetThenInsert);
        check(Family::Map, "contains_key", "insert", CheckThenAct);
        check(Family::Map, "remove", "insert", RemoveThenInsert);
        check(Family::Map, "remove", "remove", Pattern::InsertThenRemove);
        check(Family::Map, "iter", "remove", Pattern::IterateThenRemove);
        check(Family::Map, "get", "get", Pattern::SeveralReads);
        check(Family::Map, "insert", "get", Pattern::WriteThenRead);
        check(Family::Queue, "len", "push", LenThenPush);
        check(Family::Queue, "is_empty", "pop", CheckThenAct);
        check(Family::Atomic, "load", "store", ReadModifyWrite);
        check(Family::Atomic, "load", "fetch_add", ReadModifyWrite);
        check(Family::Once, "get", "set", GetThenInsert);
        check(Family::Swap, "load", "store", ReadModifyWrite);
    }
}
