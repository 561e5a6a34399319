//! A store of texts by key. No collection of Rust has its methods; recorded histories of key-value stores do.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use super::methods::signatures;
use super::refused;
use crate::{Invocation, Method, Model, Value};

methods! {
    from 0;
    /// `get(k)`: the text at `k`, or `""`.
    GET = get(k: Key), environment;
    /// `put(k, v)`: replaces the text at `k`.
    PUT = put(k: Key, v: Value), environment;
    /// `append(k, v)`: appends to the text at `k`.
    APPEND = append(k: Key, v: Value), environment;
}

/// A store of texts by key; its state is a [`Value::Map`]. It has no table: whether two pieces can be appended in either
/// order depends on the letters in them.
#[derive(Clone, Copy, Debug, Default)]
pub struct KeyedTextModel;

impl Model for KeyedTextModel {
    fn name(&self) -> &str {
        "kv"
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

fn run(entries: &mut Arc<BTreeMap<Value, Value>>, call: &Invocation) -> Option<Value> {
    let result = match (call.method, call.arguments.as_slice()) {
        (GET, [key]) => entries.get(key).cloned().unwrap_or_else(|| Value::text("")),
        (PUT, [key, text @ Value::Text(_)]) => {
            Arc::make_mut(entries).insert(key.clone(), text.clone());
            Value::Unit
        }
        (APPEND, [key, Value::Text(text)]) => {
            let whole = match entries.get(key) {
                Some(Value::Text(before)) => format!("{before}{text}"),
                _ => text.to_string(),
            };
            Arc::make_mut(entries).insert(key.clone(), Value::text(whole));
            Value::Unit
        }
        _ => return None,
    };
    Some(result)
}
