//! A method under test without its types, for the driver.
//!
//! The driver is compiled once, not once for each method: [`Bench`] hides whatever depends on the types of a method. The methods of the
//! traits do little, since they are compiled in the crate of a user, for each operation anew.

use interloper_collections::Subject;
use interloper_collections::session::{Instrumented, without_session};
use interloper_commutativity::{Datum, ToValue, Value};

use crate::composed::method::{Description, MethodUnderTest};

/// A method under test: creates subjects and knows the arguments.
pub(crate) trait Bench {
    fn description(&self) -> &Description;

    /// A fresh subject.
    fn make(&self) -> Box<dyn Instance + '_>;

    /// Whether restoring a subject's collections makes the subject fresh again.
    fn reusable(&self) -> bool;

    /// The arguments that were given.
    fn given(&self) -> Vec<Value>;

    /// An argument for a method without given arguments.
    fn made_up(&self) -> Option<Value>;

    /// A random argument.
    fn draw(&self, bits: u64) -> Option<Value>;

    /// How many invariants each subject has.
    fn invariants(&self) -> usize;
}

/// The arguments that a method is called with.
pub(crate) struct Arguments {
    pub values: Vec<Value>,
    /// Whether the arguments are the given ones, by their index.
    given: bool,
}

impl Arguments {
    /// The given arguments, or a made-up one; `None` when there is neither.
    pub fn of(bench: &dyn Bench) -> Option<Arguments> {
        match bench.given() {
            given if given.is_empty() => bench.made_up().map(Arguments::made),
            values => Some(Arguments { values, given: true }),
        }
    }

    /// An argument that was not given.
    pub fn made(value: Value) -> Arguments {
        Arguments { values: vec![value], given: false }
    }

    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// The index of the first argument equal to this one.
    pub fn first_like(&self, index: usize) -> usize {
        self.values[..index].iter().position(|value| *value == self.values[index]).unwrap_or(index)
    }

    /// An argument, as a subject is called with it.
    pub fn get(&self, index: usize) -> Argument<'_> {
        if self.given { Argument::Given(index) } else { Argument::Made(&self.values[index]) }
    }
}

/// The argument of one call.
#[derive(Clone, Copy)]
pub(crate) enum Argument<'a> {
    /// One of the given arguments.
    Given(usize),
    /// A made-up or drawn argument.
    Made(&'a Value),
}

/// A subject that methods can be called on.
pub(crate) trait Instance {
    fn parts(&self) -> Vec<(String, &dyn Instrumented)>;

    /// The parts without their names.
    fn collections(&self) -> Vec<&dyn Instrumented>;

    /// Calls a method: the one under test (0) or one beside it. `before_return` is the last gap. Returns the result as
    /// plain data.
    fn call(&self, method: usize, argument: Argument<'_>, before_return: &dyn Fn()) -> Value;

    /// Whether an invariant of the subject holds, by its number.
    fn holds(&self, invariant: usize) -> bool;
}

struct Made<'m, S, A, R> {
    method: &'m MethodUnderTest<S, A, R>,
    subject: S,
}

impl<S: Subject, A: Datum, R: ToValue> Bench for MethodUnderTest<S, A, R> {
    fn description(&self) -> &Description {
        &self.description
    }

    fn make(&self) -> Box<dyn Instance + '_> {
        Box::new(Made { method: self, subject: (self.make)() })
    }

    fn reusable(&self) -> bool {
        S::REUSABLE
    }

    fn given(&self) -> Vec<Value> {
        self.arguments.iter().map(ToValue::to_value).collect()
    }

    fn made_up(&self) -> Option<Value> {
        A::fresh(&[]).or_else(|| A::arbitrary(1)).filter(|value| A::from_value(value).is_some())
    }

    fn draw(&self, bits: u64) -> Option<Value> {
        A::arbitrary(bits).filter(|value| A::from_value(value).is_some())
    }

    fn invariants(&self) -> usize {
        0
    }
}

impl<S: Subject, A: Datum, R: ToValue> Instance for Made<'_, S, A, R> {
    fn parts(&self) -> Vec<(String, &dyn Instrumented)> {
        self.subject.parts()
    }

    fn collections(&self) -> Vec<&dyn Instrumented> {
        self.subject.collections()
    }

    fn call(&self, method: usize, argument: Argument<'_>, before_return: &dyn Fn()) -> Value {
        let body = match method {
            0 => &self.method.method,
            beside => &self.method.beside[beside - 1],
        };
        let argument = match argument {
            Argument::Given(index) => self.method.arguments[index].clone(),
            Argument::Made(value) => A::from_value(value).expect("checked when it was made"),
        };
        let returned = body(&self.subject, argument);
        before_return();
        // Reading the result is not a step of the program.
        without_session(|| returned.to_value())
    }

    fn holds(&self, _invariant: usize) -> bool {
        unreachable!("a method under test has no invariants")
    }
}
