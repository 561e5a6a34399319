//! A store of texts by key.

use std::sync::Arc;

use interloper_commutativity::Value;

use super::{DataType, Family, Role, Shape, Signature, agrees, changes, reads, unresolved};

/// A key-value store of texts: `get`, and `put` and `append`, which give nothing. A key that was never written holds `""`.
#[derive(Clone, Copy, Debug, Default)]
pub struct KeyedText;

const METHODS: [Signature; 3] = [
    reads("get", &[Shape::Key]),
    changes("put", &[Shape::Key, Shape::Text]),
    changes("append", &[Shape::Key, Shape::Text]),
];

impl DataType for KeyedText {
    fn name(&self) -> &'static str {
        "kv"
    }

    fn methods(&self) -> &'static [Signature] {
        &METHODS
    }

    fn initial(&self) -> Value {
        Value::map([])
    }

    fn apply(&self, state: &mut Value, method: &str, arguments: &[Value]) -> Value {
        let Value::Map(entries) = state else { panic!("{state} is no state of a key-value store") };
        match (method, arguments) {
            ("get", [key]) => entries.get(key).cloned().unwrap_or_else(|| Value::text("")),
            ("put", [key, text]) => {
                Arc::make_mut(entries).insert(key.clone(), text.clone());
                Value::Unit
            }
            ("append", [key, Value::Text(text)]) => {
                let whole = match entries.get(key) {
                    Some(Value::Text(before)) => format!("{before}{text}"),
                    _ => text.to_string(),
                };
                Arc::make_mut(entries).insert(key.clone(), Value::text(whole));
                Value::Unit
            }
            _ => unresolved(self.name(), method, arguments),
        }
    }

    fn role(&self, method: &str, arguments: &[Value], result: Option<&Value>) -> Role {
        let gives_nothing = || result.is_none_or(|result| agrees(&Value::Unit, result));
        match (method, arguments, result) {
            ("get", _, None) => Role::Nothing,
            ("get", _, Some(text @ Value::Text(_))) => Role::Find(text.clone()),
            ("put", [_, text], _) if gives_nothing() => Role::Insert(text.clone()),
            ("append", [_, text], _) if gives_nothing() => Role::Append(text.clone()),
            _ => Role::Other,
        }
    }

    fn part(&self, _: &str, arguments: &[Value]) -> Option<Value> {
        arguments.first().cloned()
    }

    fn family(&self) -> Option<Family> {
        Some(Family::Texts)
    }
}
