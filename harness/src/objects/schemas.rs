//! Which schemas an object is tried with: drawn at random, or enumerated.
//!
//! Both produce schemas of a few sequences of a few invocations over a few values. They leave out schemas in which
//! nothing can go wrong (only reading methods run in parallel, for example).

mod alphabet;
mod enumerate;
mod filled;
mod instead;
mod order;
mod sample;
#[cfg(test)]
mod slow;
#[cfg(test)]
mod tests;

use std::ops::RangeInclusive;

use interloper_linearize::schema::{Invocation, Schema};

use crate::object::{MethodId, Object, Role};
use alphabet::Call;
use order::Order;

pub use enumerate::{Enumeration, Rank, ranks};
pub(crate) use filled::filled;
pub(crate) use instead::with_core_instead;
pub use sample::Sampler;

/// How large schemas are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// How many sequences.
    pub sequences: RangeInclusive<usize>,
    /// How many invocations in all.
    pub invocations: RangeInclusive<usize>,
    /// How many values the arguments are about.
    pub values: RangeInclusive<u8>,
    /// Whether sequences may be ordered by happens-before constraints.
    pub constraints: bool,
    /// How many calls of core methods come before all sequences, so that the object is not as it was made. Only
    /// [`Sampler`] draws such schemas.
    pub start: RangeInclusive<usize>,
}

impl Default for Bounds {
    /// The bounds of Violat (section 3): 2 sequences, 3 to 6 invocations, 2 values, no constraints, from the start.
    fn default() -> Bounds {
        Bounds { sequences: 2..=2, invocations: 3..=6, values: 2..=2, constraints: false, start: 0..=0 }
    }
}

/// Which methods schemas call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pool {
    /// This one once, and core methods: a violation is its fault.
    One(MethodId),
    /// This one twice or more, and core methods, if there are any: a violation is its fault.
    Repeated(MethodId),
    /// Both of these, on different threads, with core methods beside them: a violation is the fault of the two together, if each is
    /// atomic beside core methods alone.
    Pair([MethodId; 2]),
    /// These, any number of times, and core methods.
    Together(Vec<MethodId>),
    /// These, any number of times, and no others.
    Only(Vec<MethodId>),
}

impl Pool {
    /// The methods under test in this pool.
    pub fn under_test(&self) -> &[MethodId] {
        match self {
            Pool::One(method) | Pool::Repeated(method) => std::slice::from_ref(method),
            Pool::Pair(methods) => methods,
            Pool::Together(methods) | Pool::Only(methods) => methods,
        }
    }

    /// The methods that may be called any number of times.
    fn beside(&self, object: &Object) -> Vec<MethodId> {
        let others = object.beside().into_iter().filter(|method| !self.under_test().contains(method));
        match self {
            Pool::One(_) => others.collect(),
            Pool::Repeated(method) => others.chain([*method]).collect(),
            Pool::Pair(methods) => others.chain(*methods).collect(),
            Pool::Together(methods) => others.chain(methods.iter().copied()).collect(),
            Pool::Only(methods) => methods.clone(),
        }
    }
}

/// A schema in the making.
struct Harness<'o> {
    object: &'o Object,
    tested: &'o [MethodId],
    sequences: Vec<Vec<&'o Call>>,
    order: Order,
}

impl Harness<'_> {
    fn schema(&self) -> Schema {
        let invocation = |call: &&Call| call.invocation(self.object);
        let sequences = self.sequences.iter().map(|sequence| sequence.iter().map(invocation).collect());
        Schema::new(sequences.collect(), self.order.constraints()).expect("an order has no cycle")
    }

    /// Whether something can go wrong that the methods under test are to blame for.
    ///
    /// Core methods are atomic by assumption, and methods that only read do not disturb other calls. So a method under
    /// test has to overlap a method that changes the object, or overlap anything while it changes the object itself, or
    /// come after core methods that have overlapped each other and may have left the object in a state that no
    /// sequential run leaves it in (a count that has lost an update, say).
    ///
    /// *Exposing non-atomic methods* (section 4) leaves the last kind out where the method under test only reads. It is
    /// possible only where there are happens-before constraints.
    fn can_fail(&self) -> bool {
        let all: Vec<Place<'_>> = self.places().collect();
        let changes = |place: &Place<'_>| !self.object.method(place.call.method).reads;
        let overlap = |one: &Place<'_>, other: &Place<'_>| {
            one.sequence != other.sequence
                && !self.order.is_before(one.sequence, other.sequence)
                && !self.order.is_before(other.sequence, one.sequence)
        };
        let before = |one: &Place<'_>, other: &Place<'_>| {
            self.order.is_before(one.sequence, other.sequence)
                || one.sequence == other.sequence && one.index < other.index
        };
        let mut under_test = all.iter().filter(|place| self.tested.contains(&place.call.method));
        under_test.any(|tested| {
            let disturbed = all.iter().any(|other| overlap(tested, other) && (changes(tested) || changes(other)));
            let earlier: Vec<&Place<'_>> = all.iter().filter(|other| before(other, tested) && changes(other)).collect();
            disturbed || earlier.iter().any(|one| earlier.iter().any(|other| overlap(one, other)))
        })
    }

    fn places(&self) -> impl Iterator<Item = Place<'_>> {
        self.sequences.iter().enumerate().flat_map(|(sequence, calls)| {
            calls.iter().enumerate().map(move |(index, call)| Place { sequence, index, call })
        })
    }
}

/// The schema with another sequence before all others, unless that has no calls.
fn started(schema: &Schema, start: Vec<Invocation>) -> Schema {
    if start.is_empty() {
        return schema.clone();
    }
    let first = [start].into_iter();
    let sequences: Vec<Vec<Invocation>> = first.chain(schema.sequences().iter().cloned()).collect();
    let shifted = schema.happens_before().iter().map(|&(one, other)| (one + 1, other + 1));
    let from_start = roots(schema).into_iter().map(|root| (0, root + 1));
    let before = from_start.chain(shifted).collect();
    Schema::new(sequences, before).expect("a first sequence makes no cycle")
}

/// The schema with the postconditions of the object in one more sequence after all others, if the object has any.
pub(crate) fn ended(object: &Object, schema: Schema) -> Schema {
    let postconditions = object.with_role(Role::Postcondition);
    let calls: Vec<Invocation> =
        postconditions.map(|method| Invocation::new(object.method(method).name.clone(), std::iter::empty())).collect();
    with_end(schema, calls)
}

/// The schema with these calls after all others.
pub(crate) fn with_end(schema: Schema, calls: Vec<Invocation>) -> Schema {
    if calls.is_empty() {
        return schema;
    }
    let last = schema.sequences().len();
    let is_earlier = |sequence: &usize| schema.happens_before().iter().any(|pair| pair.0 == *sequence);
    let ends = (0..last).filter(|sequence| !is_earlier(sequence)).map(|sequence| (sequence, last));
    let before = schema.happens_before().iter().copied().chain(ends).collect();
    let sequences = schema.sequences().iter().cloned().chain([calls]).collect();
    Schema::new(sequences, before).expect("a last sequence makes no cycle")
}

/// Whether methods that are left out run beside no other call.
pub(crate) fn keeps_apart(object: &Object, schema: &Schema) -> bool {
    let names: Vec<&str> = object.left_out().iter().map(|&method| &*object.method(method).name).collect();
    let calls_one = |sequence: &[Invocation]| sequence.iter().any(|call| names.contains(&&*call.method));
    let all = 0..schema.sequences().len();
    let is_apart = |one: usize| {
        all.clone().all(|other| other == one || is_before(schema, one, other) || is_before(schema, other, one))
    };
    names.is_empty() || all.clone().all(|one| !calls_one(&schema.sequences()[one]) || is_apart(one))
}

/// Whether a sequence ends before another one begins.
fn is_before(schema: &Schema, first: usize, second: usize) -> bool {
    let mut next = schema.happens_before().iter().filter(|pair| pair.0 == first).map(|pair| pair.1);
    next.any(|next| next == second || is_before(schema, next, second))
}

/// The sequences that no other one comes before.
fn roots(schema: &Schema) -> Vec<usize> {
    let is_later = |sequence: &usize| schema.happens_before().iter().any(|pair| pair.1 == *sequence);
    (0..schema.sequences().len()).filter(|sequence| !is_later(sequence)).collect()
}

/// The sequence that an invocation belongs to, where they have these lengths.
fn sequence_of(invocation: usize, lengths: &[usize]) -> Option<usize> {
    let mut end = 0;
    lengths.iter().position(|length| {
        end += length;
        invocation < end
    })
}

/// Where a call stands in a harness.
struct Place<'h> {
    sequence: usize,
    index: usize,
    call: &'h Call,
}
