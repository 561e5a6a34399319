//! The skip list under the map and the set: every operation as a step.

use std::borrow::Borrow;
use std::cell::Cell;
use std::marker::PhantomData;
use std::ops::{Bound, RangeBounds};

use crossbeam_skiplist::map as real;
use interloper_commutativity::{MethodId, ToValue, Value};

use super::words::{Vocabulary, Words};
use crate::session::{Handle, Needs};
use crate::site::Site;
use crate::task::Kind;

/// A skip list that speaks `W`.
pub(super) struct Core<K, V, W> {
    pub inner: crossbeam_skiplist::SkipMap<K, V>,
    pub handle: Handle,
    words: PhantomData<fn() -> W>,
}

/// An entry, which stays readable when it is removed from the list.
pub(super) struct Node<'a, K, V, W> {
    real: real::Entry<'a, K, V>,
    core: &'a Core<K, V, W>,
}

impl<K, V, W> Core<K, V, W> {
    pub fn of(kind: Kind, inner: crossbeam_skiplist::SkipMap<K, V>) -> Self {
        Core { inner, handle: Handle::of(kind, 0), words: PhantomData }
    }

    fn node<'a>(&'a self, real: real::Entry<'a, K, V>) -> Node<'a, K, V, W> {
        Node { real, core: self }
    }
}

impl<K: Ord + ToValue, V, W: Vocabulary<V>> Core<K, V, W> {
    const WORDS: Words = W::WORDS;

    #[track_caller]
    pub fn is_empty(&self) -> bool {
        let Some(site) = self.handle.reader() else { return self.inner.is_empty() };
        site.step(Self::WORDS.is_empty, &[], || {
            let empty = self.inner.is_empty();
            (empty, Value::Bool(empty))
        })
    }

    #[track_caller]
    pub fn len(&self) -> usize {
        let Some(site) = self.handle.reader() else { return self.inner.len() };
        site.step(Self::WORDS.len, &[], || {
            let length = self.inner.len();
            (length, length.to_value())
        })
    }

    #[track_caller]
    pub fn front(&self) -> Option<Node<'_, K, V, W>> {
        self.end(self.handle.reader(), Self::WORDS.first, || self.inner.front())
    }

    #[track_caller]
    pub fn back(&self) -> Option<Node<'_, K, V, W>> {
        self.end(self.handle.reader(), Self::WORDS.last, || self.inner.back())
    }

    /// One step at an end of the list.
    fn end<'a>(
        &'a self,
        site: Option<Site>,
        method: MethodId,
        find: impl FnOnce() -> Option<real::Entry<'a, K, V>>,
    ) -> Option<Node<'a, K, V, W>> {
        let found = match site {
            None => find(),
            Some(site) => self.finding(site, method, &[], find),
        };
        found.map(|entry| self.node(entry))
    }

    #[track_caller]
    pub fn contains<Q>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
        Q: Ord + ToValue + ?Sized,
    {
        let Some(site) = self.handle.reader() else { return self.inner.contains_key(key) };
        site.step(Self::WORDS.contains, &[key.to_value()], || {
            let found = self.inner.contains_key(key);
            (found, Value::Bool(found))
        })
    }

    #[track_caller]
    pub fn get<Q>(&self, key: &Q) -> Option<Node<'_, K, V, W>>
    where
        K: Borrow<Q>,
        Q: Ord + ToValue + ?Sized,
    {
        let found = match self.handle.reader() {
            None => self.inner.get(key),
            Some(site) => site.step(Self::WORDS.get, &[key.to_value()], || {
                let found = self.inner.get(key);
                let form = W::found(found.as_ref().map(real::Entry::value));
                (found, form)
            }),
        };
        found.map(|entry| self.node(entry))
    }

    #[track_caller]
    pub fn lower_bound<'a, Q>(&'a self, bound: Bound<&Q>) -> Option<Node<'a, K, V, W>>
    where
        K: Borrow<Q>,
        Q: Ord + ToValue + ?Sized,
    {
        let found = match self.handle.reader() {
            None => self.inner.lower_bound(bound),
            Some(site) => self.first_from(site, bound),
        };
        found.map(|entry| self.node(entry))
    }

    #[track_caller]
    pub fn upper_bound<'a, Q>(&'a self, bound: Bound<&Q>) -> Option<Node<'a, K, V, W>>
    where
        K: Borrow<Q>,
        Q: Ord + ToValue + ?Sized,
    {
        let found = match self.handle.reader() {
            None => self.inner.upper_bound(bound),
            Some(site) => self.last_to(site, bound),
        };
        found.map(|entry| self.node(entry))
    }

    #[track_caller]
    pub fn get_or_insert(&self, key: K, value: V) -> Node<'_, K, V, W> {
        let Some(site) = self.handle.site() else { return self.node(self.inner.get_or_insert(key, value)) };
        let (arguments, count) = W::arguments(key.to_value(), &value);
        let (entry, found) = site.step(Self::WORDS.insert_if_absent, &arguments[..count], || {
            let old = self.inner.get(&key);
            let before = W::before(old.as_ref().map(real::Entry::value));
            ((self.inner.get_or_insert(key, value), old.is_some()), before)
        });
        if found {
            site.only_read();
        }
        self.node(entry)
    }

    #[track_caller]
    pub fn get_or_insert_with(&self, key: K, make: impl FnOnce() -> V) -> Node<'_, K, V, W> {
        if self.handle.site().is_none() {
            return self.node(self.inner.get_or_insert_with(key, make));
        }
        match self.get(&key) {
            Some(found) => found,
            None => self.get_or_insert(key, make()),
        }
    }

    /// A step of a method that finds an entry.
    fn finding<'a>(
        &'a self,
        site: Site,
        method: MethodId,
        arguments: &[Value],
        find: impl FnOnce() -> Option<real::Entry<'a, K, V>>,
    ) -> Option<real::Entry<'a, K, V>> {
        site.step(method, arguments, || {
            let found = find();
            let form = form::<K, V, W>(found.as_ref());
            (found, form)
        })
    }

    /// The step that finds the first entry within a lower bound.
    fn first_from<'a, Q>(&'a self, site: Site, bound: Bound<&Q>) -> Option<real::Entry<'a, K, V>>
    where
        K: Borrow<Q>,
        Q: Ord + ToValue + ?Sized,
    {
        let find = || self.inner.lower_bound(bound);
        match bound {
            Bound::Unbounded => self.finding(site, Self::WORDS.first, &[], find),
            Bound::Included(key) => self.finding(site, Self::WORDS.lower_bound, &[key.to_value()], find),
            Bound::Excluded(key) => self.finding(site, Self::WORDS.next_after, &[cursor(key)], find),
        }
    }

    /// The step that finds the last entry within an upper bound.
    fn last_to<'a, Q>(&'a self, site: Site, bound: Bound<&Q>) -> Option<real::Entry<'a, K, V>>
    where
        K: Borrow<Q>,
        Q: Ord + ToValue + ?Sized,
    {
        let find = || self.inner.upper_bound(bound);
        match bound {
            Bound::Unbounded => self.finding(site, Self::WORDS.last, &[], find),
            Bound::Included(key) => self.finding(site, Self::WORDS.upper_bound, &[key.to_value()], find),
            Bound::Excluded(key) => self.preceding(site, key.to_value(), find),
        }
    }

    /// The step that finds the last entry before a key. The abstract type has no method for it: it is announced as the
    /// upper bound, and what it sees is, in two calls, that the entry is there and which one follows it.
    fn preceding<'a>(
        &'a self,
        site: Site,
        key: Value,
        find: impl FnOnce() -> Option<real::Entry<'a, K, V>>,
    ) -> Option<real::Entry<'a, K, V>> {
        site.before(Self::WORDS.upper_bound, &[key], Needs::Nothing);
        let found = find();
        match &found {
            None => site.after(Self::WORDS.first, &[], &form::<K, V, W>(self.inner.front().as_ref())),
            Some(entry) => {
                site.after(Self::WORDS.get, &[entry.key().to_value()], &W::found(Some(entry.value())));
                site.after(Self::WORDS.next_after, &[cursor(entry.key())], &form::<K, V, W>(entry.next().as_ref()));
            }
        }
        found
    }
}

/// The form of an entry that was found, or not.
fn form<K: ToValue, V, W: Vocabulary<V>>(entry: Option<&real::Entry<'_, K, V>>) -> Value {
    entry.map_or(Value::None, |entry| W::entry(entry.key().to_value(), entry.value()))
}

/// The model's cursor at a key.
fn cursor<Q: ToValue + ?Sized>(key: &Q) -> Value {
    Value::option(Some(key.to_value()))
}

impl<K, V, W> Core<K, V, W>
where
    K: Ord + ToValue + Send + 'static,
    V: Send + 'static,
    W: Vocabulary<V>,
{
    #[track_caller]
    pub fn insert(&self, key: K, value: V) -> Node<'_, K, V, W> {
        let Some(site) = self.handle.site() else { return self.node(self.inner.insert(key, value)) };
        let (arguments, count) = W::arguments(key.to_value(), &value);
        let entry = site.step(Self::WORDS.insert, &arguments[..count], || {
            let before = W::before(self.inner.get(&key).as_ref().map(real::Entry::value));
            (self.inner.insert(key, value), before)
        });
        self.node(entry)
    }

    #[track_caller]
    pub fn compare_insert(&self, key: K, value: V, replace: impl Fn(&V) -> bool) -> Node<'_, K, V, W> {
        let Some(site) = self.handle.site() else {
            return self.node(self.inner.compare_insert(key, value, replace));
        };
        let (arguments, count) = W::arguments(key.to_value(), &value);
        site.before(Self::WORDS.insert, &arguments[..count], Needs::Nothing);
        let old = self.inner.get(&key);
        let kept = Cell::new(false);
        let entry = self.inner.compare_insert(key, value, |old| {
            let replace = replace(old);
            kept.set(!replace);
            replace
        });
        let old = old.as_ref().map(real::Entry::value);
        if kept.get() {
            site.only_read();
            site.after(Self::WORDS.get, &arguments[..1], &W::found(old));
        } else {
            site.after(Self::WORDS.insert, &arguments[..count], &W::before(old));
        }
        self.node(entry)
    }

    #[track_caller]
    pub fn remove<Q>(&self, key: &Q) -> Option<Node<'_, K, V, W>>
    where
        K: Borrow<Q>,
        Q: Ord + ToValue + ?Sized,
    {
        let removed = match self.handle.site() {
            None => self.inner.remove(key),
            Some(site) => site.step(Self::WORDS.remove, &[key.to_value()], || {
                let removed = self.inner.remove(key);
                let form = W::found(removed.as_ref().map(real::Entry::value));
                (removed, form)
            }),
        };
        removed.map(|entry| self.node(entry))
    }

    #[track_caller]
    pub fn pop_front(&self) -> Option<Node<'_, K, V, W>> {
        self.end(self.handle.site(), Self::WORDS.pop_first, || self.inner.pop_front())
    }

    #[track_caller]
    pub fn pop_back(&self) -> Option<Node<'_, K, V, W>> {
        self.end(self.handle.site(), Self::WORDS.pop_last, || self.inner.pop_back())
    }

    /// As the original: finds the first entry, then again and again the next one before it removes the last.
    #[track_caller]
    pub fn clear(&self) {
        if self.handle.site().is_none() {
            return self.inner.clear();
        }
        let mut entry = self.front();
        while let Some(current) = entry {
            entry = current.next();
            current.remove();
        }
    }
}

impl<'a, K, V, W> Node<'a, K, V, W> {
    pub fn key(&self) -> &K {
        self.real.key()
    }

    pub fn value(&self) -> &V {
        self.real.value()
    }
}

impl<'a, K: Ord + ToValue, V, W: Vocabulary<V>> Node<'a, K, V, W> {
    #[track_caller]
    pub fn is_removed(&self) -> bool {
        let Some(site) = self.core.handle.reader() else { return self.real.is_removed() };
        site.step(W::WORDS.get, &[self.key().to_value()], || (self.real.is_removed(), self.present()))
    }

    /// What `get` gives for the key now.
    fn present(&self) -> Value {
        W::found(self.core.inner.get(self.key()).as_ref().map(real::Entry::value))
    }

    #[track_caller]
    pub fn next(&self) -> Option<Node<'a, K, V, W>> {
        let found = match self.core.handle.reader() {
            None => self.real.next(),
            Some(site) => self.core.finding(site, W::WORDS.next_after, &[cursor(self.key())], || self.real.next()),
        };
        found.map(|entry| self.core.node(entry))
    }

    #[track_caller]
    pub fn prev(&self) -> Option<Node<'a, K, V, W>> {
        let found = match self.core.handle.reader() {
            None => self.real.prev(),
            Some(site) => self.core.preceding(site, self.key().to_value(), || self.real.prev()),
        };
        found.map(|entry| self.core.node(entry))
    }

    /// Goes to another entry, if there is one. Gives whether there is.
    pub fn move_to(&mut self, other: Option<Self>) -> bool {
        match other {
            None => false,
            Some(other) => {
                *self = other;
                true
            }
        }
    }
}

impl<K, V, W> Node<'_, K, V, W>
where
    K: Ord + ToValue + Send + 'static,
    V: Send + 'static,
    W: Vocabulary<V>,
{
    #[track_caller]
    pub fn remove(&self) -> bool {
        let Some(site) = self.core.handle.site() else { return self.real.remove() };
        let name = [self.key().to_value()];
        site.before(W::WORDS.remove, &name, Needs::Nothing);
        let removed = self.real.remove();
        if removed {
            site.after(W::WORDS.remove, &name, &W::found(Some(self.value())));
        } else {
            // Another entry may have the key by now: this one was looked for and not found.
            site.only_read();
            site.after(W::WORDS.get, &name, &self.present());
        }
        removed
    }
}

impl<K, V, W> Clone for Node<'_, K, V, W> {
    fn clone(&self) -> Self {
        Node { real: self.real.clone(), core: self.core }
    }
}

/// The entries within a range, from both ends: the original's iterator, or one step for each entry.
pub(super) enum Within<'a, Q, R, K, V, W>
where
    K: Ord + Borrow<Q>,
    R: RangeBounds<Q>,
    Q: Ord + ?Sized,
{
    Original { iter: real::Range<'a, Q, R, K, V>, core: &'a Core<K, V, W> },
    Stepwise(Steps<'a, R, K, V, W>),
}

/// An iteration by steps. It goes on from the last entry that it gave, wherever that is now.
pub(super) struct Steps<'a, R, K, V, W> {
    core: &'a Core<K, V, W>,
    site: Site,
    range: R,
    head: Option<real::Entry<'a, K, V>>,
    tail: Option<real::Entry<'a, K, V>>,
}

impl<'a, Q, R, K, V, W> Within<'a, Q, R, K, V, W>
where
    K: Ord + ToValue + Borrow<Q>,
    R: RangeBounds<Q>,
    Q: Ord + ToValue + ?Sized,
    W: Vocabulary<V>,
{
    #[track_caller]
    pub fn new(core: &'a Core<K, V, W>, range: R) -> Self {
        match core.handle.reader() {
            None => Within::Original { iter: core.inner.range(range), core },
            Some(site) => Within::Stepwise(Steps { core, site, range, head: None, tail: None }),
        }
    }

    pub fn next(&mut self) -> Option<Node<'a, K, V, W>> {
        match self {
            Within::Original { iter, core } => iter.next().map(|entry| core.node(entry)),
            Within::Stepwise(steps) => steps.next(),
        }
    }

    pub fn next_back(&mut self) -> Option<Node<'a, K, V, W>> {
        match self {
            Within::Original { iter, core } => iter.next_back().map(|entry| core.node(entry)),
            Within::Stepwise(steps) => steps.next_back(),
        }
    }
}

impl<'a, R, K: Ord + ToValue, V, W: Vocabulary<V>> Steps<'a, R, K, V, W> {
    fn next<Q>(&mut self) -> Option<Node<'a, K, V, W>>
    where
        K: Borrow<Q>,
        R: RangeBounds<Q>,
        Q: Ord + ToValue + ?Sized,
    {
        let next = match &self.head {
            None => self.core.first_from(self.site, self.range.start_bound()),
            Some(head) => {
                let last = cursor(head.key());
                self.core.finding(self.site, W::WORDS.next_after, &[last], || head.next())
            }
        }?;
        let end = self.tail.as_ref().map_or(self.range.end_bound(), |tail| Bound::Excluded(tail.key().borrow()));
        if !(Bound::Unbounded, end).contains(next.key().borrow()) {
            return None;
        }
        self.head = Some(next.clone());
        Some(self.core.node(next))
    }

    fn next_back<Q>(&mut self) -> Option<Node<'a, K, V, W>>
    where
        K: Borrow<Q>,
        R: RangeBounds<Q>,
        Q: Ord + ToValue + ?Sized,
    {
        let next = match &self.tail {
            None => self.core.last_to(self.site, self.range.end_bound()),
            Some(tail) => self.core.preceding(self.site, tail.key().to_value(), || tail.prev()),
        }?;
        let start = self.head.as_ref().map_or(self.range.start_bound(), |head| Bound::Excluded(head.key().borrow()));
        if !(start, Bound::Unbounded).contains(next.key().borrow()) {
            return None;
        }
        self.tail = Some(next.clone());
        Some(self.core.node(next))
    }
}
