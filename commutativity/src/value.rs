//! Plain data that crosses every crate edge: arguments, results and abstract states.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

/// An argument, a result or an abstract state.
///
/// Values are plain data with a total order (the derived one: by variant, then by content) and a text form
/// ([`fmt::Display`]). Cloning is cheap: large values are shared.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Value {
    /// No value: `Option::None`, Java's `null`. Text: `none`.
    #[default]
    None,
    /// The result of an operation that returns nothing. Text: `()`.
    Unit,
    /// Text: `true`, `false`.
    Bool(bool),
    /// An integer. Text: decimal.
    Int(i64),
    /// An integer outside the range of `i64`. Text: decimal.
    Wide(Arc<i128>),
    /// Text: quoted, with Rust's escapes.
    Text(Arc<str>),
    /// `Some(x)` where `x` is itself [`Value::None`] or [`Value::Some`]. Every other `Some(x)` is written as `x`,
    /// so that the common case reads well and no two different values have the same form.
    Some(Arc<Value>),
    /// A named case such as `Ok(3)` or `Err("full")`. Text: `Name` or `Name(a, b)`.
    Variant(Arc<Variant>),
    /// Text: `(a, b)`.
    Tuple(Arc<[Value]>),
    /// A sequence. Text: `[a, b]`.
    List(Arc<[Value]>),
    /// Text: `{a, b}`.
    Set(Arc<BTreeSet<Value>>),
    /// Text: `{k: v}`.
    Map(Arc<BTreeMap<Value, Value>>),
}

/// The content of a [`Value::Variant`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Variant {
    /// The case's name, `Ok` for example.
    pub name: Arc<str>,
    /// Its fields, in order.
    pub fields: Vec<Value>,
}

impl Value {
    /// Text as a value.
    pub fn text(text: impl Into<Arc<str>>) -> Value {
        Value::Text(text.into())
    }

    /// A named case with its fields.
    pub fn variant(name: impl Into<Arc<str>>, fields: impl IntoIterator<Item = Value>) -> Value {
        made::variant(name.into(), fields.into_iter().collect())
    }

    /// A list of values.
    pub fn list(items: impl IntoIterator<Item = Value>) -> Value {
        Value::List(items.into_iter().collect())
    }

    /// A tuple of values.
    pub fn tuple(items: impl IntoIterator<Item = Value>) -> Value {
        Value::Tuple(items.into_iter().collect())
    }

    /// A set of values.
    pub fn set(items: impl IntoIterator<Item = Value>) -> Value {
        made::set(items.into_iter().collect())
    }

    /// A map of values; a later entry replaces an earlier one with the same key.
    pub fn map(entries: impl IntoIterator<Item = (Value, Value)>) -> Value {
        made::map(entries.into_iter().collect())
    }

    /// The form of an `Option`: `none`, or the value itself (kept apart from `none` where it is one).
    pub fn option(content: Option<Value>) -> Value {
        match content {
            None => Value::None,
            Some(nested @ (Value::None | Value::Some(_))) => Value::Some(Arc::new(nested)),
            Some(plain) => plain,
        }
    }

    /// The content of a value that is the form of an `Option`: the inverse of [`Value::option`].
    pub fn content(&self) -> Option<&Value> {
        match self {
            Value::None => None,
            Value::Some(nested) => Some(nested),
            plain => Some(plain),
        }
    }

    /// What an unknown injective function makes of this value: never the value itself. Text: `f(v)`.
    #[must_use]
    pub fn modified(self) -> Value {
        Value::variant("f", [self])
    }

    /// How many elements a container holds; 0 for every other value. States are enumerated smallest first by it.
    pub fn len(&self) -> usize {
        match self {
            Value::List(items) | Value::Tuple(items) => items.len(),
            Value::Set(items) => items.len(),
            Value::Map(entries) => entries.len(),
            _ => 0,
        }
    }

    /// Whether [`Value::len`] is 0.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether this is [`Value::None`].
    pub fn is_none(&self) -> bool {
        matches!(self, Value::None)
    }
}

/// How values are made of parts that are collected anyway. None of this is generic, so it is compiled once, and not in each crate whose
/// values are read. A list or a tuple is collected in its place instead, which allocates once.
mod made {
    use super::{Arc, Value, Variant};

    pub(super) fn variant(name: Arc<str>, fields: Vec<Value>) -> Value {
        Value::Variant(Arc::new(Variant { name, fields }))
    }

    pub(super) fn set(items: Vec<Value>) -> Value {
        Value::Set(Arc::new(items.into_iter().collect()))
    }

    pub(super) fn map(entries: Vec<(Value, Value)>) -> Value {
        Value::Map(Arc::new(entries.into_iter().collect()))
    }
}

impl fmt::Display for Value {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::None => out.write_str("none"),
            Value::Unit => out.write_str("()"),
            Value::Bool(flag) => write!(out, "{flag}"),
            Value::Int(number) => write!(out, "{number}"),
            Value::Wide(number) => write!(out, "{number}"),
            Value::Text(text) => write!(out, "{text:?}"),
            Value::Some(inner) => write!(out, "Some({inner})"),
            Value::Variant(variant) if variant.fields.is_empty() => out.write_str(&variant.name),
            Value::Variant(variant) => {
                out.write_str(&variant.name)?;
                separated(out, "(", ")", variant.fields.iter())
            }
            Value::Tuple(items) => separated(out, "(", if items.len() == 1 { ",)" } else { ")" }, items.iter()),
            Value::List(items) => separated(out, "[", "]", items.iter()),
            Value::Set(items) => separated(out, "{", "}", items.iter()),
            Value::Map(entries) => {
                out.write_str("{")?;
                for (index, (key, value)) in entries.iter().enumerate() {
                    let comma = if index == 0 { "" } else { ", " };
                    write!(out, "{comma}{key}: {value}")?;
                }
                out.write_str("}")
            }
        }
    }
}

fn separated<'v>(
    out: &mut fmt::Formatter<'_>,
    open: &str,
    close: &str,
    items: impl Iterator<Item = &'v Value>,
) -> fmt::Result {
    out.write_str(open)?;
    for (index, item) in items.enumerate() {
        let comma = if index == 0 { "" } else { ", " };
        write!(out, "{comma}{item}")?;
    }
    out.write_str(close)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_forms() {
        let check = |value: Value, text: &str| assert_eq!(value.to_string(), text);
        check(Value::None, "none");
        check(Value::Unit, "()");
        check(Value::text("a\"b"), r#""a\"b""#);
        check(Value::variant("Ok", [Value::Unit]), "Ok(())");
        check(Value::variant("Empty", []), "Empty");
        check(Value::tuple([Value::Int(1)]), "(1,)");
        check(Value::list([Value::Int(1), Value::Bool(true)]), "[1, true]");
        check(Value::map([(Value::Int(7), Value::Int(12))]), "{7: 12}");
        check(Value::Some(Arc::new(Value::None)), "Some(none)");
    }
}
