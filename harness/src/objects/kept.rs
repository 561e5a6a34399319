//! Values as data.

use std::sync::Arc;

use interloper_commutativity::{Value, Variant};
use serde::{Deserialize, Serialize};

/// A value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kept {
    None,
    Unit,
    Bool(bool),
    Int(i64),
    /// The upper and the lower half.
    Wide(i64, u64),
    Text(String),
    Some(Box<Kept>),
    Variant(String, Vec<Kept>),
    Tuple(Vec<Kept>),
    List(Vec<Kept>),
    Set(Vec<Kept>),
    Map(Vec<(Kept, Kept)>),
}

/// Values as data.
pub(crate) fn kept<'v>(values: impl IntoIterator<Item = &'v Value>) -> Vec<Kept> {
    values.into_iter().map(Kept::from).collect()
}

/// The values that were kept.
pub(crate) fn values<'k, C: FromIterator<Value>>(kept: impl IntoIterator<Item = &'k Kept>) -> C {
    kept.into_iter().map(Value::from).collect()
}

impl From<&Value> for Kept {
    fn from(value: &Value) -> Kept {
        match value {
            Value::None => Kept::None,
            Value::Unit => Kept::Unit,
            Value::Bool(value) => Kept::Bool(*value),
            Value::Int(value) => Kept::Int(*value),
            Value::Wide(value) => Kept::Wide((**value >> 64) as i64, **value as u64),
            Value::Text(text) => Kept::Text(text.to_string()),
            Value::Some(value) => Kept::Some(Box::new(Kept::from(&**value))),
            Value::Variant(variant) => Kept::Variant(variant.name.to_string(), kept(&variant.fields)),
            Value::Tuple(items) => Kept::Tuple(kept(&**items)),
            Value::List(items) => Kept::List(kept(&**items)),
            Value::Set(items) => Kept::Set(kept(&**items)),
            Value::Map(entries) => Kept::Map(entries.iter().map(|(key, value)| (key.into(), value.into())).collect()),
        }
    }
}

impl From<&Kept> for Value {
    fn from(kept: &Kept) -> Value {
        match kept {
            Kept::None => Value::None,
            Kept::Unit => Value::Unit,
            Kept::Bool(value) => Value::Bool(*value),
            Kept::Int(value) => Value::Int(*value),
            Kept::Wide(upper, lower) => Value::Wide(Arc::new(i128::from(*upper) << 64 | i128::from(*lower))),
            Kept::Text(text) => Value::text(text.as_str()),
            Kept::Some(value) => Value::Some(Arc::new(Value::from(&**value))),
            Kept::Variant(name, fields) => {
                Value::Variant(Arc::new(Variant { name: name.as_str().into(), fields: values(fields) }))
            }
            Kept::Tuple(items) => Value::Tuple(values(items)),
            Kept::List(items) => Value::List(values(items)),
            Kept::Set(items) => Value::Set(Arc::new(values(items))),
            Kept::Map(entries) => {
                let entries = entries.iter().map(|(key, value)| (Value::from(key), Value::from(value)));
                Value::Map(Arc::new(entries.collect()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_value_comes_back() {
        let some = Value::Some(Arc::new(Value::None));
        let all = [
            Value::None,
            Value::Unit,
            Value::Bool(true),
            Value::Int(i64::MIN),
            Value::Wide(Arc::new(i128::MIN)),
            Value::Wide(Arc::new(i128::from(u64::MAX))),
            Value::text("a \"b\"\n"),
            some.clone(),
            Value::variant("Err", [Value::Int(3), some.clone()]),
            Value::tuple([Value::Unit, Value::Int(1)]),
            Value::list([some.clone()]),
            Value::set([Value::Int(2), Value::Int(1)]),
            Value::Map(Arc::new([(Value::Int(1), some)].into())),
        ];
        let text = serde_json::to_string(&kept(&all)).expect("plain data is always JSON");
        let read: Vec<Kept> = serde_json::from_str(&text).expect("what was written");
        assert_eq!(values::<Vec<Value>>(&read), all);
    }
}
