//! A schema ready to be run in every order: invocations as numbers.

use std::fmt;
use std::sync::Arc;

use interloper_commutativity::Value;

use crate::schema::{Invocation, Schema};
use crate::types::{Call, DataType};
use crate::visibility::{Kind, Level, Predicate, Visibility};

/// A set of invocations, one bit for each, in text order.
pub type Set = u64;

/// How many invocations a program may have.
pub const MOST_INVOCATIONS: usize = 64;

/// A program: which invocations happen before which, and what each of them must see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// For each invocation those that happen before it.
    pub(crate) before: Vec<Set>,
    /// For each invocation its predicates, all of which hold.
    pub(crate) predicates: Vec<Vec<Predicate>>,
    /// For each invocation what its predicates require.
    pub(crate) required: Vec<Required>,
    methods: Vec<Arc<str>>,
}

/// A program that has too many invocations, or takes too much to explore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TooLarge {
    /// The program has more than [`MOST_INVOCATIONS`] invocations.
    Invocations(usize),
    /// The bound on the number of configurations was reached.
    Configurations(usize),
    /// The bound on the linearizations with a choice of what each invocation sees was reached.
    Choices(usize),
}

impl fmt::Display for TooLarge {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TooLarge::Invocations(count) => {
                write!(out, "the schema has {count} invocations; exact outcomes are limited to {MOST_INVOCATIONS}")
            }
            TooLarge::Configurations(bound) => write!(
                out,
                "the schema has more than {bound} configurations; raise the bound, use fewer invocations, or relax \
                 fewer of them"
            ),
            TooLarge::Choices(bound) => write!(
                out,
                "the schema has more than {bound} linearizations with visibilities; raise the bound, use fewer \
                 invocations, or relax fewer of them"
            ),
        }
    }
}

impl std::error::Error for TooLarge {}

impl Program {
    /// The program of a schema, with its happens-before order.
    ///
    /// # Errors
    /// When it has too many invocations.
    pub fn new(schema: &Schema, visibility: &Visibility) -> Result<Program, TooLarge> {
        fits(schema)?;
        Program::ordered(schema, &schema.predecessors(), visibility)
    }

    /// The program of the invocations of a schema with another happens-before order: for each invocation, in text order,
    /// those that happen before it. The order has to be transitive and to include that of the sequences.
    ///
    /// # Errors
    /// When it has too many invocations.
    pub fn ordered(schema: &Schema, predecessors: &[Vec<usize>], visibility: &Visibility) -> Result<Program, TooLarge> {
        fits(schema)?;
        let methods: Vec<Arc<str>> = schema.invocations().map(|invocation| invocation.method.clone()).collect();
        let before: Vec<Set> =
            predecessors.iter().map(|earlier| earlier.iter().fold(0, |set, &index| set | 1 << index)).collect();
        let predicates: Vec<Vec<Predicate>> = methods.iter().map(|method| visibility.of(method)).collect();
        let required = predicates.iter().map(|predicates| Required::new(predicates, &methods)).collect();
        Ok(Program { before, predicates, required, methods })
    }

    /// How many invocations there are.
    pub fn len(&self) -> usize {
        self.before.len()
    }

    /// Whether the program has no invocation.
    pub fn is_empty(&self) -> bool {
        self.before.is_empty()
    }

    /// All invocations.
    pub(crate) fn all(&self) -> Set {
        if self.len() == MOST_INVOCATIONS { Set::MAX } else { (1 << self.len()) - 1 }
    }

    /// Whether an invocation sees all that is linearized before it, by its predicates.
    pub fn is_complete(&self, invocation: usize) -> bool {
        (self.required[invocation].complete | 1 << invocation) & self.all() == self.all()
    }

    /// The invocations that a predicate is about.
    pub(crate) fn about(&self, predicate: &Predicate) -> Set {
        about(predicate, &self.methods)
    }

    /// What can be linearized next after `done`.
    pub(crate) fn enabled(&self, done: Set) -> impl Iterator<Item = usize> {
        (0..self.len()).filter(move |&index| done & 1 << index == 0 && self.before[index] & !done == 0)
    }
}

/// Whether a schema is small enough. Its happens-before order takes memory in the square of its size, so this check
/// comes first.
fn fits(schema: &Schema) -> Result<(), TooLarge> {
    match schema.len() {
        0..=MOST_INVOCATIONS => Ok(()),
        count => Err(TooLarge::Invocations(count)),
    }
}

fn about(predicate: &Predicate, methods: &[Arc<str>]) -> Set {
    let is_meant = |method: &str| predicate.about.as_ref().is_none_or(|about| about.contains(method));
    (0..methods.len()).filter(|&index| is_meant(&methods[index])).fold(0, |set, index| set | 1 << index)
}

/// What an invocation i must see: a set of invocations x for each reason to see one. This is a lower bound of vis(i),
/// so the conjunction of predicates is the union of what they require.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Required {
    /// x happens before i.
    pub past: Set,
    /// x is seen by a j that happens before i.
    pub seen_by_past: Set,
    /// x happens before a j that i sees.
    pub past_of_seen: Set,
    /// x is seen by a j that i sees.
    pub seen_by_seen: Set,
    /// x is linearized before i.
    pub complete: Set,
    /// x is seen by a j other than x that is linearized before i.
    pub seen_by_earlier: Set,
    /// x is linearized before a j other than i that i sees.
    pub earlier_than_seen: Set,
}

impl Required {
    fn new(predicates: &[Predicate], methods: &[Arc<str>]) -> Required {
        let mut required = Required::default();
        for predicate in predicates {
            let set = about(predicate, methods);
            match predicate.kind {
                Kind::Level(Level::Weak) => {}
                Kind::Level(Level::Basic) => required.past |= set,
                Kind::Level(Level::Monotonic) => {
                    required.past |= set;
                    required.seen_by_past |= set;
                }
                Kind::Level(Level::Peer) => {
                    required.past |= set;
                    required.seen_by_past |= set;
                    required.past_of_seen |= set;
                }
                Kind::Level(Level::Causal) => {
                    required.past |= set;
                    required.seen_by_seen |= set;
                }
                Kind::Level(Level::Complete) => required.complete |= set,
                Kind::LinPrefix => required.earlier_than_seen |= set,
                Kind::LinMonotonic => required.seen_by_earlier |= set,
            }
        }
        required
    }
}

/// The sequential behaviour of the invocations of a program. An invocation is its index in text order.
pub trait Behaviour {
    /// A state of the object: two equal states behave the same from there on.
    type State: Clone + Eq + std::hash::Hash;

    /// The state of a fresh object.
    fn initial(&mut self) -> Self::State;

    /// Runs one invocation from a state: the state that it leaves and its result.
    fn apply(&mut self, state: &Self::State, invocation: usize) -> (Self::State, Value);
}

/// The invocations of a schema over a reference data type.
pub struct Typed {
    initial: Value,
    calls: Vec<Call>,
}

impl Typed {
    /// The behaviour of a schema.
    ///
    /// # Panics
    /// When [`Schema::check`] refuses the schema for this type.
    pub fn new(data_type: &DataType, schema: &Schema) -> Typed {
        let call = |invocation: &Invocation| {
            data_type.call(&invocation.method, &invocation.arguments).unwrap_or_else(|reason| panic!("{reason}"))
        };
        Typed { initial: data_type.initial(), calls: schema.invocations().map(call).collect() }
    }
}

impl Behaviour for Typed {
    type State = Value;

    fn initial(&mut self) -> Value {
        self.initial.clone()
    }

    fn apply(&mut self, state: &Value, invocation: usize) -> (Value, Value) {
        let mut state = state.clone();
        let result = self.calls[invocation].run(&mut state);
        (state, result)
    }
}
