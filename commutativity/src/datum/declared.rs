//! Structs and enums that say of which parts they are made.

use super::{Datum, ToValue};
use crate::Value;

/// Makes a struct or an enum a type whose values the environment can make: a [`Datum`], of a form that names the case.
///
/// Each case is given as a pattern that binds all its fields, a field of a tuple by its number. The type has to be `Clone`, and
/// each field a [`Datum`].
///
/// ```
/// use interloper_commutativity::{Datum, ToValue, Value, datum};
///
/// #[derive(Clone)]
/// struct Entry<V> {
///     value: V,
///     hits: u32,
/// }
///
/// datum! { [V: Datum] Entry<V>: Entry { value: value, hits: hits } }
///
/// #[derive(Clone)]
/// enum State {
///     Idle,
///     Busy(u8),
/// }
///
/// datum! { [] State: State::Idle {}, State::Busy { 0: since } }
///
/// assert_eq!(Entry { value: 'a', hits: 2 }.to_value().to_string(), "Entry(\"a\", 2)");
/// let busy = State::Busy(7).to_value();
/// assert!(matches!(State::from_value(&busy), Some(State::Busy(7))));
/// assert_eq!(State::fresh(&[busy]), Some(State::Idle.to_value()));
/// ```
#[macro_export]
macro_rules! datum {
    ([$($generics:tt)*] $type:ty: $($($case:ident)::+ { $($field:tt: $part:ident),* $(,)? }),+ $(,)?) => {
        impl<$($generics)*> $crate::ToValue for $type {
            fn to_value(&self) -> $crate::Value {
                match self {
                    $($($case)::+ { $($field: $part),* } => $crate::Value::variant(
                        $crate::declared::last(stringify!($($case)::+)),
                        [$($crate::ToValue::to_value($part)),*],
                    ),)+
                }
            }
        }

        impl<$($generics)*> $crate::Datum for $type {
            fn from_value(value: &$crate::Value) -> Option<Self> {
                let $crate::Value::Variant(one) = value else { return None };
                let fields: &[$crate::Value] = &one.fields;
                $(if *one.name == *$crate::declared::last(stringify!($($case)::+)) {
                    let [$($part),*] = fields else { return None };
                    return Some($($case)::+ { $($field: $crate::Datum::from_value($part)?),* });
                })+
                None
            }

            fn fresh(seen: &[$crate::Value]) -> Option<$crate::Value> {
                $(
                    let made = |parts: &mut $crate::declared::Parts<'_>| -> Option<Self> {
                        let _ = &parts;
                        Some($($case)::+ { $($field: parts.fresh()?),* })
                    };
                    let mut parts = $crate::declared::Parts::new($crate::declared::last(stringify!($($case)::+)), seen);
                    if let Some(form) = made(&mut parts).map(|made| $crate::ToValue::to_value(&made))
                        && !seen.contains(&form)
                    {
                        return Some(form);
                    }
                )+
                None
            }

            fn arbitrary(bits: u64) -> Option<$crate::Value> {
                let cases = [$(stringify!($($case)::+)),+].len() as u64;
                let (chosen, mut bits) = (bits % cases, bits / cases);
                let mut case = 0..;
                $(
                    let made = |bits: &mut u64| -> Option<Self> {
                        let _ = &bits;
                        Some($($case)::+ { $($field: $crate::declared::arbitrary(bits)?),* })
                    };
                    if case.next() == Some(chosen) {
                        return made(&mut bits).map(|made| $crate::ToValue::to_value(&made));
                    }
                )+
                None
            }
        }
    };
}

/// The name of a case without the path to it.
pub fn last(case: &'static str) -> &'static str {
    case.rsplit("::").next().unwrap_or(case).trim()
}

/// The parts of fresh values of one case, in their order.
pub struct Parts<'v> {
    name: &'static str,
    seen: &'v [Value],
    at: usize,
}

impl<'v> Parts<'v> {
    /// Of the case of this name.
    pub fn new(name: &'static str, seen: &'v [Value]) -> Parts<'v> {
        Parts { name, seen, at: 0 }
    }

    /// The next part: one that no value seen has there, or any where there is no such one.
    pub fn fresh<T: Datum>(&mut self) -> Option<T> {
        let of_case = |value: &Value| match value {
            Value::Variant(one) if *one.name == *self.name => one.fields.get(self.at).cloned(),
            _ => None,
        };
        let column: Vec<Value> = self.seen.iter().filter_map(of_case).collect();
        self.at += 1;
        let form = T::fresh(&column).or_else(|| T::fresh(&[])).or_else(|| T::arbitrary(0))?;
        T::from_value(&form)
    }
}

/// A part of an arbitrary value, for which some of the bits are used.
pub fn arbitrary<T: Datum>(bits: &mut u64) -> Option<T> {
    let form = T::arbitrary(*bits)?;
    // The next part gets bits of its own: an odd multiplier permutes the 64-bit words.
    *bits = bits.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    T::from_value(&form)
}

/// Nothing is kept of the type that it names.
impl<T: ?Sized> ToValue for std::marker::PhantomData<T> {
    fn to_value(&self) -> Value {
        Value::Unit
    }
}

impl<T: ?Sized + 'static> Datum for std::marker::PhantomData<T> {
    fn from_value(value: &Value) -> Option<Self> {
        matches!(value, Value::Unit).then_some(std::marker::PhantomData)
    }

    fn arbitrary(_bits: u64) -> Option<Value> {
        Some(Value::Unit)
    }
}

#[cfg(test)]
mod tests {
    use std::marker::PhantomData;

    use super::*;

    #[derive(Clone, Debug, PartialEq)]
    struct Unit;
    datum! { [] Unit: Unit {} }

    #[derive(Clone, Debug, PartialEq)]
    struct Flags(bool, Option<bool>, PhantomData<String>);
    datum! { [] Flags: Flags { 0: one, 1: other, 2: rest } }

    #[derive(Clone, Debug, PartialEq)]
    enum Shape<T> {
        Nothing,
        Point(T, T),
        Named { name: String, of: Vec<Flags> },
    }
    datum! { [T: Datum] Shape<T>: Shape::Nothing {}, Shape::Point { 0: x, 1: y }, Shape::Named { name: name, of: of } }

    fn is_read_back<T: Datum + std::fmt::Debug + PartialEq>(value: T) {
        assert_eq!(T::from_value(&value.to_value()), Some(value));
    }

    #[test]
    fn the_form_is_read_back() {
        is_read_back(Unit);
        is_read_back(Flags(true, None, PhantomData));
        is_read_back(Shape::<u8>::Nothing);
        is_read_back(Shape::Point(1, 2));
        is_read_back(Shape::<u8>::Named { name: "k".to_owned(), of: vec![Flags(false, Some(true), PhantomData)] });
    }

    #[test]
    fn another_form_is_not() {
        assert_eq!(Unit::from_value(&Value::Unit), None);
        assert_eq!(Unit::from_value(&Value::variant("Unit", [Value::Unit])), None);
        assert_eq!(Shape::<u8>::from_value(&Value::variant("Circle", [])), None);
        assert_eq!(Shape::<u8>::from_value(&Value::variant("Point", [Value::Int(1), Value::Int(256)])), None);
    }

    #[test]
    fn fresh_values_are_those_of_each_case_in_turn() {
        let mut seen = Vec::new();
        for _ in 0..4 {
            seen.push(Shape::<u8>::fresh(&seen).expect("points and names do not end"));
        }
        let said: Vec<String> = seen.iter().map(ToString::to_string).collect();
        assert_eq!(said, ["Nothing", "Point(1, 1)", "Point(2, 2)", "Point(3, 3)"]);
        assert_eq!(Unit::fresh(&[]), Some(Unit.to_value()));
        assert_eq!(Unit::fresh(&[Unit.to_value()]), None);
    }

    #[test]
    fn arbitrary_values_are_those_of_all_cases() {
        let all: std::collections::BTreeSet<String> = (0..30_u64)
            .filter_map(|bits| Shape::<bool>::arbitrary(bits.wrapping_mul(0x9E37_79B9_7F4A_7C15)))
            .map(|value| {
                assert_eq!(Shape::<bool>::from_value(&value).map(|read| read.to_value()).as_ref(), Some(&value));
                value.to_string().split('(').next().unwrap_or_default().to_owned()
            })
            .collect();
        assert_eq!(Vec::from_iter(all), ["Named", "Nothing", "Point"]);
    }
}
