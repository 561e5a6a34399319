//! A map: `DashMap`, `HashMap`.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Arc, LazyLock};

use super::methods::signatures;
use super::{refused, unknown_function};
use crate::{Invocation, Method, Model, Value};

methods! {
    from 0;
    /// `get(k)`: the value at `k`, or `none`.
    GET = get(k: Key), environment;
    /// `insert(k, v)`: the value before, or `none`.
    INSERT = insert(k: Key, v: Value), environment;
    /// `insert_if_absent(k, v)`: the value that is there, or `none` when there was none and `v` was inserted
    /// (`putIfAbsent` of the paper).
    INSERT_IF_ABSENT = insert_if_absent(k: Key, v: Value), environment;
    /// `remove(k)`: the value removed, or `none`.
    REMOVE = remove(k: Key), environment;
    /// `contains_key(k)`: a Boolean.
    CONTAINS_KEY = contains_key(k: Key);
    /// `replace(k, v)`: the value before, or `none` when there was none and nothing happened.
    REPLACE = replace(k: Key, v: Value);
    /// `replace_if_equal(k, old, new)`: whether `old` was there and is now `new`.
    REPLACE_IF_EQUAL = replace_if_equal(k: Key, old: Value, new: Value);
    /// `remove_if_equal(k, v)`: whether `v` was there and is now removed.
    REMOVE_IF_EQUAL = remove_if_equal(k: Key, v: Value);
    /// `modify(k)`: applies an unknown injective function to the value at `k`, if any; the value before, or `none`.
    MODIFY = modify(k: Key);
    /// `next_after(c)`: the entry with the smallest key greater than `c`, as a pair, or `none`: a step of an iteration.
    /// The cursor `none` stands before all keys.
    NEXT_AFTER = next_after(c: Cursor);
    /// `len()`: how many entries there are.
    LEN = len();
    /// `is_empty()`: a Boolean.
    IS_EMPTY = is_empty();
    /// `clear()`: removes every entry.
    CLEAR = clear();
}

/// A map from keys to values; its state is a [`Value::Map`].
#[derive(Clone, Copy, Debug, Default)]
pub struct MapModel;

impl Model for MapModel {
    fn name(&self) -> &str {
        "map"
    }

    fn methods(&self) -> &[Method] {
        static METHODS: LazyLock<Vec<Method>> = LazyLock::new(|| signatures(ENTRIES.iter().copied()));
        &METHODS
    }

    fn initial(&self) -> Value {
        Value::map([])
    }

    fn apply(&self, state: &mut Value, call: &Invocation) -> Value {
        match state {
            Value::Map(entries) => run(entries, call).unwrap_or_else(refused),
            _ => refused(),
        }
    }
}

/// Runs a call of a method of [`ENTRIES`]; nothing when there is no such method, or not with so many arguments.
pub(super) fn run(entries: &mut Arc<BTreeMap<Value, Value>>, call: &Invocation) -> Option<Value> {
    let result = match (call.method, call.arguments.as_slice()) {
        (GET, [key]) => Value::option(entries.get(key).cloned()),
        (INSERT, [key, value]) => Value::option(Arc::make_mut(entries).insert(key.clone(), value.clone())),
        (INSERT_IF_ABSENT, [key, value]) => match entries.get(key) {
            Some(existing) => Value::option(Some(existing.clone())),
            None => {
                Arc::make_mut(entries).insert(key.clone(), value.clone());
                Value::None
            }
        },
        (REMOVE, [key]) => match entries.contains_key(key) {
            true => Value::option(Arc::make_mut(entries).remove(key)),
            false => Value::None,
        },
        (CONTAINS_KEY, [key]) => Value::Bool(entries.contains_key(key)),
        (REPLACE, [key, value]) => Value::option(change(entries, key, |_| value.clone())),
        (REPLACE_IF_EQUAL, [key, old, new]) => {
            let hit = entries.get(key) == Some(old);
            if hit {
                Arc::make_mut(entries).insert(key.clone(), new.clone());
            }
            Value::Bool(hit)
        }
        (REMOVE_IF_EQUAL, [key, value]) => {
            let hit = entries.get(key) == Some(value);
            if hit {
                Arc::make_mut(entries).remove(key);
            }
            Value::Bool(hit)
        }
        (MODIFY, [key]) => Value::option(change(entries, key, unknown_function)),
        (NEXT_AFTER, [cursor]) => entry(entries.range((after(cursor), Bound::Unbounded)).next()),
        (LEN, []) => Value::Int(entries.len() as i64),
        (IS_EMPTY, []) => Value::Bool(entries.is_empty()),
        (CLEAR, []) => {
            if !entries.is_empty() {
                *entries = Arc::default();
            }
            Value::Unit
        }
        _ => return None,
    };
    Some(result)
}

/// Puts `new` of the value at `key` there, if there is one; the value before.
fn change(entries: &mut Arc<BTreeMap<Value, Value>>, key: &Value, new: impl FnOnce(Value) -> Value) -> Option<Value> {
    let old = entries.get(key)?.clone();
    Arc::make_mut(entries).insert(key.clone(), new(old.clone()));
    Some(old)
}

/// An entry as a pair, or `none`.
pub(super) fn entry(found: Option<(&Value, &Value)>) -> Value {
    found.map_or(Value::None, |(key, value)| Value::tuple([key.clone(), value.clone()]))
}

/// The lower bound of the keys that come after `cursor`.
pub(super) fn after(cursor: &Value) -> Bound<&Value> {
    cursor.content().map_or(Bound::Unbounded, Bound::Excluded)
}
