//! Reference data types: the sequential behaviour that recorded histories and schemas are judged against.
//!
//! The collections have the methods of their Java counterparts, since these are the names in *Exposing non-atomic
//! methods of concurrent objects* (Figure 6) and *Weak-consistency specification via visibility relaxation* (Tables 2
//! and 3). States and results are plain [`Value`]s.
//!
//! | type | like | state |
//! |---|---|---|
//! | `map` | `ConcurrentHashMap` | [`Value::Map`] |
//! | `sorted-map` | `ConcurrentSkipListMap` | [`Value::Map`] |
//! | `set` | a set without order | [`Value::Set`] |
//! | `sorted-set` | `ConcurrentSkipListSet` | [`Value::Set`] |
//! | `queue` | `LinkedBlockingQueue`, `ConcurrentLinkedQueue` | [`Value::List`], front first |
//! | `deque` | `ConcurrentLinkedDeque` | [`Value::List`], front first |
//! | `priority-queue` | `PriorityBlockingQueue`, smallest first | [`Value::List`], ascending |
//! | `stack` | `Stack` | [`Value::List`], bottom first |
//! | `counter` | `AtomicLong` | [`Value::Int`] |
//! | `register` | a register that holds `none` first | its content |
//! | `kv` | strings by key, `""` for an absent one | [`Value::Map`] |
//!
//! A method without a result gives [`Value::Unit`], Java's `null` is [`Value::None`], an entry is a pair, lists and sets
//! are lists in iteration order (insertion order for queues, ascending order for everything sorted and for maps and
//! sets), and an exception is what [`error`] gives.
//!
//! # Limits
//! `take` has no sequential behaviour on an empty queue, where it waits; its result is the error `blocks` there, and what
//! follows it in its sequence goes on nevertheless.
//!
//! Iteration over a `map`, `set` or `priority-queue` is in ascending order; the order of a hash table is not modelled.

mod cell;
mod deque;
mod kv;
mod list;
mod map;
mod priority_queue;
mod queue;
mod set;
mod stack;
#[cfg(test)]
mod tests;

use std::fmt;

use interloper_commutativity::Value;

pub use cell::{Counter, Register};
pub use deque::Deque;
pub use kv::KeyedText;
pub use map::Map;
pub use priority_queue::PriorityQueue;
pub use queue::Queue;
pub use set::Set;
pub use stack::Stack;

/// The sequential behaviour of a type.
pub trait DataType: Send + Sync {
    /// Its name, `sorted-map` for example.
    fn name(&self) -> &'static str;

    /// Its methods. A name that occurs twice is overloaded by the number of arguments.
    fn methods(&self) -> &'static [Signature];

    /// The state of a fresh object.
    fn initial(&self) -> Value;

    /// Runs one call that [`resolve`] accepts: changes `state` and gives the result. Deterministic.
    ///
    /// # Panics
    /// It may panic for a call that [`resolve`] refuses.
    fn apply(&self, state: &mut Value, method: &str, arguments: &[Value]) -> Value;

    /// What a call means to the checkers that need no search ([`crate::distinct`]); `result` is none while the call is
    /// pending.
    fn role(&self, method: &str, arguments: &[Value], result: Option<&Value>) -> Role {
        let _ = (method, arguments, result);
        Role::Other
    }

    /// The part of the object that a call is about, where an object is made of independent parts, such as the entries of
    /// a map. None: the call is about all of the object.
    fn part(&self, method: &str, arguments: &[Value]) -> Option<Value> {
        let _ = (method, arguments);
        None
    }

    /// The checker for objects of which every call has a [`Role`] of its kind.
    fn family(&self) -> Option<Family> {
        None
    }
}

/// One method of a [`DataType`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The name.
    pub name: &'static str,
    /// What it takes.
    pub parameters: &'static [Shape],
    /// Whether it never changes the object.
    pub reads: bool,
}

/// What an argument looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Any value: an element, or the content of something.
    Any,
    /// A key.
    Key,
    /// An integer.
    Amount,
    /// A text.
    Text,
    /// A list of elements.
    Elements,
    /// Keys with their values.
    Entries,
}

impl Shape {
    /// Whether `value` has this shape. An empty map is an empty list too, as both are written `{}`.
    pub fn admits(self, value: &Value) -> bool {
        match self {
            Shape::Any | Shape::Key => true,
            Shape::Amount => matches!(value, Value::Int(_)),
            Shape::Text => matches!(value, Value::Text(_)),
            Shape::Elements => match value {
                Value::List(_) | Value::Set(_) => true,
                Value::Map(entries) => entries.is_empty(),
                _ => false,
            },
            Shape::Entries => matches!(value, Value::Map(_)),
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Shape::Any => "a value",
            Shape::Key => "a key",
            Shape::Amount => "an integer",
            Shape::Text => "a string",
            Shape::Elements => "a list such as [0,1]",
            Shape::Entries => "a map such as {0=1}",
        })
    }
}

/// What a call means to the checkers of [`crate::distinct`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// Inserts a value into a queue, stack or priority queue; adds an element to a set, which was not there; writes a
    /// register; replaces a text.
    Insert(Value),
    /// Appends a piece to a text.
    Append(Value),
    /// Removes a value.
    Remove(Value),
    /// Finds that there is nothing to remove.
    Empty,
    /// Finds an element in a set, or reads a value in a register or a text.
    Find(Value),
    /// Does not find an element in a set.
    Miss(Value),
    /// A pending call that may insert or remove this element.
    Unknown(Value),
    /// A pending call that removes what it finds.
    UnknownRemoval,
    /// A pending call that changes nothing.
    Nothing,
    /// Something else.
    Other,
}

/// The kinds of objects that have a checker of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// See [`crate::distinct::queue`].
    Queue,
    /// See [`crate::distinct::stack`].
    Stack,
    /// See [`crate::distinct::priority_queue`]; the least value in the order of [`Value`] leaves first.
    PriorityQueue,
    /// See [`crate::distinct::set`].
    Set,
    /// See [`crate::distinct::register`]; it holds `none` first.
    Register,
    /// See [`crate::distinct::text`]: each part of the object is a text that is empty at first.
    Texts,
}

/// Why a type has no such call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unresolved {
    /// There is no method with this name.
    Method {
        /// The name that was asked for.
        name: String,
        /// Every name that there is, sorted.
        known: Vec<&'static str>,
    },
    /// The method takes another number of arguments.
    Count {
        /// The method.
        name: String,
        /// The numbers of arguments that it can take, ascending.
        expected: Vec<usize>,
        /// The number that it was given.
        given: usize,
    },
    /// An argument has the wrong shape.
    Argument {
        /// The method.
        name: String,
        /// Which argument, counted from 0.
        index: usize,
        /// What it should be.
        expected: Shape,
        /// What it is.
        given: Value,
    },
}

impl fmt::Display for Unresolved {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unresolved::Method { name, known } => {
                write!(out, "there is no method {name}; there are {}", known.join(", "))
            }
            Unresolved::Count { name, expected, given } => {
                let noun = if *expected == [1] { "argument" } else { "arguments" };
                let expected: Vec<String> = expected.iter().map(usize::to_string).collect();
                write!(out, "{name} takes {} {noun}, not {given}", expected.join(" or "))
            }
            Unresolved::Argument { name, index, expected, given } => {
                write!(out, "argument {} of {name} is {expected}, not {given}", index + 1)
            }
        }
    }
}

impl std::error::Error for Unresolved {}

/// The signature of a call.
///
/// # Errors
/// When there is no such method, or not with such arguments.
pub fn resolve(data_type: &dyn DataType, method: &str, arguments: &[Value]) -> Result<&'static Signature, Unresolved> {
    let named = || data_type.methods().iter().filter(|signature| signature.name == method);
    if named().next().is_none() {
        let mut known: Vec<&str> = data_type.methods().iter().map(|signature| signature.name).collect();
        known.sort_unstable();
        known.dedup();
        return Err(Unresolved::Method { name: method.to_owned(), known });
    }
    let Some(signature) = named().find(|signature| signature.parameters.len() == arguments.len()) else {
        let mut expected: Vec<usize> = named().map(|signature| signature.parameters.len()).collect();
        expected.sort_unstable();
        return Err(Unresolved::Count { name: method.to_owned(), expected, given: arguments.len() });
    };
    match signature.parameters.iter().zip(arguments).position(|(shape, argument)| !shape.admits(argument)) {
        None => Ok(signature),
        Some(index) => Err(Unresolved::Argument {
            name: method.to_owned(),
            index,
            expected: signature.parameters[index],
            given: arguments[index].clone(),
        }),
    }
}

/// Every type of this module, in the order of the table above.
pub fn types() -> Vec<&'static dyn DataType> {
    vec![
        &Map { sorted: false },
        &Map { sorted: true },
        &Set { sorted: false },
        &Set { sorted: true },
        &Queue,
        &Deque,
        &PriorityQueue,
        &Stack,
        &Counter,
        &Register,
        &KeyedText,
    ]
}

/// The type with this name.
pub fn type_named(name: &str) -> Option<&'static dyn DataType> {
    types().into_iter().find(|data_type| data_type.name() == name)
}

/// The result of a call that throws an exception: `error("empty")` for example.
pub fn error(reason: &str) -> Value {
    Value::variant("error", [Value::text(reason)])
}

/// Whether an observed result is the expected one. The result of a method that returns nothing may have been observed
/// as [`Value::Unit`], as [`Value::None`] or as the text `()`, and lists, sets and pairs as lists of the same values.
pub fn agrees(expected: &Value, observed: &Value) -> bool {
    fn items(value: &Value) -> Option<Vec<&Value>> {
        match value {
            Value::List(items) | Value::Tuple(items) => Some(items.iter().collect()),
            Value::Set(items) => Some(items.iter().collect()),
            _ => None,
        }
    }
    let is_nothing = || observed.is_none() || matches!(observed, Value::Text(text) if &**text == "()");
    if expected == observed || (*expected == Value::Unit && is_nothing()) {
        return true;
    }
    match (items(expected), items(observed)) {
        (Some(expected), Some(observed)) => {
            expected.len() == observed.len() && expected.iter().zip(observed).all(|(one, other)| agrees(one, other))
        }
        _ => false,
    }
}

/// A signature of a method that changes the object.
const fn changes(name: &'static str, parameters: &'static [Shape]) -> Signature {
    Signature { name, parameters, reads: false }
}

/// A signature of a method that only looks.
const fn reads(name: &'static str, parameters: &'static [Shape]) -> Signature {
    Signature { name, parameters, reads: true }
}

/// The failure of a caller that has not asked [`resolve`].
fn unresolved(data_type: &str, method: &str, arguments: &[Value]) -> ! {
    panic!("{data_type} has no method {method} with arguments {}", Value::list(arguments.iter().cloned()))
}

fn count(length: usize) -> Value {
    Value::Int(i64::try_from(length).unwrap_or(i64::MAX))
}

/// The elements of an argument of [`Shape::Elements`].
fn elements(argument: &Value) -> Vec<&Value> {
    match argument {
        Value::List(items) => items.iter().collect(),
        Value::Set(items) => items.iter().collect(),
        _ => Vec::new(),
    }
}

/// Java's `toString` of a collection.
fn listing<'v>(items: impl IntoIterator<Item = &'v Value>) -> Value {
    let items: Vec<String> = items.into_iter().map(java).collect();
    Value::text(format!("[{}]", items.join(", ")))
}

/// Java's `toString` of an element: text without quotes.
fn java(value: &Value) -> String {
    match value {
        Value::None => "null".to_owned(),
        Value::Text(text) => text.to_string(),
        other => other.to_string(),
    }
}
