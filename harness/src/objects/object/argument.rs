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
pub trait Argument: Datum + Send + Sync {
    /// The arguments that harnesses use unless the description says otherwise.
    fn generator() -> Generator;

    /// The argument that a harness writes as `written`, or `None` if this type has no such value. A set may be written
    /// as a list, and `{}` is any empty collection.
    fn read(written: &Value) -> Option<Self> {
        Self::from_value(written)
    }

    /// The form of this type's atoms, or `None` for a type that cannot be an element of a collection in a harness.
    fn atom() -> Option<Atom> {
        match Self::generator() {
            Generator::Atom(atom) => Some(atom),
            _ => None,
        }
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

/// A generator of collections, or the empty collection alone when their elements have no atoms.
fn collections(atom: Option<Atom>, empty: Value, generator: impl FnOnce(Atom) -> Generator) -> Generator {
    atom.map_or_else(|| Generator::Choice([empty].into()), generator)
}

/// The elements of a collection as a harness writes it.
fn elements(written: &Value) -> Option<Vec<Value>> {
    match written {
        Value::List(items) => Some(items.to_vec()),
        Value::Set(items) => Some(items.iter().cloned().collect()),
        Value::Map(entries) if entries.is_empty() => Some(Vec::new()),
        _ => None,
    }
}

macro_rules! lists {
    ($($list:ident),*) => {$(
        impl<T: Argument> Argument for $list<T> {
            fn generator() -> Generator {
                collections(T::atom(), Value::list([]), |atom| Generator::List(atom, COLLECTIONS_UP_TO))
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
                collections(T::atom(), Value::set([]), |atom| Generator::Set(atom, COLLECTIONS_UP_TO))
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
                let atoms = K::atom().zip(V::atom());
                match atoms {
                    Some((key, value)) => Generator::Map(key, value, COLLECTIONS_UP_TO),
                    None => Generator::Choice([Value::map([])].into()),
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
        let read = <(i64, Vec<u8>)>::read(&[int(3), Value::list([int(1), int(1)])]);
        assert_eq!(read, Ok((3, vec![1, 1])));
        assert_eq!(<(i64, Vec<u8>)>::read(&[int(3)]), Err(WrongArguments::Count { expected: 2 }));
        let wrong = WrongArguments::Type { index: 1, expected: "alloc::vec::Vec<u8>" };
        assert_eq!(<(i64, Vec<u8>)>::read(&[int(3), Value::list([int(256)])]), Err(wrong));
        assert_eq!(<()>::read(&[]), Ok(()));
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
