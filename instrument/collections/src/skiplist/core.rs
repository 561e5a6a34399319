//! The skip list under the map and the set, and the steps that several of its methods make.

use std::borrow::Borrow;
use std::marker::PhantomData;
use std::ops::Bound;

use crossbeam_skiplist::map as real;
use interloper_commutativity::{MethodId, ToValue, Value};

use super::words::{Role, Vocabulary};
use crate::session::{Handle, Needs};
use crate::site::Site;

/// A skip list, instrumented: a [`SkipMap`](super::SkipMap) or a [`SkipSet`](super::SkipSet), as `W` says. See the
/// [module](super) for what is one step.
pub struct SkipList<K, V, W> {
    pub(super) inner: crossbeam_skiplist::SkipMap<K, V>,
    pub(super) handle: Handle,
    words: PhantomData<fn() -> W>,
}

impl<K, V, W: Role> SkipList<K, V, W> {
    pub(super) fn of(inner: crossbeam_skiplist::SkipMap<K, V>) -> Self {
        SkipList { inner, handle: W::handle(), words: PhantomData }
    }
}

impl<K: Ord + ToValue, V, W: Vocabulary<V>> SkipList<K, V, W> {
    /// A step of a method that finds an entry.
    pub(super) fn finding<'a>(
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
    pub(super) fn first_from<'a, Q>(&'a self, site: Site, bound: Bound<&Q>) -> Option<real::Entry<'a, K, V>>
    where
        K: Borrow<Q>,
        Q: Ord + ToValue + ?Sized,
    {
        let find = || self.inner.lower_bound(bound);
        match bound {
            Bound::Unbounded => self.finding(site, W::WORDS.first, &[], find),
            Bound::Included(key) => self.finding(site, W::WORDS.lower_bound, &[key.to_value()], find),
            Bound::Excluded(key) => self.finding(site, W::WORDS.next_after, &[cursor(key)], find),
        }
    }

    /// The step that finds the last entry within an upper bound.
    pub(super) fn last_to<'a, Q>(&'a self, site: Site, bound: Bound<&Q>) -> Option<real::Entry<'a, K, V>>
    where
        K: Borrow<Q>,
        Q: Ord + ToValue + ?Sized,
    {
        let find = || self.inner.upper_bound(bound);
        match bound {
            Bound::Unbounded => self.finding(site, W::WORDS.last, &[], find),
            Bound::Included(key) => self.finding(site, W::WORDS.upper_bound, &[key.to_value()], find),
            Bound::Excluded(key) => self.preceding(site, key.to_value(), find),
        }
    }

    /// The step that finds the last entry before a key. The abstract type has no such method: the step is announced as
    /// the upper bound, and reports two calls: the entry exists, and the entry after it.
    pub(super) fn preceding<'a>(
        &'a self,
        site: Site,
        key: Value,
        find: impl FnOnce() -> Option<real::Entry<'a, K, V>>,
    ) -> Option<real::Entry<'a, K, V>> {
        site.before(W::WORDS.upper_bound, &[key], Needs::Nothing);
        let found = find();
        match &found {
            None => site.after(W::WORDS.first, &[], &form::<K, V, W>(self.inner.front().as_ref())),
            Some(entry) => {
                site.after(W::WORDS.get, &[entry.key().to_value()], &W::found(Some(entry.value())));
                site.after(W::WORDS.next_after, &[cursor(entry.key())], &form::<K, V, W>(entry.next().as_ref()));
            }
        }
        found
    }
}

/// The form of an entry that was found, or of none.
fn form<K: ToValue, V, W: Vocabulary<V>>(entry: Option<&real::Entry<'_, K, V>>) -> Value {
    entry.map_or(Value::None, |entry| W::entry(entry.key().to_value(), entry.value()))
}

/// The model's cursor at a key.
pub(super) fn cursor<Q: ToValue + ?Sized>(key: &Q) -> Value {
    Value::option(Some(key.to_value()))
}
