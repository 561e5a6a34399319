//! Rust types that have a form as a [`Value`].

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::rc::Rc;
use std::sync::{Arc, Mutex, OnceLock};

use crate::Value;

pub mod declared;
mod mirrored;
mod texts;
mod times;

/// A type whose values can be shown and compared as plain data: a result of a method under test, say.
///
/// The form must be injective: two values that differ to the program have different forms.
#[diagnostic::on_unimplemented(
    note = "results are compared as `interloper::Value`, which `interloper::ToValue` makes of `{Self}`",
    note = "for a struct or an enum, `interloper::datum!` implements it"
)]
pub trait ToValue {
    /// Whether the value can change through a shared reference (an `Arc<OnceLock<_>>`, for example). The state of a
    /// collection of such values is read back at each step instead of being followed from operation to operation.
    const INTERIOR: bool = false;

    /// This value as plain data.
    fn to_value(&self) -> Value;
}

/// A type of keys, elements or arguments: the environment makes values of it.
pub trait Datum: ToValue + Clone + 'static {
    /// The value with this plain form; `None` when the form is not one of this type.
    fn from_value(value: &Value) -> Option<Self>;

    /// A value of this type that is not among `seen`; `None` when no such value exists, or none can be made.
    fn fresh(seen: &[Value]) -> Option<Value> {
        let _ = seen;
        None
    }

    /// A value of this type chosen by 64 random bits, as uniformly as the type allows.
    fn arbitrary(bits: u64) -> Option<Value> {
        let _ = bits;
        None
    }
}

/// The environment makes the same values as of another type.
macro_rules! values_of {
    ($type:ty) => {
        fn fresh(seen: &[Value]) -> Option<Value> {
            <$type as Datum>::fresh(seen)
        }
        fn arbitrary(bits: u64) -> Option<Value> {
            <$type as Datum>::arbitrary(bits)
        }
    };
}
use values_of;

macro_rules! integers {
    ($($type:ty),*) => {$(
        impl ToValue for $type {
            fn to_value(&self) -> Value {
                match i64::try_from(*self) {
                    Ok(number) => Value::Int(number),
                    Err(_) => Value::Wide(Arc::new(*self as i128)),
                }
            }
        }
        impl Datum for $type {
            fn from_value(value: &Value) -> Option<Self> {
                match value {
                    Value::Int(number) => (*number).try_into().ok(),
                    Value::Wide(number) => (**number).try_into().ok(),
                    _ => None,
                }
            }
            /// One more than the largest seen, so that a fresh value stands out in a report.
            fn fresh(seen: &[Value]) -> Option<Value> {
                let largest = seen.iter().filter_map(Self::from_value).max();
                match largest {
                    None => Some((1 as $type).to_value()),
                    Some(largest) => match largest.checked_add(1) {
                        Some(next) => Some(next.to_value()),
                        None => (0..=<$type>::MAX).map(|n| n.to_value()).find(|n| !seen.contains(n)),
                    },
                }
            }
            fn arbitrary(bits: u64) -> Option<Value> {
                Some((bits as $type).to_value())
            }
        }
    )*};
}

integers!(i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, usize);

/// Beyond the integers that a form holds, its digits.
impl ToValue for u128 {
    fn to_value(&self) -> Value {
        i128::try_from(*self).map_or_else(|_| Value::text(self.to_string()), |number| number.to_value())
    }
}

impl Datum for u128 {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Text(digits) => digits.parse().ok(),
            other => i128::from_value(other)?.try_into().ok(),
        }
    }
    fn fresh(seen: &[Value]) -> Option<Value> {
        let largest = seen.iter().filter_map(Self::from_value).max();
        largest.map_or(Some(1), |largest| largest.checked_add(1)).map(|next| next.to_value())
    }
    fn arbitrary(bits: u64) -> Option<Value> {
        u64::arbitrary(bits)
    }
}

impl ToValue for bool {
    fn to_value(&self) -> Value {
        Value::Bool(*self)
    }
}

impl Datum for bool {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Bool(flag) => Some(*flag),
            _ => None,
        }
    }
    fn fresh(seen: &[Value]) -> Option<Value> {
        [Value::Bool(false), Value::Bool(true)].into_iter().find(|value| !seen.contains(value))
    }
    fn arbitrary(bits: u64) -> Option<Value> {
        Some(Value::Bool(bits & 1 == 1))
    }
}

impl ToValue for () {
    fn to_value(&self) -> Value {
        Value::Unit
    }
}

impl Datum for () {
    fn from_value(value: &Value) -> Option<Self> {
        matches!(value, Value::Unit).then_some(())
    }
    fn arbitrary(_bits: u64) -> Option<Value> {
        Some(Value::Unit)
    }
}

impl ToValue for char {
    fn to_value(&self) -> Value {
        Value::text(self.to_string())
    }
}

impl Datum for char {
    fn from_value(value: &Value) -> Option<Self> {
        let Value::Text(text) = value else { return None };
        let mut chars = text.chars();
        chars.next().filter(|_| chars.next().is_none())
    }
    fn fresh(seen: &[Value]) -> Option<Value> {
        ('a'..='z').map(|letter| letter.to_value()).find(|value| !seen.contains(value))
    }
    fn arbitrary(bits: u64) -> Option<Value> {
        char::from_u32((bits % 0xD800) as u32).map(|letter| letter.to_value())
    }
}

impl ToValue for Value {
    fn to_value(&self) -> Value {
        self.clone()
    }
}

impl ToValue for str {
    fn to_value(&self) -> Value {
        Value::text(self)
    }
}

macro_rules! strings {
    ($($type:ty),*) => {$(
        impl ToValue for $type {
            fn to_value(&self) -> Value {
                Value::text(&**self)
            }
        }
        impl Datum for $type {
            fn from_value(value: &Value) -> Option<Self> {
                match value {
                    Value::Text(text) => Some((&**text).into()),
                    _ => None,
                }
            }
            fn fresh(seen: &[Value]) -> Option<Value> {
                char::fresh(seen)
            }
            fn arbitrary(bits: u64) -> Option<Value> {
                Some(Value::text(format!("{bits:016x}")))
            }
        }
    )*};
}

strings!(String, Box<str>, Arc<str>, Rc<str>);

/// A `&'static str` made from a value is leaked: at most one for each value of a domain that the environment uses.
impl Datum for &'static str {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Text(text) => Some(interned(text)),
            _ => None,
        }
    }
    values_of!(String);
}

fn interned(text: &str) -> &'static str {
    static INTERNED: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut interned = INTERNED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if let Some(known) = interned.get(text) {
        return known;
    }
    let leaked: &'static str = Box::leak(text.to_owned().into_boxed_str());
    interned.insert(leaked);
    leaked
}

impl<T: ToValue + ?Sized> ToValue for &T {
    const INTERIOR: bool = T::INTERIOR;
    fn to_value(&self) -> Value {
        (**self).to_value()
    }
}

macro_rules! pointers {
    ($($pointer:ident),*) => {$(
        impl<T: ToValue> ToValue for $pointer<T> {
            const INTERIOR: bool = T::INTERIOR;
            fn to_value(&self) -> Value {
                (**self).to_value()
            }
        }
        impl<T: Datum> Datum for $pointer<T> where $pointer<T>: Clone {
            fn from_value(value: &Value) -> Option<Self> {
                T::from_value(value).map($pointer::new)
            }
            values_of!(T);
        }
    )*};
}

pointers!(Box, Rc, Arc);

/// An empty cell has the form `pending`.
impl<T: ToValue> ToValue for OnceLock<T> {
    const INTERIOR: bool = true;
    fn to_value(&self) -> Value {
        self.get().map_or_else(pending, ToValue::to_value)
    }
}

impl<T: Datum> Datum for OnceLock<T> {
    fn from_value(value: &Value) -> Option<Self> {
        if *value == pending() { Some(OnceLock::new()) } else { T::from_value(value).map(OnceLock::from) }
    }
    values_of!(T);
}

/// The form of a value that is not there yet: an empty cell, an unfinished future.
pub fn pending() -> Value {
    Value::variant("pending", [])
}

/// `Some(x)` is written as `x`, unless `x` is itself `none` or `Some(_)`.
impl<T: ToValue> ToValue for Option<T> {
    const INTERIOR: bool = T::INTERIOR;
    fn to_value(&self) -> Value {
        Value::option(self.as_ref().map(ToValue::to_value))
    }
}

impl<T: Datum> Datum for Option<T> {
    fn from_value(value: &Value) -> Option<Self> {
        match value.content() {
            None => Some(None),
            Some(content) => T::from_value(content).map(Some),
        }
    }
    values_of!(T);
}

impl<T: ToValue, E: ToValue> ToValue for Result<T, E> {
    const INTERIOR: bool = T::INTERIOR || E::INTERIOR;
    fn to_value(&self) -> Value {
        match self {
            Ok(value) => Value::variant("Ok", [value.to_value()]),
            Err(error) => Value::variant("Err", [error.to_value()]),
        }
    }
}

/// The elements of lists and sets.
fn elements(seen: &[Value]) -> Vec<Value> {
    let of = |value: &Value| -> Vec<Value> {
        match value {
            Value::List(items) => items.iter().cloned().collect(),
            Value::Set(items) => items.iter().cloned().collect(),
            _ => Vec::new(),
        }
    };
    seen.iter().flat_map(of).collect()
}

/// A fresh collection: the empty one, and then one with a single element or entry.
fn empty_or(empty: Value, seen: &[Value], one: impl FnOnce() -> Option<Value>) -> Option<Value> {
    if seen.contains(&empty) { one() } else { Some(empty) }
}

macro_rules! lists {
    ($($list:ident),*) => {$(
        impl<T: ToValue> ToValue for $list<T> {
            const INTERIOR: bool = T::INTERIOR;
            fn to_value(&self) -> Value {
                Value::list(self.iter().map(ToValue::to_value))
            }
        }
        impl<T: Datum> Datum for $list<T> {
            fn from_value(value: &Value) -> Option<Self> {
                match value {
                    Value::List(items) => items.iter().map(T::from_value).collect(),
                    _ => None,
                }
            }
            fn fresh(seen: &[Value]) -> Option<Value> {
                empty_or(Value::list([]), seen, || Some(Value::list([T::fresh(&elements(seen))?])))
            }
            fn arbitrary(bits: u64) -> Option<Value> {
                T::arbitrary(bits).map(|item| Value::list([item]))
            }
        }
    )*};
}

lists!(Vec, VecDeque);

impl<T: ToValue> ToValue for [T] {
    const INTERIOR: bool = T::INTERIOR;
    fn to_value(&self) -> Value {
        Value::list(self.iter().map(ToValue::to_value))
    }
}

impl<T: ToValue, const N: usize> ToValue for [T; N] {
    const INTERIOR: bool = T::INTERIOR;
    fn to_value(&self) -> Value {
        self[..].to_value()
    }
}

impl<T: Datum, const N: usize> Datum for [T; N] {
    fn from_value(value: &Value) -> Option<Self> {
        let list: Vec<T> = Vec::from_value(value)?;
        list.try_into().ok()
    }
    /// All elements are the same.
    fn fresh(seen: &[Value]) -> Option<Value> {
        let next = Value::list(std::iter::repeat_n(T::fresh(&elements(seen))?, N));
        (!seen.contains(&next)).then_some(next)
    }
    fn arbitrary(bits: u64) -> Option<Value> {
        Some(Value::list(std::iter::repeat_n(T::arbitrary(bits)?, N)))
    }
}

macro_rules! sets {
    ($($set:ident [$($bound:path),*]),*) => {$(
        impl<T: ToValue> ToValue for $set<T> {
            const INTERIOR: bool = T::INTERIOR;
            fn to_value(&self) -> Value {
                Value::set(self.iter().map(ToValue::to_value))
            }
        }
        impl<T: Datum $(+ $bound)*> Datum for $set<T> {
            fn from_value(value: &Value) -> Option<Self> {
                match value {
                    Value::Set(items) => items.iter().map(T::from_value).collect(),
                    _ => None,
                }
            }
            fn fresh(seen: &[Value]) -> Option<Value> {
                empty_or(Value::set([]), seen, || Some(Value::set([T::fresh(&elements(seen))?])))
            }
        }
    )*};
}

sets!(BTreeSet[Ord], HashSet[Eq, std::hash::Hash]);

macro_rules! maps {
    ($($map:ident [$($bound:path),*]),*) => {$(
        impl<K: ToValue, V: ToValue> ToValue for $map<K, V> {
            const INTERIOR: bool = K::INTERIOR || V::INTERIOR;
            fn to_value(&self) -> Value {
                Value::map(self.iter().map(|(key, value)| (key.to_value(), value.to_value())))
            }
        }
        impl<K: Datum $(+ $bound)*, V: Datum> Datum for $map<K, V> {
            fn from_value(value: &Value) -> Option<Self> {
                match value {
                    Value::Map(entries) => {
                        entries.iter().map(|(key, value)| Some((K::from_value(key)?, V::from_value(value)?))).collect()
                    }
                    _ => None,
                }
            }
            fn fresh(seen: &[Value]) -> Option<Value> {
                let entries = || seen.iter().filter_map(|map| match map { Value::Map(entries) => Some(entries), _ => None });
                let keys: Vec<Value> = entries().flat_map(|entries| entries.keys().cloned()).collect();
                let values: Vec<Value> = entries().flat_map(|entries| entries.values().cloned()).collect();
                let value = || V::fresh(&values).or_else(|| V::fresh(&[]));
                empty_or(Value::map([]), seen, || Some(Value::map([(K::fresh(&keys)?, value()?)])))
            }
        }
    )*};
}

maps!(BTreeMap[Ord], HashMap[Eq, std::hash::Hash]);

macro_rules! tuples {
    ($($name:ident . $index:tt),+) => {
        impl<$($name: ToValue),+> ToValue for ($($name,)+) {
            const INTERIOR: bool = $($name::INTERIOR)||+;
            fn to_value(&self) -> Value {
                Value::tuple([$(self.$index.to_value()),+])
            }
        }
        impl<$($name: Datum),+> Datum for ($($name,)+) {
            fn from_value(value: &Value) -> Option<Self> {
                let Value::Tuple(items) = value else { return None };
                let arity = [$($index),+].len();
                if items.len() != arity {
                    return None;
                }
                Some(($($name::from_value(&items[$index])?,)+))
            }
            fn fresh(seen: &[Value]) -> Option<Value> {
                let column = |index: usize| -> Vec<Value> {
                    seen.iter()
                        .filter_map(|tuple| match tuple { Value::Tuple(items) => items.get(index).cloned(), _ => None })
                        .collect()
                };
                Some(Value::tuple([$($name::fresh(&column($index))?),+]))
            }
            fn arbitrary(bits: u64) -> Option<Value> {
                // Each component gets its own bits: an odd multiplier permutes the 64-bit words.
                Some(Value::tuple([$(
                    $name::arbitrary(bits.wrapping_add($index).wrapping_mul(0x9E37_79B9_7F4A_7C15))?
                ),+]))
            }
        }
    };
}

tuples!(A.0);
tuples!(A.0, B.1);
tuples!(A.0, B.1, C.2);
tuples!(A.0, B.1, C.2, D.3);

/// What the tests of all types have in common.
#[cfg(test)]
mod testing {
    use super::*;

    /// Each form is read back as the value that it is the form of, and a fresh value is another one.
    pub(super) fn is_read_back<T: Datum>(values: impl IntoIterator<Item = T>) {
        let mut forms: Vec<Value> = values.into_iter().map(|value| value.to_value()).collect();
        for _ in 0..3 {
            let next = T::fresh(&forms).expect("there are more values");
            assert!(!forms.contains(&next), "{next} is fresh");
            forms.push(next);
        }
        forms.push(T::arbitrary(7).expect("any bits give a value"));
        for form in &forms {
            assert_eq!(T::from_value(form).map(|value| value.to_value()).as_ref(), Some(form));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_options_stay_apart() {
        let forms: Vec<Value> =
            [None, Some(None), Some(Some(3))].iter().map(|value: &Option<Option<i32>>| value.to_value()).collect();
        assert_eq!(forms, [Value::None, Value::Some(Arc::new(Value::None)), Value::Int(3)]);
        for form in &forms {
            let back: Option<Option<i32>> = Datum::from_value(form).expect("a form of the type");
            assert_eq!(back.to_value(), *form);
        }
    }

    #[test]
    fn fresh_values_are_not_seen_ones() {
        assert_eq!(i32::fresh(&[Value::Int(14)]), Some(Value::Int(15)));
        assert_eq!(u8::fresh(&[Value::Int(255)]), Some(Value::Int(0)));
        assert_eq!(String::fresh(&[Value::text("a")]), Some(Value::text("b")));
        assert_eq!(bool::fresh(&[Value::Bool(false), Value::Bool(true)]), None);
    }

    #[test]
    fn a_cell_is_pending_until_it_is_set() {
        let cell: Arc<OnceLock<i32>> = Datum::from_value(&pending()).expect("an empty cell");
        assert_eq!(cell.to_value(), pending());
        cell.set(4).expect("empty");
        assert_eq!(cell.to_value(), Value::Int(4));
    }

    #[test]
    fn wide_integers_do_not_collapse() {
        assert_eq!(u64::MAX.to_value().to_string(), u64::MAX.to_string());
        assert_eq!(u64::from_value(&u64::MAX.to_value()), Some(u64::MAX));
    }
}
