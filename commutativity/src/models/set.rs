//! A set: `DashSet`, `HashSet`.

use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::Arc;

use super::keyed::{self, Footprint, Whole};
use super::map::after;
use super::methods::specification;
use crate::Condition::{self, Always, Never};
use crate::{Invocation, MethodId, Scan, Side, Value};

methods! {
    from 0;
    /// `contains(x)`: a Boolean.
    CONTAINS = contains(x: Key), environment;
    /// `insert(x)`: whether `x` was not there.
    INSERT = insert(x: Key), environment;
    /// `remove(x)`: whether `x` was there.
    REMOVE = remove(x: Key), environment;
    /// `next_after(c)`: the smallest element greater than `c`, or `none`: a step of an iteration. The cursor `none`
    /// stands before all elements.
    NEXT_AFTER = next_after(c: Cursor);
    /// `len()`: how many elements there are.
    LEN = len();
    /// `is_empty()`: a Boolean.
    IS_EMPTY = is_empty();
    /// `clear()`: removes every element.
    CLEAR = clear();
}

/// A set; its state is a [`Value::Set`].
#[derive(Clone, Copy, Debug, Default)]
pub struct SetModel;

model! {
    SetModel = "set", initially |_| Value::set([]);
    methods: ENTRIES.iter().copied();
    table: specification("set", ENTRIES.iter().copied(), Some("x"), |row, column| {
        keyed::conflict((row, column), whole, footprint, same_element)
    });
    run: (Value::Set(elements), call) => run(elements, call);
}

/// The methods on the whole set.
pub(super) fn whole(method: MethodId, side: Side) -> Option<Whole> {
    match method {
        NEXT_AFTER => Some(Whole::Read(Scan::After(Box::new(side.argument(0))))),
        LEN => Some(Whole::Len),
        IS_EMPTY => Some(Whole::IsEmpty),
        CLEAR => Some(Whole::Clear),
        _ => None,
    }
}

/// What a method on one element does.
pub(super) fn footprint(method: MethodId, side: Side) -> Footprint {
    let present = Condition::Contains(side.argument(0));
    let absent = !present.clone();
    let reads = Footprint { adds: Never, removes: Never, writes: Never, notices: present.clone() };
    match method {
        INSERT => Footprint { adds: absent.clone(), removes: Never, writes: absent, notices: Always },
        REMOVE => Footprint { removes: present.clone(), writes: present, ..reads },
        _ => reads,
    }
}

/// When two methods do not commute on the same element.
pub(super) fn same_element(row: MethodId, column: MethodId) -> Condition {
    match (row, column) {
        (CONTAINS, writer) => footprint(writer, Side::Column).writes,
        (INSERT, REMOVE) => Always,
        // Two insertions, two removals: the first one that does something changes the result of the other.
        _ => footprint(row, Side::Row).writes,
    }
}

/// Runs a call of a method of [`ENTRIES`]; nothing when there is no such method, or not with so many arguments.
pub(super) fn run(elements: &mut Arc<BTreeSet<Value>>, call: &Invocation) -> Option<Value> {
    let result = match (call.method, call.arguments.as_slice()) {
        (CONTAINS, [element]) => Value::Bool(elements.contains(element)),
        (INSERT, [element]) => {
            let new = !elements.contains(element);
            if new {
                Arc::make_mut(elements).insert(element.clone());
            }
            Value::Bool(new)
        }
        (REMOVE, [element]) => {
            let present = elements.contains(element);
            if present {
                Arc::make_mut(elements).remove(element);
            }
            Value::Bool(present)
        }
        (NEXT_AFTER, [cursor]) => Value::option(elements.range((after(cursor), Bound::Unbounded)).next().cloned()),
        (LEN, []) => Value::Int(elements.len() as i64),
        (IS_EMPTY, []) => Value::Bool(elements.is_empty()),
        (CLEAR, []) => {
            if !elements.is_empty() {
                *elements = Arc::default();
            }
            Value::Unit
        }
        _ => return None,
    };
    Some(result)
}
