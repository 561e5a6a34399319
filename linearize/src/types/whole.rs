//! What methods of the papers do with the whole state of a collection, where no method of its model does it.

use std::ops::Bound::{self, Excluded, Included, Unbounded};
use std::sync::Arc;

use interloper_commutativity::Value;

use super::error;

/// Changes a state, or only reads it, and returns the result. There are as many arguments as the signature has
/// parameters.
pub type Run = fn(&mut Value, &[Value]) -> Value;

/// The elements of a list or a set, the values of a map.
pub(super) fn elements(collection: &Value) -> Vec<&Value> {
    match collection {
        Value::List(items) => items.iter().collect(),
        Value::Set(items) => items.iter().collect(),
        Value::Map(entries) => entries.values().collect(),
        _ => Vec::new(),
    }
}

pub(super) fn contains(state: &mut Value, arguments: &[Value]) -> Value {
    Value::Bool(elements(state).contains(&&arguments[0]))
}

pub(super) fn contains_all(state: &mut Value, arguments: &[Value]) -> Value {
    let there = elements(state);
    Value::Bool(elements(&arguments[0]).iter().all(|item| there.contains(item)))
}

pub(super) fn to_array(state: &mut Value, _: &[Value]) -> Value {
    match state {
        Value::List(_) => state.clone(),
        _ => Value::list(elements(state).into_iter().cloned()),
    }
}

pub(super) fn keys(state: &mut Value, _: &[Value]) -> Value {
    match state {
        Value::Map(entries) => Value::list(entries.keys().cloned()),
        _ => Value::list([]),
    }
}

pub(super) fn entries(state: &mut Value, _: &[Value]) -> Value {
    part(state, Unbounded, Unbounded)
}

/// Java's `toString` of a collection.
pub(super) fn to_string(state: &mut Value, _: &[Value]) -> Value {
    Value::text(match state {
        Value::Map(entries) => {
            let entries: Vec<String> =
                entries.iter().map(|(key, value)| format!("{}={}", java(key), java(value))).collect();
            format!("{{{}}}", entries.join(", "))
        }
        _ => format!("[{}]", elements(state).into_iter().map(java).collect::<Vec<String>>().join(", ")),
    })
}

/// Java's `toString` of an element: text without quotes.
fn java(value: &Value) -> String {
    match value {
        Value::None => "null".to_owned(),
        Value::Text(text) => text.to_string(),
        other => other.to_string(),
    }
}

/// Writes the second argument where the state is the first one, and says whether it was.
pub(super) fn compare_and_set(state: &mut Value, arguments: &[Value]) -> Value {
    let agrees = *state == arguments[0];
    if agrees {
        *state = arguments[1].clone();
    }
    Value::Bool(agrees)
}

pub(super) fn remaining_capacity(state: &mut Value, _: &[Value]) -> Value {
    Value::Int(i64::from(i32::MAX) - state.len() as i64)
}

/// There is always room, so the remaining capacity does not depend on the elements.
pub(super) fn unlimited_capacity(_: &mut Value, _: &[Value]) -> Value {
    Value::Int(i64::from(i32::MAX))
}

pub(super) fn remove_first(state: &mut Value, arguments: &[Value]) -> Value {
    let index = elements(state).iter().position(|&item| *item == arguments[0]);
    remove_at(state, index)
}

pub(super) fn remove_last(state: &mut Value, arguments: &[Value]) -> Value {
    let index = elements(state).iter().rposition(|&item| *item == arguments[0]);
    remove_at(state, index)
}

/// Removes one element of a list, and says whether it existed.
fn remove_at(state: &mut Value, index: Option<usize>) -> Value {
    if let (Value::List(items), Some(index)) = (state, index) {
        *items = items[..index].iter().chain(&items[index + 1..]).cloned().collect();
    }
    Value::Bool(index.is_some())
}

pub(super) fn remove_all(state: &mut Value, arguments: &[Value]) -> Value {
    let others = elements(&arguments[0]);
    keep(state, |item| !others.contains(&item))
}

pub(super) fn retain_all(state: &mut Value, arguments: &[Value]) -> Value {
    let others = elements(&arguments[0]);
    keep(state, |item| others.contains(&item))
}

/// Keeps some elements of a list or a set; the result says whether others were dropped.
fn keep(state: &mut Value, keep: impl Fn(&Value) -> bool) -> Value {
    let before = state.len();
    match state {
        Value::List(items) => *items = items.iter().filter(|item| keep(item)).cloned().collect(),
        Value::Set(items) => Arc::make_mut(items).retain(keep),
        _ => {}
    }
    Value::Bool(state.len() < before)
}

/// The greatest key or element below the argument.
pub(super) fn lower(state: &mut Value, arguments: &[Value]) -> Value {
    let found = match state {
        Value::Set(items) => items.range(..&arguments[0]).next_back(),
        Value::Map(entries) => entries.range(..&arguments[0]).next_back().map(|(key, _)| key),
        _ => None,
    };
    found.cloned().unwrap_or_default()
}

pub(super) fn head(state: &mut Value, arguments: &[Value]) -> Value {
    part(state, Unbounded, Excluded(&arguments[0]))
}

pub(super) fn tail(state: &mut Value, arguments: &[Value]) -> Value {
    part(state, Included(&arguments[0]), Unbounded)
}

/// The first bound is in it, the second one is not.
pub(super) fn between(state: &mut Value, arguments: &[Value]) -> Value {
    match arguments {
        [start, end] if start > end => error("range"),
        _ => part(state, Included(&arguments[0]), Excluded(&arguments[1])),
    }
}

/// The elements of a set between two bounds, or the entries of a map, as a list.
fn part(state: &Value, start: Bound<&Value>, end: Bound<&Value>) -> Value {
    match state {
        Value::Set(items) => Value::list(items.range::<Value, _>((start, end)).cloned()),
        Value::Map(entries) => {
            let pair = |(key, value): (&Value, &Value)| Value::tuple([key.clone(), value.clone()]);
            Value::list(entries.range::<Value, _>((start, end)).map(pair))
        }
        _ => Value::list([]),
    }
}
