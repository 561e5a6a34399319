//! Arguments of methods: their types, and where a harness takes them from.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::fmt;
use std::hash::Hash;
use std::sync::Arc;

use interloper_commutativity::{Datum, Value};

/// Where the arguments for one parameter come from.
///
/// A harness is about a few *atoms*, the numbers 0, 1, 2, … below its number of values. A generator says which arguments
/// can be made of them (Violat, section 3: integers from 0, and collections of them up to size 2).
#[derive(Clone, Debug, PartialEq)]
pub enum Generator {
    /// One atom.
    Atom(Atom),
    /// Sequences of atoms, the longest of this length.
    List(Atom, usize),
    /// Sets of atoms, the largest of this size.
    Set(Atom, usize),
    /// Maps from atoms to atoms, up to this many entries.
    Map(Atom, Atom, usize),
    /// These values, however many values a harness uses.
    Choice(Arc<[Value]>),
}

impl Generator {
    /// Whether it names values, and the same ones however the atoms of a harness are renamed.
    pub(crate) fn is_bound_to_values(&self) -> bool {
        matches!(self, Generator::Choice(values) if values.iter().any(names_a_value))
    }
}

fn names_a_value(value: &Value) -> bool {
    match value {
        Value::None | Value::Unit | Value::Bool(_) => false,
        Value::Int(_) | Value::Wide(_) | Value::Text(_) => true,
        Value::Some(content) => names_a_value(content),
        Value::Variant(variant) => variant.fields.iter().any(names_a_value),
        Value::Tuple(items) | Value::List(items) => items.iter().any(names_a_value),
        Value::Set(items) => items.iter().any(names_a_value),
        Value::Map(entries) => entries.iter().any(|(key, value)| names_a_value(key) || names_a_value(value)),
    }
}

/// The form of the atoms of one parameter.
#[derive(Clone, Copy)]
pub struct Atom(pub fn(u8) -> Value);

impl Atom {
    /// The integers 0, 1, 2, ….
    pub const INTEGER: Atom = Atom(|number| Value::Int(i64::from(number)));
    /// The texts `"a"`, `"b"`, `"c"`, ….
    pub const TEXT: Atom = Atom(|number| match number {
        0..26 => Value::text(char::from(b'a' + number).to_string()),
        _ => Value::text(format!("z{number}")),
    });
}

impl fmt::Debug for Atom {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Atom({}, {}, …)", (self.0)(0), (self.0)(1))
    }
}

/// Two forms are taken for the same when they begin alike.
impl PartialEq for Atom {
    fn eq(&self, other: &Atom) -> bool {
        (0..4).all(|number| (self.0)(number) == (other.0)(number))
    }
}

/// The largest collection that is generated as an argument.
pub const COLLECTIONS_UP_TO: usize = 2;

/// A type of arguments.
#[diagnostic::on_unimplemented(
    note = "arguments of described methods are integers, `bool`, `char` and texts, or `Option`s, pairs, `Vec`s, sets and maps of these",
    note = "another type has to implement `interloper::objects::Argument`"
)]
pub trait Argument: Datum + Send + Sync {
    /// The arguments that harnesses use unless the description says otherwise.
    fn generator() -> Generator;

    /// The argument that a harness writes as `written`, or `None` if this type has no such value. A set may be written
    /// as a list, and `{}` is any empty collection.
    fn read(written: &Value) -> Option<Self> {
        Self::from_value(written)
    }

    /// The forms of the two atoms of a pair, which is an entry where it is an element of a collection. `None` for all other types.
    fn entry() -> Option<(Atom, Atom)> {
        None
    }
}

macro_rules! atoms {
    ($atom:expr; $($type:ty),*) => {$(
        impl Argument for $type {
            fn generator() -> Generator {
                Generator::Atom($atom)
            }
        }
    )*};
}

atoms!(Atom::INTEGER; i8, i16, i32, i64, isize, u8, u16, u32, u64, usize);
atoms!(Atom::TEXT; String, &'static str, Box<str>, Arc<str>, char);

impl Argument for bool {
    fn generator() -> Generator {
        Generator::Choice([Value::Bool(false), Value::Bool(true)].into())
    }
}

impl<T: Argument> Argument for Option<T> {
    fn generator() -> Generator {
        let content = some_values(&T::generator()).into_iter().map(|content| Value::option(Some(content)));
        Generator::Choice([Value::None].into_iter().chain(content).collect())
    }

    fn read(written: &Value) -> Option<Self> {
        match written.content() {
            None => Some(None),
            Some(content) => T::read(content).map(Some),
        }
    }
}

/// A harness writes a pair as a list, and an element of a collection as the entry of a map.
impl<A: Argument, B: Argument> Argument for (A, B) {
    fn generator() -> Generator {
        let (first, second) = (some_values(&A::generator()), some_values(&B::generator()));
        let pairs = first.iter().flat_map(|one| second.iter().map(|other| Value::list([one.clone(), other.clone()])));
        Generator::Choice(pairs.collect())
    }

    fn read(written: &Value) -> Option<Self> {
        match written {
            Value::List(items) => match &items[..] {
                [first, second] => Some((A::read(first)?, B::read(second)?)),
                _ => None,
            },
            _ => Self::from_value(written),
        }
    }

    fn entry() -> Option<(Atom, Atom)> {
        match (A::generator(), B::generator()) {
            (Generator::Atom(first), Generator::Atom(second)) => Some((first, second)),
            _ => None,
        }
    }
}

/// The empty collection, and those of one element, where elements are no atoms.
fn small(empty: Value, elements: &Generator, collection: impl Fn(Value) -> Value) -> Generator {
    let single = some_values(elements).into_iter().take(4).map(collection);
    Generator::Choice([empty].into_iter().chain(single).collect())
}

/// A few of the arguments, whatever values a harness uses.
fn some_values(generator: &Generator) -> Vec<Value> {
    match generator {
        Generator::Atom(atom) => vec![(atom.0)(0), (atom.0)(1)],
        Generator::List(atom, _) => vec![Value::list([]), Value::list([(atom.0)(0)])],
        Generator::Set(atom, _) => vec![Value::set([]), Value::set([(atom.0)(0)])],
        Generator::Map(key, value, _) => vec![Value::map([]), Value::map([((key.0)(0), (value.0)(0))])],
        Generator::Choice(values) => values.to_vec(),
    }
}

/// The elements of a collection as a harness writes it.
fn elements(written: &Value) -> Option<Vec<Value>> {
    match written {
        Value::List(items) => Some(items.to_vec()),
        Value::Set(items) => Some(items.iter().cloned().collect()),
        Value::Map(entries) => {
            Some(entries.iter().map(|(key, value)| Value::list([key.clone(), value.clone()])).collect())
        }
        _ => None,
    }
}

macro_rules! lists {
    ($($list:ident),*) => {$(
        impl<T: Argument> Argument for $list<T> {
            fn generator() -> Generator {
                match (T::generator(), T::entry()) {
                    (Generator::Atom(atom), _) => Generator::List(atom, COLLECTIONS_UP_TO),
                    (_, Some((key, value))) => Generator::Map(key, value, COLLECTIONS_UP_TO),
                    (elements, None) => small(Value::list([]), &elements, |element| Value::list([element])),
                }
            }
            fn read(written: &Value) -> Option<Self> {
                elements(written)?.iter().map(T::read).collect()
            }
        }
    )*};
}

lists!(Vec, VecDeque);

macro_rules! sets {
    ($($set:ident [$($bound:path),*]),*) => {$(
        impl<T: Argument $(+ $bound)*> Argument for $set<T> {
            fn generator() -> Generator {
                match (T::generator(), T::entry()) {
                    (Generator::Atom(atom), _) => Generator::Set(atom, COLLECTIONS_UP_TO),
                    (_, Some((key, value))) => Generator::Map(key, value, COLLECTIONS_UP_TO),
                    (elements, None) => small(Value::set([]), &elements, |element| Value::set([element])),
                }
            }
            fn read(written: &Value) -> Option<Self> {
                elements(written)?.iter().map(T::read).collect()
            }
        }
    )*};
}

sets!(BTreeSet[Ord], HashSet[Eq, Hash]);

macro_rules! maps {
    ($($map:ident [$($bound:path),*]),*) => {$(
        impl<K: Argument $(+ $bound)*, V: Argument> Argument for $map<K, V> {
            fn generator() -> Generator {
                match (K::generator(), V::generator()) {
                    (Generator::Atom(key), Generator::Atom(value)) => Generator::Map(key, value, COLLECTIONS_UP_TO),
                    (keys, values) => {
                        let value = some_values(&values).into_iter().next();
                        let entry = |key| Value::map(value.clone().map(|value| (key, value)));
                        small(Value::map([]), &keys, entry)
                    }
                }
            }
            fn read(written: &Value) -> Option<Self> {
                let Value::Map(entries) = written else { return None };
                entries.iter().map(|(key, value)| Some((K::read(key)?, V::read(value)?))).collect()
            }
        }
    )*};
}

maps!(BTreeMap[Ord], HashMap[Eq, Hash]);

/// The arguments of a method, as a tuple.
pub trait Arguments: Clone + Send + Sync + 'static {
    /// The generator of each argument.
    fn generators() -> Vec<Generator>;

    /// The arguments that a harness writes like this.
    ///
    /// # Errors
    /// When their number is another, or one is not of its type.
    fn read(written: &[Value]) -> Result<Self, WrongArguments>;
}

/// Why a method cannot be called with some arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WrongArguments {
    /// The method takes another number of arguments.
    Count {
        /// The number that it takes.
        expected: usize,
    },
    /// One is not of the type of its parameter.
    Type {
        /// Which, counted from 0.
        index: usize,
        /// The type.
        expected: &'static str,
    },
}

macro_rules! tuples {
    ($count:literal $(, $name:ident . $index:tt)*) => {
        impl<$($name: Argument),*> Arguments for ($($name,)*) {
            fn generators() -> Vec<Generator> {
                vec![$($name::generator()),*]
            }
            fn read(written: &[Value]) -> Result<Self, WrongArguments> {
                if written.len() != $count {
                    return Err(WrongArguments::Count { expected: $count });
                }
                Ok(($($name::read(&written[$index]).ok_or(WrongArguments::Type {
                    index: $index,
                    expected: std::any::type_name::<$name>(),
                })?,)*))
            }
        }
    };
}

tuples!(0);
tuples!(1, A.0);
tuples!(2, A.0, B.1);
tuples!(3, A.0, B.1, C.2);
tuples!(4, A.0, B.1, C.2, D.3);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_read_by_type() {
        let int = Value::Int;
        let read = <(i64, Vec<u8>) as Arguments>::read(&[int(3), Value::list([int(1), int(1)])]);
        assert_eq!(read, Ok((3, vec![1, 1])));
        assert_eq!(<(i64, Vec<u8>) as Arguments>::read(&[int(3)]), Err(WrongArguments::Count { expected: 2 }));
        let wrong = WrongArguments::Type { index: 1, expected: "alloc::vec::Vec<u8>" };
        assert_eq!(<(i64, Vec<u8>) as Arguments>::read(&[int(3), Value::list([int(256)])]), Err(wrong));
        assert_eq!(<()>::read(&[]), Ok(()));
    }

    #[test]
    fn pairs_in_a_collection_are_entries() {
        assert_eq!(Vec::<(i64, String)>::generator(), Generator::Map(Atom::INTEGER, Atom::TEXT, COLLECTIONS_UP_TO));
        let written = Value::map([(Value::Int(1), Value::text("a")), (Value::Int(0), Value::text("b"))]);
        let pairs = [(0, "b".to_owned()), (1, "a".to_owned())];
        assert_eq!(Vec::<(i64, String)>::read(&written), Some(pairs.to_vec()));
        assert_eq!(BTreeSet::<(i64, String)>::read(&written), Some(BTreeSet::from(pairs)));
        assert_eq!(Vec::<(i64, i64)>::read(&written), None);
        assert_eq!(Vec::<i64>::read(&written), None);
    }

    /// Each of its arguments is of the type, so none is refused when a harness runs.
    #[test]
    fn types_without_atoms_have_a_few_arguments() {
        fn check<T: Argument>(expected: &str) {
            let Generator::Choice(values) = T::generator() else { panic!("{:?}", T::generator()) };
            let texts: Vec<String> = values.iter().map(ToString::to_string).collect();
            assert_eq!(texts.join(" "), expected);
            assert!(values.iter().all(|value| T::read(value).is_some()), "{values:?}");
        }
        check::<Option<i64>>("none 0 1");
        check::<Option<bool>>("none false true");
        check::<Vec<bool>>("[] [false] [true]");
        check::<BTreeSet<bool>>("{} {false} {true}");
        check::<Vec<Vec<i64>>>("[] [[]] [[0]]");
        check::<BTreeMap<i64, Vec<i64>>>("{} {0: []} {1: []}");
        check::<(i64, bool)>("[0, false] [0, true] [1, false] [1, true]");
        check::<Vec<(i64, bool)>>("[] [[0, false]] [[0, true]] [[1, false]] [[1, true]]");
    }

    #[test]
    fn sets_may_be_written_as_lists_and_empty_collections_as_maps() {
        let list = Value::list([Value::Int(1), Value::Int(0), Value::Int(1)]);
        assert_eq!(BTreeSet::<i64>::read(&list), Some(BTreeSet::from([0, 1])));
        assert_eq!(BTreeSet::<i64>::read(&Value::map([])), Some(BTreeSet::new()));
        assert_eq!(Vec::<i64>::read(&Value::map([])), Some(vec![]));
        assert_eq!(Vec::<i64>::read(&Value::map([(Value::Int(0), Value::Int(0))])), None);
    }
}
