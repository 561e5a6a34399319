//! The abstract world of one check: states, operations and results as small numbers.
//!
//! A run is a walk through numbered states. The model computes the effect of an operation on a state once, and a table
//! keeps it from then on, so that the search and the judge compare and copy only numbers.

use std::hash::{Hash, Hasher};
use std::panic::Location;
use std::ptr;
use std::sync::Arc;

use hashbrown::HashTable;
use interloper_collections::session::PartId;
use interloper_commutativity::{Conflicts, Invocation, MethodId, Model, Value};
use rustc_hash::FxHasher;

/// A state of all collections together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct StateId(u32);

/// A call on one of the collections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct CallId(u32);

/// A result of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ResultId(u32);

impl StateId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

impl CallId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

impl ResultId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A set of operations of the alphabet: one bit each.
pub(crate) type CallSet = u128;

/// The most operations that an environment can choose from: the bits of a [`CallSet`].
pub(crate) const MAX_ALPHABET: usize = CallSet::BITS as usize;

/// A collection as the world knows it.
pub(crate) struct Part {
    /// The name in reports; empty when there is only one collection.
    pub name: String,
    pub model: Arc<dyn Model>,
    conflicts: Conflicts,
}

impl Part {
    pub fn new(name: String, model: Arc<dyn Model>) -> Part {
        Part { name, conflicts: Conflicts::new(Arc::clone(&model)), model }
    }
}

/// A call under its number.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub part: PartId,
    pub invocation: Invocation,
}

/// The model was not asked yet.
const UNKNOWN: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Transition {
    state: u32,
    result: u32,
}

/// The numbered states, calls and results of one check.
pub(crate) struct World {
    parts: Vec<Part>,
    /// One value for each part.
    states: Vec<Box<[Value]>>,
    state_numbers: HashTable<u32>,
    calls: Vec<Call>,
    call_numbers: HashTable<u32>,
    results: Vec<Value>,
    result_numbers: HashTable<u32>,
    /// By state, then by call.
    transitions: Vec<Vec<Transition>>,
    /// The operations that an environment chooses from: the alphabet. Each is a letter.
    alphabet: Vec<CallId>,
    /// By collection: the letters on it.
    of_parts: Vec<CallSet>,
    /// By state, then by call: the letters of the alphabet that do not commute with the call in the state.
    conflicts: Vec<Vec<Option<CallSet>>>,
    /// By call: see [`World::touching`].
    touching: Vec<Option<CallSet>>,
    /// The last call made at a place in the source.
    places: [Option<(usize, CallId)>; PLACES],
    /// Lists of sets of letters, by a hash of the set.
    lists: [Letters; LISTS],
    /// About how many bytes the states and tables take.
    size: usize,
}

/// How many bytes states and tables may take. Each state holds all of its values, so the states of a method that fills
/// a collection take the square of the size of the collection.
const MOST_BYTES: usize = 1 << 28;

/// How many lists are kept: as many as six bits of a hash distinguish.
const LISTS: usize = 64;

/// How many places in the source are remembered.
const PLACES: usize = 64;

/// Equality of values that takes the short way for the most common ones.
#[inline]
pub(crate) fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Int(one), Value::Int(other)) => one == other,
        (Value::None, Value::None) | (Value::Unit, Value::Unit) => true,
        _ => one == other,
    }
}

#[inline]
fn all_same(ones: &[Value], others: &[Value]) -> bool {
    ones.len() == others.len() && ones.iter().zip(others).all(|(one, other)| same(one, other))
}

impl World {
    pub fn new(parts: Vec<Part>) -> World {
        World {
            parts,
            states: Vec::new(),
            state_numbers: HashTable::new(),
            calls: Vec::new(),
            call_numbers: HashTable::new(),
            results: Vec::new(),
            result_numbers: HashTable::new(),
            transitions: Vec::new(),
            alphabet: Vec::new(),
            of_parts: Vec::new(),
            conflicts: Vec::new(),
            touching: Vec::new(),
            places: [None; PLACES],
            lists: std::array::from_fn(|_| Letters { set: 0, calls: Box::default() }),
            size: 0,
        }
    }

    /// About how many bytes the states and tables take.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Whether the states and tables take as much memory as they may.
    pub fn is_full(&self) -> bool {
        self.size > MOST_BYTES
    }

    /// Forgets all numbers. Earlier numbers become invalid.
    pub fn forget(&mut self) {
        let parts = self.parts.iter().map(|part| Part::new(part.name.clone(), Arc::clone(&part.model))).collect();
        *self = World::new(parts);
    }

    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The number of a state, given by the values of its parts.
    pub fn state(&mut self, values: &[Value]) -> StateId {
        debug_assert_eq!(values.len(), self.parts.len());
        let hash = hash_of(values);
        if let Some(&known) = self.state_numbers.find(hash, |&id| *self.states[id as usize] == *values) {
            return StateId(known);
        }
        let id = number(self.states.len());
        self.size += values.iter().map(size_of_value).sum::<usize>();
        let states = &mut self.states;
        states.push(values.into());
        self.state_numbers.insert_unique(hash, id, |&id| hash_of(&states[id as usize]));
        self.transitions.push(Vec::new());
        self.conflicts.push(Vec::new());
        StateId(id)
    }

    /// The values of a state, one for each part.
    pub fn values(&self, state: StateId) -> &[Value] {
        &self.states[state.index()]
    }

    /// The number of the state that differs from `state` in one part.
    pub fn with_part(&mut self, state: StateId, part: PartId, value: &Value) -> StateId {
        if self.states[state.index()][part.0 as usize] == *value {
            return state;
        }
        let mut values = self.states[state.index()].clone();
        values[part.0 as usize] = value.clone();
        self.state(&values)
    }

    /// The number of a call.
    #[inline]
    pub fn call(&mut self, part: PartId, method: MethodId, arguments: &[Value]) -> CallId {
        let hash = hash_of_call(part, method, arguments);
        let found = self.call_numbers.find(hash, |&id| self.is(CallId(id), part, method, arguments));
        if let Some(&known) = found {
            return CallId(known);
        }
        let id = number(self.calls.len());
        let calls = &mut self.calls;
        calls.push(Call { part, invocation: Invocation { method, arguments: arguments.to_vec() } });
        self.call_numbers.insert_unique(hash, id, |&id| {
            let call = &calls[id as usize];
            hash_of_call(call.part, call.invocation.method, &call.invocation.arguments)
        });
        CallId(id)
    }

    /// The number of a call made at `location`: a place in the source usually makes the same call again.
    #[inline]
    pub fn call_at(
        &mut self,
        location: &'static Location<'static>,
        part: PartId,
        method: MethodId,
        arguments: &[Value],
    ) -> CallId {
        let place = ptr::from_ref(location).addr();
        // Places are some words apart; any spread will do.
        let slot = (place >> 3) % PLACES;
        if let Some((of, call)) = self.places[slot]
            && of == place
            && self.is(call, part, method, arguments)
        {
            return call;
        }
        let call = self.call(part, method, arguments);
        self.places[slot] = Some((place, call));
        call
    }

    /// Whether `call` is this one.
    #[inline]
    pub fn is(&self, call: CallId, part: PartId, method: MethodId, arguments: &[Value]) -> bool {
        let Call { part: its_part, invocation } = &self.calls[call.index()];
        *its_part == part && invocation.method == method && all_same(&invocation.arguments, arguments)
    }

    /// A call by its number.
    pub fn call_of(&self, call: CallId) -> &Call {
        &self.calls[call.index()]
    }

    /// A call as text, `m.insert(7, 12)` where there are several collections.
    pub fn call_text(&self, call: CallId) -> String {
        let Call { part, invocation } = self.call_of(call);
        let part = &self.parts[part.0 as usize];
        let text = invocation.text(&*part.model);
        if part.name.is_empty() { text } else { format!("{}.{text}", part.name) }
    }

    /// The name of a call's method, as reports list it in a sequential order.
    pub fn call_name(&self, call: CallId) -> String {
        let Call { part, invocation } = self.call_of(call);
        let part = &self.parts[part.0 as usize];
        let name = part.model.method(invocation.method).name;
        if part.name.is_empty() { name.to_string() } else { format!("{}.{name}", part.name) }
    }

    /// A state as text: the value for one collection, `m: {}, q: []` for several.
    pub fn state_text(&self, state: StateId) -> String {
        self.values_text(self.values(state))
    }

    /// As [`World::state_text`], for values without a number.
    pub fn values_text(&self, values: &[Value]) -> String {
        let parts: Vec<String> = values
            .iter()
            .zip(&self.parts)
            .map(
                |(value, part)| {
                    if part.name.is_empty() { value.to_string() } else { format!("{}: {value}", part.name) }
                },
            )
            .collect();
        parts.join(", ")
    }

    /// The number of a result.
    #[inline]
    pub fn result(&mut self, value: &Value) -> ResultId {
        let hash = hash_of(value);
        if let Some(&known) = self.result_numbers.find(hash, |&id| same(&self.results[id as usize], value)) {
            return ResultId(known);
        }
        let id = number(self.results.len());
        let results = &mut self.results;
        results.push(value.clone());
        self.result_numbers.insert_unique(hash, id, |&id| hash_of(&results[id as usize]));
        ResultId(id)
    }

    /// A result by its number.
    pub fn value(&self, result: ResultId) -> &Value {
        &self.results[result.index()]
    }

    /// Whether the effect of the call is unknown before the call happens: the call stands for any function of the value
    /// at its key.
    pub fn unknown(&self, call: CallId) -> bool {
        let Call { part, invocation } = self.call_of(call);
        self.parts[part.0 as usize].model.method(invocation.method).name == "modify"
    }

    /// The operations of the alphabet that may touch what `call` touches: operations on the same key of the same
    /// collection, and operations on the whole collection.
    pub fn touching(&mut self, call: CallId) -> CallSet {
        if let Some(Some(known)) = self.touching.get(call.index()) {
            return *known;
        }
        let Call { part, invocation } = self.call_of(call);
        let key = invocation.arguments.first();
        let set = self.letters_where(|other| {
            other.part == *part
                && (key.is_none() || other.invocation.arguments.first().is_none_or(|of| Some(of) == key))
        });
        if self.touching.len() <= call.index() {
            self.touching.resize(call.index() + 1, None);
        }
        self.touching[call.index()] = Some(set);
        set
    }

    /// The effect of `call` in `state`, according to its model.
    #[inline]
    pub fn step(&mut self, state: StateId, call: CallId) -> (StateId, ResultId) {
        if let Some(known) = self.transitions[state.index()].get(call.index())
            && known.state != UNKNOWN
        {
            return (StateId(known.state), ResultId(known.result));
        }
        self.ask_model(state, call)
    }

    #[cold]
    fn ask_model(&mut self, state: StateId, call: CallId) -> (StateId, ResultId) {
        let Call { part, invocation } = self.calls[call.index()].clone();
        let mut value = self.states[state.index()][part.0 as usize].clone();
        let result = self.parts[part.0 as usize].model.apply(&mut value, &invocation);
        let next = self.with_part(state, part, &value);
        let result = self.result(&result);
        let row = &mut self.transitions[state.index()];
        if row.len() <= call.index() {
            self.size += (call.index() + 1 - row.len()) * size_of::<Transition>();
            row.resize(call.index() + 1, Transition { state: UNKNOWN, result: UNKNOWN });
        }
        row[call.index()] = Transition { state: next.0, result: result.0 };
        (next, result)
    }

    /// How many calls have a number.
    pub fn calls(&self) -> usize {
        self.calls.len()
    }

    /// Sets the operations that an environment chooses from.
    ///
    /// # Panics
    /// When there are more than [`MAX_ALPHABET`].
    pub fn set_alphabet(&mut self, alphabet: Vec<CallId>) {
        assert!(alphabet.len() <= MAX_ALPHABET, "the caller checks the size of the alphabet");
        self.alphabet = alphabet;
        self.of_parts =
            (0..).zip(&self.parts).map(|(part, _)| self.letters_where(|call| call.part.0 == part)).collect();
        self.conflicts.iter_mut().for_each(Vec::clear);
        self.touching.clear();
        self.lists = std::array::from_fn(|_| Letters { set: 0, calls: Box::default() });
    }

    pub fn alphabet(&self) -> &[CallId] {
        &self.alphabet
    }

    /// The operations of a set of letters, in the order of the alphabet. The same sets come again and again, so their
    /// lists are kept.
    #[inline]
    pub fn letters(&mut self, set: CallSet) -> &[CallId] {
        let folded = (set as u64) ^ ((set >> 64) as u64);
        let slot = (folded.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 58) as usize;
        if self.lists[slot].set != set {
            self.lists[slot] = self.list(set);
        }
        &self.lists[slot].calls
    }

    #[cold]
    fn list(&self, set: CallSet) -> Letters {
        let letters = (0..self.alphabet.len()).filter(|letter| set >> letter & 1 == 1);
        Letters { set, calls: letters.map(|letter| self.alphabet[letter]).collect() }
    }

    /// All operations of the alphabet.
    pub fn all_letters(&self) -> CallSet {
        match self.alphabet.len() {
            MAX_ALPHABET => CallSet::MAX,
            letters => (1 << letters) - 1,
        }
    }

    /// The operations of the alphabet on one collection.
    pub fn letters_of(&self, part: PartId) -> CallSet {
        self.of_parts.get(part.0 as usize).copied().unwrap_or_default()
    }

    /// The operations of the alphabet that a predicate admits.
    pub fn letters_where(&self, admits: impl Fn(&Call) -> bool) -> CallSet {
        let letters = self.alphabet.iter().enumerate();
        letters.filter(|(_, call)| admits(self.call_of(**call))).fold(0, |set, (letter, _)| set | 1 << letter)
    }

    /// The operations of the alphabet that do not commute with `call` in `state`. Operations on different collections
    /// commute.
    #[inline]
    pub fn conflicting(&mut self, state: StateId, call: CallId) -> CallSet {
        if let Some(Some(known)) = self.conflicts[state.index()].get(call.index()) {
            return *known;
        }
        self.ask_specification(state, call)
    }

    /// Whether two calls on the same collection conflict in `state`: whether their order makes a difference there.
    pub fn conflict(&mut self, state: StateId, one: CallId, other: CallId) -> bool {
        let Call { part, invocation } = &self.calls[one.index()];
        let value = &self.states[state.index()][part.0 as usize];
        let conflicts = &mut self.parts[part.0 as usize].conflicts;
        conflicts.conflicts(value, invocation, &self.calls[other.index()].invocation)
    }

    #[cold]
    fn ask_specification(&mut self, state: StateId, call: CallId) -> CallSet {
        let Call { part, invocation } = self.calls[call.index()].clone();
        let value = self.states[state.index()][part.0 as usize].clone();
        let mut set = 0;
        for letter in 0..self.alphabet.len() {
            let other = &self.calls[self.alphabet[letter].index()];
            if other.part == part {
                let conflicts = &mut self.parts[part.0 as usize].conflicts;
                if conflicts.conflicts(&value, &invocation, &other.invocation) {
                    set |= 1 << letter;
                }
            }
        }
        let row = &mut self.conflicts[state.index()];
        if row.len() <= call.index() {
            self.size += (call.index() + 1 - row.len()) * size_of::<Option<CallSet>>();
            row.resize(call.index() + 1, None);
        }
        row[call.index()] = Some(set);
        set
    }
}

/// About how many bytes a value takes.
fn size_of_value(value: &Value) -> usize {
    let entries = match value {
        Value::Map(entries) => 2 * entries.len(),
        Value::Set(items) => items.len(),
        Value::List(items) | Value::Tuple(items) => items.len(),
        _ => 1,
    };
    // This includes the room that trees leave free.
    entries * size_of::<Value>() * 3 / 2
}

/// The letters of a set, listed.
pub(crate) struct Letters {
    set: CallSet,
    /// In the order of the alphabet.
    pub calls: Box<[CallId]>,
}

fn number(length: usize) -> u32 {
    u32::try_from(length).ok().filter(|&id| id != UNKNOWN).expect("fewer than 2^32 - 1 states, calls and results")
}

pub(crate) fn hash_of<T: Hash + ?Sized>(value: &T) -> u64 {
    let mut hasher = FxHasher::default();
    value.hash(&mut hasher);
    hasher.finish()
}

fn hash_of_call(part: PartId, method: MethodId, arguments: &[Value]) -> u64 {
    let mut hasher = FxHasher::default();
    (part.0, method.0).hash(&mut hasher);
    for argument in arguments {
        argument.hash(&mut hasher);
    }
    hasher.finish()
}
