//! A sorted set: `SkipSet`, `BTreeSet`. The methods of [`set`] come first, with the same indices.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::keyed::{self, Whole};
use super::methods::{Entry, specification};
use super::set;
use crate::{Invocation, MethodId, Scan, Side, Value};

pub use super::set::{CLEAR, CONTAINS, INSERT, IS_EMPTY, LEN, NEXT_AFTER, REMOVE};

methods! {
    from set::ENTRIES.len() as u8;
    /// `first()`: the smallest element, or `none`.
    FIRST = first(), environment;
    /// `last()`: the largest element, or `none`.
    LAST = last(), environment;
    /// `pop_first()`: removes and gives the smallest element, or `none`.
    POP_FIRST = pop_first(), environment;
    /// `pop_last()`: removes and gives the largest element, or `none`.
    POP_LAST = pop_last(), environment;
    /// `lower_bound(b)`: the first element at or above `b`, or `none`.
    LOWER_BOUND = lower_bound(b: Key);
    /// `upper_bound(b)`: the last element at or below `b`, or `none`.
    UPPER_BOUND = upper_bound(b: Key);
}

/// A set whose elements are in order; its state is a [`Value::Set`].
#[derive(Clone, Copy, Debug, Default)]
pub struct SortedSetModel;

model! {
    SortedSetModel = "sorted-set", initially |_| Value::set([]);
    methods: entries();
    table: specification("sorted-set", entries(), Some("x"), |row, column| {
        keyed::conflict((row, column), whole, set::footprint, set::same_element)
    });
    run: (Value::Set(elements), call) => set::run(elements, call).or_else(|| run(elements, call));
}

fn entries() -> impl Iterator<Item = Entry> {
    set::ENTRIES.iter().chain(ENTRIES).copied()
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
        _ => set::whole(method, side),
    }
}

fn run(elements: &mut Arc<BTreeSet<Value>>, call: &Invocation) -> Option<Value> {
    let found = match (call.method, call.arguments.as_slice()) {
        (FIRST, []) => elements.first().cloned(),
        (LAST, []) => elements.last().cloned(),
        (POP_FIRST | POP_LAST, []) if elements.is_empty() => None,
        (POP_FIRST, []) => Arc::make_mut(elements).pop_first(),
        (POP_LAST, []) => Arc::make_mut(elements).pop_last(),
        (LOWER_BOUND, [bound]) => elements.range(bound..).next().cloned(),
        (UPPER_BOUND, [bound]) => elements.range(..=bound).next_back().cloned(),
        _ => return None,
    };
    Some(Value::option(found))
}
