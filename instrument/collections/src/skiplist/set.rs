//! A sorted set.

use std::borrow::Borrow;
use std::fmt;
use std::ops::{Bound, Deref};
use std::sync::Arc;

use crossbeam_skiplist::map as real;
use interloper_commutativity::models::sorted_set;
use interloper_commutativity::{Datum, Invocation, Model, ToValue, Value};

use super::core::SkipList;
use super::words::Elements;
use super::{entry, iterate};
use crate::environment::{argument, change_set, domain, has_element, parse, sorted_set_model, unknown};
use crate::session::{DomainKind, Handle, Instrumented, Outcome};

/// [`crossbeam_skiplist::SkipSet`], instrumented. See the [module](super) for what is one step.
pub type SkipSet<T> = SkipList<T, (), Elements>;

/// An entry of a [`SkipSet`]. It can still be read after it was removed.
pub type Entry<'a, T> = entry::Entry<'a, T, (), Elements>;

/// The iterator of `SkipSet::iter`.
pub type Iter<'a, T> = iterate::Iter<'a, T, (), Elements>;

/// The iterator of `SkipSet::range`.
pub type Range<'a, Q, R, T> = iterate::Range<'a, Q, R, T, (), Elements>;

impl<T: Ord + ToValue> SkipSet<T> {
    /// Whether `key` is an element. One step.
    #[track_caller]
    pub fn contains<Q>(&self, key: &Q) -> bool
    where
        T: Borrow<Q>,
        Q: Ord + ToValue + ?Sized,
    {
        self.has(key)
    }

    /// The entry of the element `key`, which is inserted if it is missing. One step.
    #[track_caller]
    pub fn get_or_insert(&self, key: T) -> Entry<'_, T> {
        self.entry_or_insert(key, ())
    }
}

impl<T: Ord + ToValue + Send + 'static> SkipSet<T> {
    /// Makes `key` an element, in a new entry. One step.
    #[track_caller]
    pub fn insert(&self, key: T) -> Entry<'_, T> {
        self.insert_entry(key, ())
    }
}

/// No step: the set is owned.
impl<T> IntoIterator for SkipSet<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        IntoIter(self.inner.into_iter())
    }
}

impl<T: Ord> FromIterator<T> for SkipSet<T> {
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Self {
        SkipList::of(elements.into_iter().map(|element| (element, ())).collect())
    }
}

impl<T> Entry<'_, T> {
    /// The element.
    pub fn value(&self) -> &T {
        self.real.key()
    }
}

impl<T: fmt::Debug> fmt::Debug for Entry<'_, T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Entry").field("value", self.value()).finish()
    }
}

impl<T> Deref for Entry<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.value()
    }
}

/// The iterator of an owned [`SkipSet`].
pub struct IntoIter<T>(real::IntoIter<T, ()>);

impl<T> Iterator for IntoIter<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.0.next().map(|(element, ())| element)
    }
}

impl<T> fmt::Debug for IntoIter<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad("IntoIter { .. }")
    }
}

impl<T: Datum + Ord + Send> Instrumented for SkipSet<T> {
    fn handle(&self) -> &Handle {
        &self.handle
    }

    fn model(&self) -> Arc<dyn Model> {
        sorted_set_model()
    }

    fn snapshot(&self) -> Value {
        Value::set(self.inner.iter().map(|entry| entry.key().to_value()))
    }

    fn restore(&self, state: &Value) -> Result<(), Value> {
        let Value::Set(wanted) = state else { return Err(state.clone()) };
        for entry in &self.inner {
            if !has_element(wanted, &entry.key().to_value()) {
                entry.remove();
            }
        }
        if self.inner.len() < wanted.len() {
            for element in wanted.iter() {
                self.inner.get_or_insert(parse(element)?, ());
            }
        }
        Ok(())
    }

    fn restore_from(&self, from: &Value, to: &Value) -> Result<(), Value> {
        let (Value::Set(present), Value::Set(wanted)) = (from, to) else { return self.restore(to) };
        let remove = &mut |element: &Value| parse::<T>(element).map(|element| drop(self.inner.remove(&element)));
        let insert = &mut |element: &Value| parse(element).map(|element| drop(self.inner.insert(element, ())));
        change_set((present, wanted), remove, insert)
    }

    fn apply(&self, call: &Invocation) -> Result<Outcome, Value> {
        let set = &self.inner;
        let element = || argument::<T>(call, 0);
        let one = |entry: Option<real::Entry<'_, T, ()>>| Value::option(entry.map(|entry| entry.key().to_value()));
        let result = match call.method {
            sorted_set::CONTAINS => Value::Bool(set.contains_key(&element()?)),
            sorted_set::INSERT => {
                let element = element()?;
                let new = !set.contains_key(&element);
                set.insert(element, ());
                Value::Bool(new)
            }
            sorted_set::REMOVE => Value::Bool(set.remove(&element()?).is_some()),
            sorted_set::NEXT_AFTER => match call.arguments.first().ok_or(Value::None)?.content() {
                None => one(set.front()),
                Some(cursor) => one(set.lower_bound(Bound::Excluded(&parse::<T>(cursor)?))),
            },
            sorted_set::LEN => set.len().to_value(),
            sorted_set::IS_EMPTY => Value::Bool(set.is_empty()),
            sorted_set::CLEAR => {
                set.clear();
                Value::Unit
            }
            sorted_set::FIRST => one(set.front()),
            sorted_set::LAST => one(set.back()),
            sorted_set::POP_FIRST => one(set.pop_front()),
            sorted_set::POP_LAST => one(set.pop_back()),
            sorted_set::LOWER_BOUND => one(set.lower_bound(Bound::Included(&element()?))),
            sorted_set::UPPER_BOUND => one(set.upper_bound(Bound::Included(&element()?))),
            _ => return Err(unknown()),
        };
        Ok(Outcome::fixed(result))
    }

    fn domain(&self) -> DomainKind {
        domain::<T, T>()
    }
}
