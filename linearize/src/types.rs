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
//! `take` has no sequential behaviour on an empty queue, where it waits; its result is then the error `blocks`, and the
//! calls after it in its sequence run nevertheless.
//!
//! Iteration over a `map`, `set` or `priority-queue` is in ascending order; the order of a hash table is not modelled.

mod names;
mod roles;
#[cfg(test)]
mod tests;
mod whole;

use std::fmt;

use interloper_commutativity::{self as models, MethodId, Model, Parameter, Value};

pub use roles::{Family, Role};
pub use whole::Run;

/// A sequential model, and the names of its methods in the papers.
#[derive(Clone, Copy)]
pub struct DataType {
    /// The name: `sorted-map` for example.
    pub name: &'static str,
    /// The model of its calls.
    pub model: &'static dyn Model,
    /// Its methods, in groups. A name that occurs twice is overloaded by the number of arguments.
    pub methods: &'static [&'static [Signature]],
    /// The checker for objects whose calls all have a [`Role`] of its kind.
    pub family: Option<Family>,
}

/// One method of a [`DataType`].
#[derive(Clone, Copy, Debug)]
pub struct Signature {
    /// The name.
    pub name: &'static str,
    /// What it takes.
    pub parameters: &'static [Shape],
    /// What it does.
    pub meaning: Meaning,
    /// Whether it never changes the object.
    pub reads: bool,
    /// Whether a call is only about the part of the object that its first argument names, the entry of a map for
    /// example.
    pub keyed: bool,
}

/// What a method does with the state of its model.
#[derive(Clone, Copy, Debug)]
pub enum Meaning {
    /// What a method of the model does with the same arguments.
    Method(MethodId, Gives),
    /// What a method of the model does with this integer.
    Amount(MethodId, i64, Gives),
    /// What a method of the model does with each element or entry of the argument. For elements the result is whether any
    /// of them has changed the object.
    Each(MethodId),
    /// Something that no method of the model does.
    Whole(Run),
}

/// What a method returns in the papers, where a method of the model returns the result of a Rust collection.
#[derive(Clone, Copy, Debug)]
pub enum Gives {
    /// The same.
    Same,
    /// Nothing.
    Nothing,
    /// Always `true`.
    True,
    /// The content of an option.
    Content(Absent),
    /// The key of an optional entry.
    Key(Absent),
    /// The state that the call leaves.
    New,
}

/// What a method returns that finds nothing.
#[derive(Clone, Copy, Debug)]
pub enum Absent {
    /// Java's `null`.
    Null,
    /// An exception, see [`error`].
    Error(&'static str),
}

/// A call of a data type, ready to be run.
#[derive(Clone)]
pub struct Call {
    model: &'static dyn Model,
    signature: &'static Signature,
    /// The method of the model, if there is one, and its arguments.
    invocation: models::Invocation,
}

impl DataType {
    /// Its methods.
    pub fn methods(&self) -> impl Iterator<Item = &'static Signature> + use<> {
        self.methods.iter().copied().flatten()
    }

    /// The state of a fresh object.
    pub fn initial(&self) -> Value {
        self.model.initial()
    }

    /// The signature of a call.
    ///
    /// # Errors
    /// When there is no such method, or not with such arguments.
    pub fn resolve(&self, method: &str, arguments: &[Value]) -> Result<&'static Signature, Unresolved> {
        let fits = |signature: &&Signature| signature.name == method && signature.parameters.len() == arguments.len();
        let Some(signature) = self.methods().find(fits) else {
            return Err(self.unresolved(method, arguments.len()));
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

    /// Why there is no method with this name and so many parameters.
    fn unresolved(&self, method: &str, given: usize) -> Unresolved {
        let mut expected: Vec<usize> = self
            .methods()
            .filter(|signature| signature.name == method)
            .map(|signature| signature.parameters.len())
            .collect();
        if expected.is_empty() {
            let mut known: Vec<&str> = self.methods().map(|signature| signature.name).collect();
            known.sort_unstable();
            known.dedup();
            return Unresolved::Method { name: method.to_owned(), known };
        }
        expected.sort_unstable();
        Unresolved::Count { name: method.to_owned(), expected, given }
    }

    /// A call.
    ///
    /// # Errors
    /// As [`DataType::resolve`].
    pub fn call(&self, method: &str, arguments: &[Value]) -> Result<Call, Unresolved> {
        Ok(self.resolved(self.resolve(method, arguments)?, arguments))
    }

    /// A call of a method with arguments that [`DataType::resolve`] accepts.
    pub(crate) fn resolved(&self, signature: &'static Signature, arguments: &[Value]) -> Call {
        let invocation = match signature.meaning {
            Meaning::Method(method, _) => {
                let given = |(argument, parameter): (&Value, &Parameter)| match parameter {
                    Parameter::Cursor => Value::option(Some(argument.clone())),
                    _ => argument.clone(),
                };
                let parameters = self.model.method(method).parameters;
                models::Invocation::new(method, arguments.iter().zip(parameters).map(given))
            }
            Meaning::Amount(method, amount, _) => models::Invocation::new(method, [Value::Int(amount)]),
            Meaning::Each(method) => models::Invocation::new(method, arguments.iter().cloned()),
            Meaning::Whole(_) => models::Invocation::new(MethodId(0), arguments.iter().cloned()),
        };
        Call { model: self.model, signature, invocation }
    }

    /// Makes a call: changes `state` and gives the result. Deterministic.
    ///
    /// # Panics
    /// For a call that [`DataType::resolve`] refuses.
    pub fn apply(&self, state: &mut Value, method: &str, arguments: &[Value]) -> Value {
        self.call(method, arguments).unwrap_or_else(|reason| panic!("in {}: {reason}", self.name)).run(state)
    }
}

impl Call {
    /// Runs the call: changes `state` and returns the result. Deterministic.
    pub fn run(&self, state: &mut Value) -> Value {
        match self.signature.meaning {
            Meaning::Method(_, gives) | Meaning::Amount(_, _, gives) => {
                let result = self.model.apply(state, &self.invocation);
                gives.of(result, state)
            }
            Meaning::Each(method) => self.run_each(method, state),
            Meaning::Whole(run) => run(state, &self.invocation.arguments),
        }
    }

    fn run_each(&self, method: MethodId, state: &mut Value) -> Value {
        let mut run = |arguments: Vec<Value>| self.model.apply(state, &models::Invocation { method, arguments });
        match &self.invocation.arguments[0] {
            Value::Map(entries) if self.signature.parameters == [Shape::Entries] => {
                entries.iter().for_each(|(key, value)| drop(run(vec![key.clone(), value.clone()])));
                Value::Unit
            }
            items => {
                let mut changed = false;
                for item in whole::elements(items) {
                    changed |= run(vec![item.clone()]) != Value::Bool(false);
                }
                Value::Bool(changed)
            }
        }
    }
}

impl Signature {
    /// The part of the object that a call is about, if it is about only one.
    pub fn part<'a>(&self, arguments: &'a [Value]) -> Option<&'a Value> {
        arguments.first().filter(|_| self.keyed)
    }
}

impl Gives {
    /// The result, when the model's method returned `result` and left `state`.
    fn of(self, result: Value, state: &Value) -> Value {
        match self {
            Gives::Same => result,
            Gives::Nothing => Value::Unit,
            Gives::True => Value::Bool(true),
            Gives::Content(absent) => match result {
                Value::None => absent.value(),
                Value::Some(nested) => (*nested).clone(),
                plain => plain,
            },
            Gives::Key(absent) => match result {
                Value::Tuple(entry) => entry[0].clone(),
                _ => absent.value(),
            },
            Gives::New => state.clone(),
        }
    }
}

impl Absent {
    fn value(self) -> Value {
        match self {
            Absent::Null => Value::None,
            Absent::Error(reason) => error(reason),
        }
    }
}

/// By its name.
impl fmt::Debug for DataType {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "DataType({})", self.name)
    }
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

/// Every type of this module, in the order of the table above.
pub fn types() -> &'static [DataType] {
    &names::TYPES
}

/// The type with this name.
pub fn type_named(name: &str) -> Option<&'static DataType> {
    types().iter().find(|data_type| data_type.name == name)
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
