//! What Java's collections have in common.

use std::collections::BTreeMap;

use interloper::{ToValue, Value};

/// The list as `toString` writes it.
pub(super) fn list(items: &[i64]) -> String {
    let items: Vec<String> = items.iter().map(i64::to_string).collect();
    format!("[{}]", items.join(", "))
}

/// The map as `toString` writes it.
pub(super) fn map(entries: &BTreeMap<i64, i64>) -> String {
    let entries: Vec<String> = entries.iter().map(|(key, value)| format!("{key}={value}")).collect();
    format!("{{{}}}", entries.join(", "))
}

/// A result, or an exception.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Answer(Value);

impl ToValue for Answer {
    fn to_value(&self) -> Value {
        self.0.clone()
    }
}

/// The result of a method that throws an exception.
pub(super) fn error(reason: &str) -> Answer {
    Answer(interloper::objects::error(reason))
}

/// The item, or the exception of an empty collection.
pub(super) fn or_empty(item: Option<i64>) -> Answer {
    item.map_or_else(|| error("empty"), |item| Answer(Value::Int(item)))
}

/// Items as a result.
pub(super) fn listed(items: &[i64]) -> Answer {
    Answer(items.to_value())
}

/// One call for each item; whether any of them was true. Every call runs.
pub(super) fn any(items: Vec<i64>, mut call: impl FnMut(i64) -> bool) -> bool {
    items.into_iter().filter(|item| call(*item)).count() > 0
}
