//! A store of texts by key.

use std::sync::Arc;

use interloper_commutativity::Value;

use super::{DataType, Role, Shape, Signature, changes, reads, unresolved};

/// A key-value store of texts: `get`, and `put` and `append`, which give `none`. A key that was never written holds `""`.
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
                Value::None
            }
            ("append", [key, Value::Text(text)]) => {
                let whole = match entries.get(key) {
                    Some(Value::Text(before)) => format!("{before}{text}"),
                    _ => text.to_string(),
                };
                Arc::make_mut(entries).insert(key.clone(), Value::text(whole));
                Value::None
            }
            _ => unresolved(self.name(), method, arguments),
        }
    }

    fn role(&self, method: &str, _: &[Value], result: Option<&Value>) -> Role {
        if method == "get" && result.is_none() { Role::Nothing } else { Role::Other }
    }

    fn part(&self, _: &str, arguments: &[Value]) -> Option<Value> {
        arguments.first().cloned()
    }
}
