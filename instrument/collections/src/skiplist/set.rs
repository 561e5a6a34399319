//! A sorted set.

use std::borrow::Borrow;
use std::fmt;
use std::ops::{Bound, Deref, RangeBounds, RangeFull};
use std::sync::Arc;

use crossbeam_skiplist::map as real;
use interloper_commutativity::models::{SortedSetModel, sorted_set};
use interloper_commutativity::{Datum, Invocation, Model, ToValue, Value};

use super::core::{Core, Node, Within};
use super::words::Elements;
use crate::environment::{argument, domain, parse, unknown};
use crate::session::{DomainKind, Handle, Instrumented, Needs, Outcome};
use crate::task::Kind;

/// [`crossbeam_skiplist::SkipSet`], instrumented. See the [module](super) for what is one step.
pub struct SkipSet<T>(Core<T, (), Elements>);

impl<T> SkipSet<T> {
    /// An empty set.
    pub fn new() -> Self {
        SkipSet(Core::of(Kind::SortedSet, crossbeam_skiplist::SkipMap::new()))
    }
}

impl<T: Ord + ToValue> SkipSet<T> {
    /// Whether there is no element. One step.
    #[track_caller]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many elements there are. One step.
    #[track_caller]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The smallest element. One step.
    #[track_caller]
    pub fn front(&self) -> Option<Entry<'_, T>> {
        self.0.front().map(Entry)
    }

    /// The largest element. One step.
    #[track_caller]
    pub fn back(&self) -> Option<Entry<'_, T>> {
        self.0.back().map(Entry)
    }

    /// Whether `key` is an element. One step.
    #[track_caller]
    pub fn contains<Q>(&self, key: &Q) -> bool
    where
        T: Borrow<Q>,
        Q: Ord + ToValue + ?Sized,
    {
        self.0.contains(key)
    }

    /// The entry of the element `key`. One step.
    #[track_caller]
    pub fn get<Q>(&self, key: &Q) -> Option<Entry<'_, T>>
    where
        T: Borrow<Q>,
        Q: Ord + ToValue + ?Sized,
    {
        self.0.get(key).map(Entry)
    }

    /// The first element within a lower bound. One step.
    #[track_caller]
    pub fn lower_bound<'a, Q>(&'a self, bound: Bound<&Q>) -> Option<Entry<'a, T>>
    where
        T: Borrow<Q>,
        Q: Ord + ToValue + ?Sized,
    {
        self.0.lower_bound(bound).map(Entry)
    }

    /// The last element within an upper bound. One step.
    #[track_caller]
    pub fn upper_bound<'a, Q>(&'a self, bound: Bound<&Q>) -> Option<Entry<'a, T>>
    where
        T: Borrow<Q>,
        Q: Ord + ToValue + ?Sized,
    {
        self.0.upper_bound(bound).map(Entry)
    }

    /// The entry of the element `key`, which is inserted if it is none yet. One step.
    #[track_caller]
    pub fn get_or_insert(&self, key: T) -> Entry<'_, T> {
        Entry(self.0.get_or_insert(key, ()))
    }

    /// The elements in order. *Not* one step: one for each element and one that finds that there is no further one.
    #[track_caller]
    pub fn iter(&self) -> Iter<'_, T> {
        Iter(Within::new(&self.0, ..))
    }

    /// The elements within `range` in order. *Not* one step: as [`SkipSet::iter`].
    #[track_caller]
    pub fn range<Q, R>(&self, range: R) -> Range<'_, Q, R, T>
    where
        T: Borrow<Q>,
        R: RangeBounds<Q>,
        Q: Ord + ToValue + ?Sized,
    {
        Range(Within::new(&self.0, range))
    }
}

impl<T: Ord + ToValue + Send + 'static> SkipSet<T> {
    /// Makes `key` an element, in a new entry. One step.
    #[track_caller]
    pub fn insert(&self, key: T) -> Entry<'_, T> {
        Entry(self.0.insert(key, ()))
    }

    /// Removes the element `key` and gives its entry. One step.
    #[track_caller]
    pub fn remove<Q>(&self, key: &Q) -> Option<Entry<'_, T>>
    where
        T: Borrow<Q>,
        Q: Ord + ToValue + ?Sized,
    {
        self.0.remove(key).map(Entry)
    }

    /// Removes the smallest element and gives it. One step.
    #[track_caller]
    pub fn pop_front(&self) -> Option<Entry<'_, T>> {
        self.0.pop_front().map(Entry)
    }

    /// Removes the largest element and gives it. One step.
    #[track_caller]
    pub fn pop_back(&self) -> Option<Entry<'_, T>> {
        self.0.pop_back().map(Entry)
    }

    /// Removes all elements. *Not* one step: each is found in one and removed in another, after the next was found.
    #[track_caller]
    pub fn clear(&self) {
        self.0.clear();
    }
}

impl<T> Default for SkipSet<T> {
    fn default() -> Self {
        SkipSet::new()
    }
}

impl<T> fmt::Debug for SkipSet<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad("SkipSet { .. }")
    }
}

/// No step: the set is owned.
impl<T> IntoIterator for SkipSet<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        IntoIter(self.0.inner.into_iter())
    }
}

impl<'a, T: Ord + ToValue> IntoIterator for &'a SkipSet<T> {
    type Item = Entry<'a, T>;
    type IntoIter = Iter<'a, T>;

    #[track_caller]
    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<T: Ord> FromIterator<T> for SkipSet<T> {
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Self {
        SkipSet(Core::of(Kind::SortedSet, elements.into_iter().map(|element| (element, ())).collect()))
    }
}

/// An entry of a [`SkipSet`]. It can still be read when it was removed.
pub struct Entry<'a, T>(Node<'a, T, (), Elements>);

impl<T> Entry<'_, T> {
    /// The element.
    pub fn value(&self) -> &T {
        self.0.key()
    }
}

impl<'a, T: Ord + ToValue> Entry<'a, T> {
    /// Whether the entry was removed, by anybody. One step.
    #[track_caller]
    pub fn is_removed(&self) -> bool {
        self.0.is_removed()
    }

    /// Goes to the next entry, if there is one. One step.
    #[track_caller]
    pub fn move_next(&mut self) -> bool {
        let next = self.0.next();
        self.0.move_to(next)
    }

    /// Goes to the previous entry, if there is one. One step.
    #[track_caller]
    pub fn move_prev(&mut self) -> bool {
        let prev = self.0.prev();
        self.0.move_to(prev)
    }

    /// The next entry in the order of elements, also of one that was removed. One step.
    #[track_caller]
    pub fn next(&self) -> Option<Entry<'a, T>> {
        self.0.next().map(Entry)
    }

    /// The previous entry in the order of elements, also of one that was removed. One step.
    #[track_caller]
    pub fn prev(&self) -> Option<Entry<'a, T>> {
        self.0.prev().map(Entry)
    }
}

impl<T: Ord + ToValue + Send + 'static> Entry<'_, T> {
    /// Removes the entry from the set; gives whether it was this call that did. One step: a `remove`, or a `contains`
    /// when the entry was removed before.
    #[track_caller]
    pub fn remove(&self) -> bool {
        self.0.remove()
    }
}

impl<T> Clone for Entry<'_, T> {
    fn clone(&self) -> Self {
        Entry(self.0.clone())
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

/// The iterator of [`SkipSet::iter`].
pub struct Iter<'a, T>(Within<'a, T, RangeFull, T, (), Elements>)
where
    T: Ord;

impl<'a, T: Ord + ToValue> Iterator for Iter<'a, T> {
    type Item = Entry<'a, T>;

    fn next(&mut self) -> Option<Entry<'a, T>> {
        self.0.next().map(Entry)
    }
}

impl<T: Ord + ToValue> DoubleEndedIterator for Iter<'_, T> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.next_back().map(Entry)
    }
}

impl<T> fmt::Debug for Iter<'_, T>
where
    T: Ord,
{
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad("Iter { .. }")
    }
}

/// The iterator of [`SkipSet::range`].
pub struct Range<'a, Q, R, T>(Within<'a, Q, R, T, (), Elements>)
where
    T: Ord + Borrow<Q>,
    R: RangeBounds<Q>,
    Q: Ord + ?Sized;

impl<'a, Q, R, T> Iterator for Range<'a, Q, R, T>
where
    T: Ord + ToValue + Borrow<Q>,
    R: RangeBounds<Q>,
    Q: Ord + ToValue + ?Sized,
{
    type Item = Entry<'a, T>;

    fn next(&mut self) -> Option<Entry<'a, T>> {
        self.0.next().map(Entry)
    }
}

impl<Q, R, T> DoubleEndedIterator for Range<'_, Q, R, T>
where
    T: Ord + ToValue + Borrow<Q>,
    R: RangeBounds<Q>,
    Q: Ord + ToValue + ?Sized,
{
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.next_back().map(Entry)
    }
}

impl<Q, R, T> fmt::Debug for Range<'_, Q, R, T>
where
    T: Ord + Borrow<Q>,
    R: RangeBounds<Q>,
    Q: Ord + ?Sized,
{
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad("Range { .. }")
    }
}

impl<T: Datum + Ord + Send> Instrumented for SkipSet<T> {
    fn handle(&self) -> &Handle {
        &self.0.handle
    }

    fn model(&self) -> Arc<dyn Model> {
        Arc::new(SortedSetModel)
    }

    fn snapshot(&self) -> Value {
        Value::set(self.0.inner.iter().map(|entry| entry.key().to_value()))
    }

    fn restore(&self, state: &Value) -> Result<(), Value> {
        let Value::Set(wanted) = state else { return Err(state.clone()) };
        for entry in &self.0.inner {
            if !wanted.contains(&entry.key().to_value()) {
                entry.remove();
            }
        }
        if self.0.inner.len() < wanted.len() {
            for element in wanted.iter() {
                self.0.inner.get_or_insert(parse(element)?, ());
            }
        }
        Ok(())
    }

    fn restore_from(&self, from: &Value, to: &Value) -> Result<(), Value> {
        let (Value::Set(present), Value::Set(wanted)) = (from, to) else { return self.restore(to) };
        for element in present.difference(wanted) {
            self.0.inner.remove(&parse::<T>(element)?);
        }
        for element in wanted.difference(present) {
            self.0.inner.insert(parse(element)?, ());
        }
        Ok(())
    }

    fn apply(&self, call: &Invocation) -> Result<Outcome, Value> {
        let set = &self.0.inner;
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

    fn needs(&self, _call: &Invocation) -> Needs {
        Needs::Nothing
    }

    fn domain(&self) -> DomainKind {
        domain::<T, T>()
    }
}
