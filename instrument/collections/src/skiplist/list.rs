//! What the map and the set have in common: every operation as a step.

use std::borrow::Borrow;
use std::fmt;
use std::ops::{Bound, RangeBounds};

use crossbeam_skiplist::map as real;
use interloper_commutativity::{MethodId, ToValue, Value};

use super::core::SkipList;
use super::entry::Entry;
use super::iterate::{Iter, Range};
use super::words::{Role, Vocabulary};
use crate::site::Site;

impl<K, V, W: Role> SkipList<K, V, W> {
    /// An empty list.
    pub fn new() -> Self {
        SkipList::of(crossbeam_skiplist::SkipMap::new())
    }
}

impl<K: Ord + ToValue, V, W: Vocabulary<V>> SkipList<K, V, W> {
    /// Whether there is no entry. One step.
    #[track_caller]
    pub fn is_empty(&self) -> bool {
        let Some(site) = self.handle.reader() else { return self.inner.is_empty() };
        site.step(W::WORDS.is_empty, &[], || {
            let empty = self.inner.is_empty();
            (empty, Value::Bool(empty))
        })
    }

    /// How many entries there are. One step.
    #[track_caller]
    pub fn len(&self) -> usize {
        let Some(site) = self.handle.reader() else { return self.inner.len() };
        site.step(W::WORDS.len, &[], || {
            let length = self.inner.len();
            (length, length.to_value())
        })
    }

    /// The entry with the smallest key. One step.
    #[track_caller]
    pub fn front(&self) -> Option<Entry<'_, K, V, W>> {
        self.end(self.handle.reader(), W::WORDS.first, || self.inner.front())
    }

    /// The entry with the largest key. One step.
    #[track_caller]
    pub fn back(&self) -> Option<Entry<'_, K, V, W>> {
        self.end(self.handle.reader(), W::WORDS.last, || self.inner.back())
    }

    /// One step at an end of the list.
    fn end<'a>(
        &'a self,
        site: Option<Site>,
        method: MethodId,
        find: impl FnOnce() -> Option<real::Entry<'a, K, V>>,
    ) -> Option<Entry<'a, K, V, W>> {
        let found = match site {
            None => find(),
            Some(site) => self.finding(site, method, &[], find),
        };
        found.map(|entry| self.entry(entry))
    }

    #[track_caller]
    pub(super) fn has<Q>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
        Q: Ord + ToValue + ?Sized,
    {
        let Some(site) = self.handle.reader() else { return self.inner.contains_key(key) };
        site.step(W::WORDS.contains, &[key.to_value()], || {
            let found = self.inner.contains_key(key);
            (found, Value::Bool(found))
        })
    }

    /// The entry at `key`. One step.
    #[track_caller]
    pub fn get<Q>(&self, key: &Q) -> Option<Entry<'_, K, V, W>>
    where
        K: Borrow<Q>,
        Q: Ord + ToValue + ?Sized,
    {
        let found = match self.handle.reader() {
            None => self.inner.get(key),
            Some(site) => site.step(W::WORDS.get, &[key.to_value()], || {
                let found = self.inner.get(key);
                let form = W::found(found.as_ref().map(real::Entry::value));
                (found, form)
            }),
        };
        found.map(|entry| self.entry(entry))
    }

    /// The first entry within a lower bound. One step.
    #[track_caller]
    pub fn lower_bound<'a, Q>(&'a self, bound: Bound<&Q>) -> Option<Entry<'a, K, V, W>>
    where
        K: Borrow<Q>,
        Q: Ord + ToValue + ?Sized,
    {
        let found = match self.handle.reader() {
            None => self.inner.lower_bound(bound),
            Some(site) => self.first_from(site, bound),
        };
        found.map(|entry| self.entry(entry))
    }

    /// The last entry within an upper bound. One step.
    #[track_caller]
    pub fn upper_bound<'a, Q>(&'a self, bound: Bound<&Q>) -> Option<Entry<'a, K, V, W>>
    where
        K: Borrow<Q>,
        Q: Ord + ToValue + ?Sized,
    {
        let found = match self.handle.reader() {
            None => self.inner.upper_bound(bound),
            Some(site) => self.last_to(site, bound),
        };
        found.map(|entry| self.entry(entry))
    }

    /// The entries in the order of keys. *Not* one step: one for each entry, and one that finds no further entry.
    #[track_caller]
    pub fn iter(&self) -> Iter<'_, K, V, W> {
        Iter::new(self)
    }

    /// The entries within `range` in the order of keys. *Not* one step: as [`SkipList::iter`].
    #[track_caller]
    pub fn range<Q, R>(&self, range: R) -> Range<'_, Q, R, K, V, W>
    where
        K: Borrow<Q>,
        R: RangeBounds<Q>,
        Q: Ord + ToValue + ?Sized,
    {
        Range::new(self, range)
    }

    #[track_caller]
    pub(super) fn entry_or_insert(&self, key: K, value: V) -> Entry<'_, K, V, W> {
        let Some(site) = self.handle.site() else { return self.entry(self.inner.get_or_insert(key, value)) };
        let (arguments, count) = W::arguments(key.to_value(), &value);
        let (entry, found) = site.step(W::WORDS.insert_if_absent, &arguments[..count], || {
            let old = self.inner.get(&key);
            let before = W::before(old.as_ref().map(real::Entry::value));
            ((self.inner.get_or_insert(key, value), old.is_some()), before)
        });
        if found {
            site.only_read();
        }
        self.entry(entry)
    }

    fn entry<'a>(&'a self, real: real::Entry<'a, K, V>) -> Entry<'a, K, V, W> {
        Entry { real, list: self }
    }
}

impl<K, V, W> SkipList<K, V, W>
where
    K: Ord + ToValue + Send + 'static,
    V: Send + 'static,
    W: Vocabulary<V>,
{
    #[track_caller]
    pub(super) fn insert_entry(&self, key: K, value: V) -> Entry<'_, K, V, W> {
        let Some(site) = self.handle.site() else { return self.entry(self.inner.insert(key, value)) };
        let (arguments, count) = W::arguments(key.to_value(), &value);
        let entry = site.step(W::WORDS.insert, &arguments[..count], || {
            let before = W::before(self.inner.get(&key).as_ref().map(real::Entry::value));
            (self.inner.insert(key, value), before)
        });
        self.entry(entry)
    }

    /// Removes the entry at `key` and returns it. One step.
    #[track_caller]
    pub fn remove<Q>(&self, key: &Q) -> Option<Entry<'_, K, V, W>>
    where
        K: Borrow<Q>,
        Q: Ord + ToValue + ?Sized,
    {
        let removed = match self.handle.site() {
            None => self.inner.remove(key),
            Some(site) => site.step(W::WORDS.remove, &[key.to_value()], || {
                let removed = self.inner.remove(key);
                let form = W::found(removed.as_ref().map(real::Entry::value));
                (removed, form)
            }),
        };
        removed.map(|entry| self.entry(entry))
    }

    /// Removes the entry with the smallest key and returns it. One step.
    #[track_caller]
    pub fn pop_front(&self) -> Option<Entry<'_, K, V, W>> {
        self.end(self.handle.site(), W::WORDS.pop_first, || self.inner.pop_front())
    }

    /// Removes the entry with the largest key and returns it. One step.
    #[track_caller]
    pub fn pop_back(&self) -> Option<Entry<'_, K, V, W>> {
        self.end(self.handle.site(), W::WORDS.pop_last, || self.inner.pop_back())
    }

    /// Removes all entries. *Not* one step: each entry is found in one step and removed in another, after the next one was
    /// found.
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

impl<K, V, W: Role> Default for SkipList<K, V, W> {
    fn default() -> Self {
        SkipList::new()
    }
}

impl<K, V, W: Role> fmt::Debug for SkipList<K, V, W> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {{ .. }}", W::NAME)
    }
}

impl<'a, K: Ord + ToValue, V, W: Vocabulary<V>> IntoIterator for &'a SkipList<K, V, W> {
    type Item = Entry<'a, K, V, W>;
    type IntoIter = Iter<'a, K, V, W>;

    #[track_caller]
    fn into_iter(self) -> Iter<'a, K, V, W> {
        self.iter()
    }
}
