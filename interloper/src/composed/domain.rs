//! The small domain that a search ranges over: keys, values, the environment's operations, initial states.

use std::collections::{HashMap, HashSet};

use interloper_collections::session::{DomainKind, PartId};
use interloper_commutativity::{Invocation, MethodId, Parameter, Value};

use crate::composed::adversary::Environment;
use crate::composed::concurrent::OWN_CALLS;
use crate::composed::misuse::Misuse;
use crate::composed::run::Did;
use crate::composed::runner::Runner;
use crate::composed::world::{CallId, MAX_ALPHABET, StateId, World};

/// What the environment uses as arguments on one collection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Pool {
    keys: Vec<Value>,
    values: Vec<Value>,
}

/// The most keys and values of one collection: the ones that the method uses come first.
const MAX_POOL: usize = 4;

/// The fewest keys and values of one collection, if the type has that many: two tell "the same" from "another".
const MIN_POOL: usize = 2;

/// How often the method is run to see what it uses: an initial state can make it use more than it did from another.
const ROUNDS: usize = 3;

/// By method, argument and state: the state at the end of what the method did alone.
type Looked = HashMap<(usize, usize, StateId), StateId>;

/// Chooses the environment's operations and the initial states, smallest first, and sets the world's alphabet.
///
/// The domain of a collection is what the method itself uses as keys and values, run alone from each initial state, and
/// at least one fresh value. The initial states are the states that the environment reaches in few operations; in a closed
/// environment, those that the object's own methods reach.
///
/// # Errors
/// When the method uses no collection, or the environment has nothing to use.
pub(crate) fn choose(runner: &mut Runner<'_>) -> Result<Vec<StateId>, Misuse> {
    let base = runner.read();
    let kinds: Vec<DomainKind> = runner.parts.iter().map(|part| part.domain()).collect();
    let mut seen = vec![Pool::default(); kinds.len()];
    let mut looked = Looked::new();
    let mut touched = look(runner, &[base], &mut seen, &mut looked)?;
    let mut initial = Vec::new();
    for _ in 0..ROUNDS {
        let before = seen.clone();
        let pools = pools(runner, &kinds, &seen);
        set_alphabet(runner, &pools)?;
        initial = match runner.environment() {
            Environment::Closed => own_states(runner, base, &mut seen, &mut looked)?,
            Environment::Open | Environment::Restricted => initial_states(runner, base)?,
        };
        touched |= look(runner, &initial, &mut seen, &mut looked)?;
        if seen == before {
            break;
        }
    }
    if let Some(places) = runner.places.clone() {
        places.settle();
        if !places.any() {
            let place = runner.log.outside.map(|place| place.to_string());
            return Err(Misuse::CallsNotSeen { collection: runner.published(), place });
        }
        // In a closed environment, the methods bring their keys along.
        let uses_keys = runner.environment() != Environment::Closed && runner.description.keys.is_empty();
        if uses_keys && !depends(runner, &initial)? {
            return Err(Misuse::KeysNotKnown { states: initial.len() });
        }
    }
    if touched { Ok(initial) } else { Err(Misuse::NoInstrumentedOperation) }
}

/// Whether what the method under test does alone depends on the state that it begins in, or changes that. If it does not, the
/// keys of the states are probably not those that it uses: of a published collection, a call that only reads shows none.
fn depends(runner: &mut Runner<'_>, states: &[StateId]) -> Result<bool, Misuse> {
    for argument in 0..runner.arguments.len() {
        let mut first = None;
        for &state in states {
            let ended = runner.look(0, argument, state)?;
            let same = *first.get_or_insert(ended.returned) == ended.returned;
            if !same || ended.end != state || runner.log.abort.is_some() {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Runs every method alone from each state, unless that was done, and notes the keys and values that it uses. Returns whether some
/// method made a step.
fn look(runner: &mut Runner<'_>, states: &[StateId], seen: &mut [Pool], looked: &mut Looked) -> Result<bool, Misuse> {
    let mut touched = false;
    for (method, argument) in calls_looked_at(runner) {
        for &state in states {
            if looked.contains_key(&(method, argument, state)) {
                continue;
            }
            let ended = runner.look_first(method, argument, state)?;
            looked.insert((method, argument, state), ended.end);
            touched |= runner.log.steps > 0;
            if runner.log.lost {
                // The search repeats this run and shows it. Each lost call costs a stack.
                return Ok(true);
            }
            for event in &runner.log.events {
                note(&runner.world, event.did, event.state, seen);
            }
            if runner.places.is_some() {
                note_changes(&runner.world, state, ended.end, seen);
            }
        }
    }
    Ok(touched)
}

fn calls_looked_at(runner: &Runner<'_>) -> Vec<(usize, usize)> {
    let is_further = |method: usize| method > 0 && runner.description.beside[method - 1].is_further;
    runner.calls().filter(|call| !is_further(call.0)).collect()
}

fn note(world: &World, did: Did, state: StateId, seen: &mut [Pool]) {
    match did {
        Did::Call(call, _) => {
            let call = world.call_of(call);
            let model = &world.parts()[call.part.0 as usize].model;
            let pool = &mut seen[call.part.0 as usize];
            let parameters = model.method(call.invocation.method).parameters;
            for (parameter, argument) in parameters.iter().zip(&call.invocation.arguments) {
                match parameter {
                    Parameter::Key => add(&mut pool.keys, argument),
                    Parameter::Value => add(&mut pool.values, argument),
                    Parameter::Amount | Parameter::Cursor => {}
                }
            }
        }
        // What a critical section did with its collection is not seen, only what it left there.
        Did::Section(part) => {
            let pool = &mut seen[part.0 as usize];
            match &world.values(state)[part.0 as usize] {
                Value::Map(entries) => entries.iter().for_each(|(key, value)| {
                    add(&mut pool.keys, key);
                    add(&mut pool.values, value);
                }),
                Value::Set(items) => items.iter().for_each(|item| add(&mut pool.keys, item)),
                Value::List(items) => items.iter().for_each(|item| add(&mut pool.values, item)),
                other => add(&mut pool.values, other),
            }
        }
        Did::Turn(_) | Did::Pause(_) | Did::Begin | Did::End(_) => {}
    }
}

/// What calls of published collections did is not seen, only what they changed.
fn note_changes(world: &World, before: StateId, after: StateId, seen: &mut [Pool]) {
    let changed = world.values(before).iter().zip(world.values(after)).zip(seen);
    for ((before, after), pool) in changed.filter(|((before, after), _)| before != after) {
        match (before, after) {
            (Value::Map(before), Value::Map(after)) => {
                for (key, value) in after.iter().filter(|(key, value)| before.get(key) != Some(value)) {
                    add(&mut pool.keys, key);
                    add(&mut pool.values, value);
                }
                before.keys().filter(|key| !after.contains_key(key)).for_each(|key| add(&mut pool.keys, key));
            }
            (Value::Set(before), Value::Set(after)) => {
                before.symmetric_difference(after).for_each(|item| add(&mut pool.keys, item));
            }
            (_, Value::List(after)) => after.iter().for_each(|item| add(&mut pool.values, item)),
            (_, after) => add(&mut pool.values, after),
        }
    }
}

fn add(pool: &mut Vec<Value>, value: &Value) {
    if pool.len() < MAX_POOL && !pool.contains(value) {
        pool.push(value.clone());
    }
}

/// What the environment uses on each collection.
fn pools(runner: &Runner<'_>, kinds: &[DomainKind], seen: &[Pool]) -> Vec<Pool> {
    let arguments: Vec<Value> = runner.arguments.values.iter().cloned().flat_map(flattened).collect();
    let pool = |(kind, seen): (&DomainKind, &Pool)| {
        let given = |given: &[Value], accepts: fn(&Value) -> bool| -> Vec<Value> {
            given.iter().filter(|value| accepts(value)).cloned().collect()
        };
        let mut keys = given(&runner.description.keys, kind.key.accepts);
        if keys.is_empty() {
            keys = or_else(known(&seen.keys, kind.key.accepts), || known(&arguments, kind.key.accepts));
            keys.truncate(MAX_POOL - 1);
            refill(&mut keys, MIN_POOL, kind.key.fresh);
        }
        let mut values = given(&runner.description.values, kind.value.accepts);
        if values.is_empty() {
            let there = |value: &Value| runner.description.abstraction.is_none_or(|of| of(value).is_some());
            values = known(&seen.values, kind.value.accepts).into_iter().filter(there).collect();
            values.truncate(MAX_POOL - 1);
            let least = MIN_POOL.max(values.len() + 1);
            refill(&mut values, least, kind.value.fresh);
        }
        Pool { keys, values }
    };
    kinds.iter().zip(seen).map(pool).collect()
}

fn known(values: &[Value], accepts: fn(&Value) -> bool) -> Vec<Value> {
    let mut known = Vec::new();
    values.iter().filter(|value| accepts(value)).for_each(|value| add(&mut known, value));
    known
}

fn or_else(values: Vec<Value>, other: impl FnOnce() -> Vec<Value>) -> Vec<Value> {
    if values.is_empty() { other() } else { values }
}

fn refill(pool: &mut Vec<Value>, least: usize, fresh: fn(&[Value]) -> Option<Value>) {
    while pool.len() < least {
        match fresh(pool) {
            Some(value) => pool.push(value),
            None => return,
        }
    }
}

/// The values in an argument: a tuple's components are arguments of their own.
pub(super) fn flattened(argument: Value) -> Vec<Value> {
    match argument {
        Value::Tuple(items) => items.iter().cloned().flat_map(flattened).collect(),
        Value::Unit => Vec::new(),
        other => vec![other],
    }
}

fn set_alphabet(runner: &mut Runner<'_>, pools: &[Pool]) -> Result<(), Misuse> {
    let mut alphabet = Vec::new();
    for (index, pool) in pools.iter().enumerate() {
        let letters = letters(&mut runner.world, index, pool, |call| runner.parts[index].takes(call));
        if letters.is_empty() {
            return Err(Misuse::EmptyDomain { collection: runner.part_name(index) });
        }
        alphabet.extend(letters);
    }
    if alphabet.len() > MAX_ALPHABET {
        return Err(Misuse::DomainTooLarge { operations: alphabet.len(), limit: MAX_ALPHABET });
    }
    runner.world.set_alphabet(alphabet);
    Ok(())
}

/// Every operation that an open environment has on one collection, with arguments out of its pool.
fn letters(world: &mut World, part: usize, pool: &Pool, takes: impl Fn(&Invocation) -> bool) -> Vec<CallId> {
    let model = std::sync::Arc::clone(&world.parts()[part].model);
    let amounts = [Value::Int(1)];
    let mut letters = Vec::new();
    for (index, method) in (0..).zip(model.methods()).filter(|(_, method)| method.environment) {
        let mut tuples: Vec<Vec<Value>> = vec![Vec::new()];
        for parameter in method.parameters {
            let choices: &[Value] = match parameter {
                Parameter::Key | Parameter::Cursor => &pool.keys,
                Parameter::Value => &pool.values,
                Parameter::Amount => &amounts,
            };
            let extended = tuples.iter().flat_map(|tuple| {
                choices.iter().map(|choice| tuple.iter().chain([choice]).cloned().collect::<Vec<Value>>())
            });
            tuples = extended.collect();
        }
        let part = PartId(u32::try_from(part).expect("few collections"));
        let calls = tuples.into_iter().map(|arguments| Invocation::new(MethodId(index), arguments));
        let calls = calls.filter(|call| takes(call));
        letters.extend(calls.map(|call| world.call(part, call.method, &call.arguments)));
    }
    letters
}

/// The states that the object's own methods reach from where the object begins, each looked at from there.
fn own_states(
    runner: &mut Runner<'_>,
    base: StateId,
    seen: &mut [Pool],
    looked: &mut Looked,
) -> Result<Vec<StateId>, Misuse> {
    let first = given_states(runner)?.map_or(base, |given| given[0]);
    let calls = calls_looked_at(runner);
    let mut states = vec![first];
    let mut from = 0;
    for _ in 0..OWN_CALLS {
        let to = states.len();
        look(runner, &states[from..to], seen, looked)?;
        for state in from..to {
            for &(method, argument) in &calls {
                // A lost call ends the looking.
                let Some(&end) = looked.get(&(method, argument, states[state])) else { return Ok(states) };
                if !states.contains(&end) {
                    states.push(end);
                }
            }
        }
        from = to;
    }
    Ok(states)
}

/// The initial states: the given ones, or the states within a few environment operations of `base`, nearest first.
fn initial_states(runner: &mut Runner<'_>, base: StateId) -> Result<Vec<StateId>, Misuse> {
    if let Some(given) = given_states(runner)? {
        return Ok(given);
    }
    let alphabet = runner.world.alphabet().to_vec();
    let mut states = vec![base];
    let mut known = HashSet::from([base]);
    let mut from = 0;
    for _ in 0..runner.description.settings.initial_size {
        let to = states.len();
        for index in from..to {
            if runner.must_stop() {
                return Err(Misuse::CutShort);
            }
            for &letter in &alphabet {
                let (next, _) = runner.world.step(states[index], letter);
                if known.insert(next) {
                    states.push(next);
                }
            }
        }
        from = to;
    }
    Ok(states)
}

/// The initial states that the description gives, if it gives any.
fn given_states(runner: &mut Runner<'_>) -> Result<Option<Vec<StateId>>, Misuse> {
    let given = &runner.description.initial_states;
    if let Some(odd) = given.iter().find(|state| state.len() != runner.parts.len()) {
        let value = Value::list(odd.iter().cloned()).to_string();
        let collection = format!("a subject of {} collections", runner.parts.len());
        return Err(Misuse::BadState { collection, value });
    }
    let states: Vec<StateId> = given.iter().map(|values| runner.world.state(values)).collect();
    Ok((!states.is_empty()).then_some(states))
}
