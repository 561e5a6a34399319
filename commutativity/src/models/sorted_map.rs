//! A sorted map: `SkipMap`, `BTreeMap`. The methods of [`map`] come first, with the same indices.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::keyed::{self, Whole};
use super::map::{self, entry};
use super::methods::{Entry, specification};
use crate::{Invocation, MethodId, Scan, Side, Value};

pub use super::map::{
    CLEAR, CONTAINS_KEY, GET, INSERT, INSERT_IF_ABSENT, IS_EMPTY, LEN, MODIFY, NEXT_AFTER, REMOVE, REMOVE_IF_EQUAL,
    REPLACE, REPLACE_IF_EQUAL,
};

methods! {
    from map::ENTRIES.len() as u8;
    /// `first()`: the entry with the smallest key, as a pair, or `none`.
    FIRST = first(), environment;
    /// `last()`: the entry with the largest key, as a pair, or `none`.
    LAST = last(), environment;
    /// `pop_first()`: removes and gives the entry with the smallest key, or `none`.
    POP_FIRST = pop_first(), environment;
    /// `pop_last()`: removes and gives the entry with the largest key, or `none`.
    POP_LAST = pop_last(), environment;
    /// `lower_bound(b)`: the entry with the first key at or above `b`, as a pair, or `none`.
    LOWER_BOUND = lower_bound(b: Key);
    /// `upper_bound(b)`: the entry with the last key at or below `b`, as a pair, or `none`.
    UPPER_BOUND = upper_bound(b: Key);
}

/// A map whose keys are in order; its state is a [`Value::Map`].
#[derive(Clone, Copy, Debug, Default)]
pub struct SortedMapModel;

model! {
    SortedMapModel = "sorted-map", initially |_| Value::map([]);
    methods: entries();
    table: specification("sorted-map", entries(), Some("k"), |row, column| {
        keyed::conflict((row, column), whole, map::footprint, map::same_key)
    });
    run: (Value::Map(entries), call) => map::run(entries, call).or_else(|| run(entries, call));
}

fn entries() -> impl Iterator<Item = Entry> {
    map::ENTRIES.iter().chain(ENTRIES).copied()
}

fn whole(method: MethodId, side: Side) -> Option<Whole> {
    let bound = || Box::new(side.argument(0));
    match method {
        FIRST => Some(Whole::Read(Scan::First)),
        LAST => Some(Whole::Read(Scan::Last)),
        POP_FIRST => Some(Whole::Pop(Scan::First)),
        POP_LAST => Some(Whole::Pop(Scan::Last)),
        LOWER_BOUND => Some(Whole::Read(Scan::AtLeast(bound()))),
        UPPER_BOUND => Some(Whole::Read(Scan::AtMost(bound()))),
        _ => map::whole(method, side),
    }
}

fn run(entries: &mut Arc<BTreeMap<Value, Value>>, call: &Invocation) -> Option<Value> {
    let result = match (call.method, call.arguments.as_slice()) {
        (FIRST, []) => entry(entries.first_key_value()),
        (LAST, []) => entry(entries.last_key_value()),
        (POP_FIRST, []) => popped(entries, BTreeMap::pop_first),
        (POP_LAST, []) => popped(entries, BTreeMap::pop_last),
        (LOWER_BOUND, [bound]) => entry(entries.range(bound..).next()),
        (UPPER_BOUND, [bound]) => entry(entries.range(..=bound).next_back()),
        _ => return None,
    };
    Some(result)
}

fn popped(
    entries: &mut Arc<BTreeMap<Value, Value>>,
    pop: impl FnOnce(&mut BTreeMap<Value, Value>) -> Option<(Value, Value)>,
) -> Value {
    if entries.is_empty() {
        return Value::None;
    }
    pop(Arc::make_mut(entries)).map_or(Value::None, |(key, value)| Value::tuple([key, value]))
}
