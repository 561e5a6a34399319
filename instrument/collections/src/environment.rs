//! What the `Instrumented` implementations share: arguments, results, states and domains.
//!
//! Whatever does not depend on a user's type is in functions that are not generic. They are compiled once; generic code is compiled in
//! each crate of a user, as often as there are types.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use interloper_commutativity::models::{MapModel, SetModel, SortedMapModel, SortedSetModel};
use interloper_commutativity::{Datum, Invocation, Model, ToValue, Value};

use crate::session::{DomainKind, Handle, Maker, Outcome};

/// The handle of collections as they were published: nobody ties them to a run.
pub(crate) static UNTIED: Handle = Handle::new();

/// A collection as it was published, of a type with this name: nobody ties it to a run, and its calls are heard where its crate is under
/// control.
macro_rules! as_it_was_published {
    ($name:expr) => {
        fn handle(&self) -> &Handle {
            &$crate::environment::UNTIED
        }

        fn as_published(&self) -> Option<&'static str> {
            Some($name)
        }
    };
}
pub(crate) use as_it_was_published;

/// The wrapper around an original: what holds for the original holds for it.
macro_rules! as_its_original {
    ([$($generics:tt)*] $wrapper:ty) => {
        impl<$($generics)*> Instrumented for $wrapper {
            fn handle(&self) -> &Handle {
                &self.handle
            }

            fn model(&self) -> Arc<dyn Model> {
                self.inner.model()
            }

            fn snapshot(&self) -> Value {
                self.inner.snapshot()
            }

            fn snapshot_beside_guards(&self, known: &Value) -> Value {
                self.inner.snapshot_beside_guards(known)
            }

            fn restore(&self, state: &Value) -> Result<(), Value> {
                self.inner.restore(state)
            }

            fn restore_from(&self, from: &Value, to: &Value) -> Result<(), Value> {
                self.inner.restore_from(from, to)
            }

            fn apply(&self, call: &Invocation) -> Result<Outcome, Value> {
                self.inner.apply(call)
            }

            fn needs(&self, call: &Invocation) -> $crate::session::Needs {
                self.inner.needs(call)
            }

            fn domain(&self) -> DomainKind {
                self.inner.domain()
            }
        }
    };
}
pub(crate) use as_its_original;

/// The value that `form` is the form of.
pub(crate) fn parse<T: Datum>(form: &Value) -> Result<T, Value> {
    T::from_value(form).ok_or_else(|| form.clone())
}

/// An argument of a call.
pub(crate) fn argument<T: Datum>(call: &Invocation, index: usize) -> Result<T, Value> {
    call.arguments.get(index).ok_or(Value::None).and_then(parse)
}

/// The error of `apply` for a method that the collection does not have.
pub(crate) fn unknown() -> Value {
    Value::variant("no such method", [])
}

/// A result that does not change.
pub(crate) fn fixed(result: Value) -> Result<Outcome, Value> {
    Ok(Outcome::fixed(result))
}

/// An optional value as a result. It is read again later when it can change.
pub(crate) fn maybe_later<V: Datum>(value: Option<&V>) -> Outcome {
    let now = Value::option(value.map(ToValue::to_value));
    let Some(value) = value.filter(|_| V::INTERIOR).cloned() else { return Outcome::fixed(now) };
    Outcome { now, later: Some(Box::new(move || Value::option(Some(value.to_value())))) }
}

/// An optional entry as a result: a pair or `none`.
pub(crate) fn pair_or_none<V: Datum>(entry: Option<(Value, V)>) -> Outcome {
    let Some((key, value)) = entry else { return Outcome::fixed(Value::None) };
    let now = Value::tuple([key.clone(), value.to_value()]);
    if !V::INTERIOR {
        return Outcome::fixed(now);
    }
    Outcome { now, later: Some(Box::new(move || Value::tuple([key.clone(), value.to_value()]))) }
}

/// The entry with the smallest key after the cursor of `call`. `entries` may come in any order.
pub(crate) fn next_after<T>(
    call: &Invocation,
    entries: impl Iterator<Item = (Value, T)>,
) -> Result<Option<(Value, T)>, Value> {
    let cursor = cursor(call)?;
    let mut next: Option<(Value, T)> = None;
    for entry in entries {
        if comes_next(&entry.0, cursor, next.as_ref().map(|(key, _)| key)) {
            next = Some(entry);
        }
    }
    Ok(next)
}

/// The smallest element after the cursor of `call`, as a result. `elements` may come in any order.
pub(crate) fn next_element_after(
    call: &Invocation,
    elements: &mut dyn Iterator<Item = Value>,
) -> Result<Outcome, Value> {
    let cursor = cursor(call)?;
    fixed(Value::option(elements.filter(|element| comes_next(element, cursor, None)).min()))
}

fn cursor(call: &Invocation) -> Result<Option<&Value>, Value> {
    Ok(call.arguments.first().ok_or(Value::None)?.content())
}

/// Whether a key is after the cursor, and before the best key so far.
fn comes_next(key: &Value, cursor: Option<&Value>, best: Option<&Value>) -> bool {
    cursor.is_none_or(|cursor| key.cmp(cursor) == Ordering::Greater)
        && best.is_none_or(|best| key.cmp(best) == Ordering::Less)
}

/// Whether a state of a map has this entry.
pub(crate) fn has_entry(state: &BTreeMap<Value, Value>, key: &Value, value: &Value) -> bool {
    state.get(key) == Some(value)
}

/// Whether a state of a set has this element.
pub(crate) fn has_element(state: &BTreeSet<Value>, element: &Value) -> bool {
    state.contains(element)
}

/// Makes one state of a map another one: removes keys, then inserts entries. It allocates nothing, since runs do this all the time.
///
/// # Errors
/// That of `remove` or `insert`.
pub(crate) fn change(
    (from, to): (&BTreeMap<Value, Value>, &BTreeMap<Value, Value>),
    remove: &mut dyn FnMut(&Value) -> Result<(), Value>,
    insert: &mut dyn FnMut(&Value, &Value) -> Result<(), Value>,
) -> Result<(), Value> {
    from.keys().filter(|key| !to.contains_key(key)).try_for_each(remove)?;
    to.iter().filter(|(key, value)| !has_entry(from, key, value)).try_for_each(|(key, value)| insert(key, value))
}

/// Makes one state of a set another one: removes elements, then inserts others.
///
/// # Errors
/// That of `remove` or `insert`.
pub(crate) fn change_set(
    (from, to): (&BTreeSet<Value>, &BTreeSet<Value>),
    remove: &mut dyn FnMut(&Value) -> Result<(), Value>,
    insert: &mut dyn FnMut(&Value) -> Result<(), Value>,
) -> Result<(), Value> {
    from.difference(to).try_for_each(remove)?;
    to.difference(from).try_for_each(insert)
}

pub(crate) fn map_model() -> Arc<dyn Model> {
    Arc::new(MapModel)
}

pub(crate) fn sorted_map_model() -> Arc<dyn Model> {
    Arc::new(SortedMapModel)
}

pub(crate) fn set_model() -> Arc<dyn Model> {
    Arc::new(SetModel)
}

pub(crate) fn sorted_set_model() -> Arc<dyn Model> {
    Arc::new(SortedSetModel)
}

/// The domain of a collection with keys and values.
pub(crate) fn domain<K: Datum, V: Datum>() -> DomainKind {
    DomainKind { key: Maker::of::<K>(), value: Maker::of::<V>(), interior: K::INTERIOR || V::INTERIOR }
}

/// The elements of a state that is a list.
pub(crate) fn parse_list<T: Datum>(state: &Value) -> Result<Vec<T>, Value> {
    let Value::List(items) = state else { return Err(state.clone()) };
    items.iter().map(parse).collect()
}

/// The content of a queue of `length` elements: each element is taken from the front and put back at the back.
pub(crate) fn contents<T: ToValue>(length: usize, pop: impl Fn() -> Option<T>, push: impl Fn(T)) -> Value {
    Value::list((0..length).map_while(|_| pop()).map(|element| {
        let form = element.to_value();
        push(element);
        form
    }))
}

/// Makes `elements` the content of a queue.
pub(crate) fn refill<T>(elements: Vec<T>, pop: impl Fn() -> Option<T>, push: impl Fn(T)) {
    while pop().is_some() {}
    elements.into_iter().for_each(push);
}
