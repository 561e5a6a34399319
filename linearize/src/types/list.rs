//! What the types whose state is a list have in common.

use interloper_commutativity::Value;

use super::{Shape, Signature, changes, count, elements, error, listing, reads};

/// The methods of a Java `Collection` whose elements are in an order of their own.
pub(super) const COLLECTION: [Signature; 12] = [
    changes("remove", &[Shape::Any]),
    changes("removeAll", &[Shape::Elements]),
    changes("retainAll", &[Shape::Elements]),
    changes("clear", &[]),
    reads("contains", &[Shape::Any]),
    reads("containsAll", &[Shape::Elements]),
    reads("size", &[]),
    reads("isEmpty", &[]),
    reads("toArray", &[]),
    reads("toString", &[]),
    reads("peek", &[]),
    reads("element", &[]),
];

/// Changes a state that is a list.
///
/// # Panics
/// When it is none.
pub(super) fn change<R>(state: &mut Value, change: impl FnOnce(&mut Vec<Value>) -> R) -> R {
    let mut items = items(state).to_vec();
    let result = change(&mut items);
    if items.as_slice() != self::items(state) {
        *state = Value::list(items);
    }
    result
}

/// The items of a state that is a list.
///
/// # Panics
/// When it is none.
pub(super) fn items(state: &Value) -> &[Value] {
    match state {
        Value::List(items) => items,
        other => panic!("{other} is no state of a list"),
    }
}

/// Runs a method of [`COLLECTION`]. The next element to be removed is at index 0.
pub(super) fn collection(state: &mut Value, method: &str, arguments: &[Value]) -> Option<Value> {
    let result = match (method, arguments) {
        ("remove", [item]) => change(state, |items| {
            let found = items.iter().position(|other| other == item);
            Value::Bool(found.map(|index| items.remove(index)).is_some())
        }),
        ("removeAll", [others]) => keep(state, |item| !elements(others).contains(&item)),
        ("retainAll", [others]) => keep(state, |item| elements(others).contains(&item)),
        ("clear", []) => {
            *state = Value::list([]);
            Value::Unit
        }
        ("contains", [item]) => Value::Bool(items(state).contains(item)),
        ("containsAll", [others]) => Value::Bool(elements(others).iter().all(|item| items(state).contains(item))),
        ("size", []) => count(items(state).len()),
        ("isEmpty", []) => Value::Bool(items(state).is_empty()),
        ("toArray", []) => state.clone(),
        ("toString", []) => listing(items(state)),
        ("peek", []) => items(state).first().cloned().unwrap_or_default(),
        ("element", []) => items(state).first().cloned().unwrap_or_else(empty),
        _ => return None,
    };
    Some(result)
}

/// Keeps some items; the result says whether others were dropped.
fn keep(state: &mut Value, keep: impl Fn(&Value) -> bool) -> Value {
    change(state, |items| {
        let before = items.len();
        items.retain(keep);
        Value::Bool(items.len() < before)
    })
}

/// The exception of a method that needs an element.
pub(super) fn empty() -> Value {
    error("empty")
}

/// Removes and gives the first item.
pub(super) fn take_first(state: &mut Value) -> Option<Value> {
    change(state, |items| (!items.is_empty()).then(|| items.remove(0)))
}

/// Removes and gives the last item.
pub(super) fn take_last(state: &mut Value) -> Option<Value> {
    change(state, Vec::pop)
}
