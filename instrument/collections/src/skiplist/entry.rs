//! An entry of a skip list.

use crossbeam_skiplist::map as real;
use interloper_commutativity::{ToValue, Value};

use super::core::{SkipList, cursor};
use super::words::Vocabulary;
use crate::session::Needs;

/// An entry of a [`SkipList`]. It can still be read after it was removed.
pub struct Entry<'a, K, V, W> {
    pub(super) real: real::Entry<'a, K, V>,
    pub(super) list: &'a SkipList<K, V, W>,
}

impl<'a, K: Ord + ToValue, V, W: Vocabulary<V>> Entry<'a, K, V, W> {
    /// Whether a task has removed the entry. One step.
    #[track_caller]
    pub fn is_removed(&self) -> bool {
        let Some(site) = self.list.handle.reader() else { return self.real.is_removed() };
        site.step(W::WORDS.get, &[self.real.key().to_value()], || (self.real.is_removed(), self.present()))
    }

    /// What `get` gives for the key now.
    fn present(&self) -> Value {
        W::found(self.list.inner.get(self.real.key()).as_ref().map(real::Entry::value))
    }

    /// Goes to the next entry, if there is one. One step.
    #[track_caller]
    pub fn move_next(&mut self) -> bool {
        let next = self.next();
        self.move_to(next)
    }

    /// Goes to the previous entry, if there is one. One step.
    #[track_caller]
    pub fn move_prev(&mut self) -> bool {
        let prev = self.prev();
        self.move_to(prev)
    }

    fn move_to(&mut self, other: Option<Self>) -> bool {
        other.map(|other| *self = other).is_some()
    }

    /// The next entry in the order of keys, even if this entry was removed. One step.
    #[track_caller]
    pub fn next(&self) -> Option<Entry<'a, K, V, W>> {
        let found = match self.list.handle.reader() {
            None => self.real.next(),
            Some(site) => self.list.finding(site, W::WORDS.next_after, &[cursor(self.real.key())], || self.real.next()),
        };
        found.map(|real| Entry { real, list: self.list })
    }

    /// The previous entry in the order of keys, even if this entry was removed. One step.
    #[track_caller]
    pub fn prev(&self) -> Option<Entry<'a, K, V, W>> {
        let found = match self.list.handle.reader() {
            None => self.real.prev(),
            Some(site) => self.list.preceding(site, self.real.key().to_value(), || self.real.prev()),
        };
        found.map(|real| Entry { real, list: self.list })
    }
}

impl<K, V, W> Entry<'_, K, V, W>
where
    K: Ord + ToValue + Send + 'static,
    V: Send + 'static,
    W: Vocabulary<V>,
{
    /// Removes the entry; returns whether this call removed it. One step: a `remove`, or a `get` (`contains` of a set)
    /// when the entry was removed before.
    #[track_caller]
    pub fn remove(&self) -> bool {
        let Some(site) = self.list.handle.site() else { return self.real.remove() };
        let name = [self.real.key().to_value()];
        site.before(W::WORDS.remove, &name, Needs::Nothing);
        let removed = self.real.remove();
        if removed {
            site.after(W::WORDS.remove, &name, &W::found(Some(self.real.value())));
        } else {
            // Another entry may have the key by now: the call looked for this one and did not find it.
            site.only_read();
            site.after(W::WORDS.get, &name, &self.present());
        }
        removed
    }
}

impl<K, V, W> Clone for Entry<'_, K, V, W> {
    fn clone(&self) -> Self {
        Entry { real: self.real.clone(), list: self.list }
    }
}
