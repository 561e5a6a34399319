//! A concurrent map: [`dashmap::DashMap`], instrumented.
//!
//! `DashMap` is divided into shards, each behind a reader-writer lock. A method on one key takes the lock of its shard
//! and is one step. Its result may be a guard ([`Ref`], [`RefMut`], [`Entry`]) that keeps the lock: while the guard
//! lives, nothing that needs the same lock can happen, and a program that asks for the lock again waits for itself.
//!
//! A method on all keys (`iter`, `retain`, `clear`, `len`, …) takes the locks one after the other and is *not* atomic:
//! here it is a sequence of steps. Each entry takes two steps: one finds which key is next, without a lock, and one
//! locks its shard and finds the entry, or finds it gone; a last step finds that there is no further key. So the walk
//! misses a key that is inserted where it has been, as in the original: `len` may return 0 for a map that was never
//! empty.
//!
//! # Differences from the original
//! Outside a controlled run only the type of the hasher differs. In a run:
//!
//! - the map has 16 shards whatever the machine, and a fixed hash ([`RandomState`]) that puts neighbouring keys into
//!   different shards, so that a guard on one key seldom locks another;
//! - entries are visited in the order of their keys' plain forms. The original's order depends on its random hash;
//! - one step finds all keys between two entries absent; the original looks at several moments;
//! - an iterator waits for a shard that is locked for writing, even if it has nothing more to find there;
//! - `alter` and `alter_all` pass a clone of the value to the function, and a panic in the function unwinds; the
//!   original aborts the process.

/// A guard stands for its value.
macro_rules! derefs {
    ([$($generics:tt)*] $guard:ty => $value:ty) => {
        impl<$($generics)*> std::ops::Deref for $guard {
            type Target = $value;

            #[inline]
            fn deref(&self) -> &$value {
                self.value()
            }
        }
    };
    (mut [$($generics:tt)*] $guard:ty => $value:ty) => {
        derefs!([$($generics)*] $guard => $value);

        impl<$($generics)*> std::ops::DerefMut for $guard {
            #[inline]
            fn deref_mut(&mut self) -> &mut $value {
                self.value_mut()
            }
        }
    };
}

mod entry;
mod environment;
mod guards;
mod iter;
mod make;
mod shards;
#[cfg(test)]
mod tests;
mod traits;
mod watch;

use std::borrow::Borrow;
use std::hash::{BuildHasher, Hash};

use interloper_commutativity::models::map;
use interloper_commutativity::{MethodId, ToValue, Value};

use crate::RandomState;
use crate::session::{Handle, Mode, Needs};
use crate::site::Site;

pub use ::dashmap::try_result::TryResult;
pub use ::dashmap::{ReadOnlyView, TryReserveError};
pub use entry::{Entry, OccupiedEntry, VacantEntry};
pub use guards::{MappedRef, MappedRefMut, Ref, RefMut};
pub use iter::{Iter, IterMut, OwningIter, RefMulti, RefMutMulti};

use iter::{Purpose, Walk};
use shards::{Original, begin, shard};
use watch::Watch;

/// [`dashmap::DashMap`], instrumented. See the [module](self) for what is one step.
pub struct DashMap<K, V, S = RandomState> {
    inner: Original<K, V, S>,
    handle: Handle,
}

impl<K: Eq + Hash + ToValue, V: ToValue, S: BuildHasher + Clone> DashMap<K, V, S> {
    /// A read guard on the value at `key`. One step; the guard keeps the shard's lock.
    #[inline]
    #[track_caller]
    pub fn get<Q>(&self, key: &Q) -> Option<Ref<'_, K, V>>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToValue + ?Sized,
    {
        let Some(site) = self.handle.reader_or_private() else { return self.inner.get(key).map(Ref::original) };
        let (name, needs) = ([key.to_value()], self.lock_of(key, Mode::Shared));
        self.begin(site, map::GET, &name, needs);
        let found = self.inner.get(key);
        site.after(map::GET, &name, &form(found.as_deref()));
        found.map(|real| Ref::held(real, site.hold(needs)))
    }

    /// A write guard on the value at `key`. One step, seen as `get`; the guard keeps the shard's lock. A change of the
    /// value through the guard is an `insert` when the guard ends.
    #[inline]
    #[track_caller]
    pub fn get_mut<Q>(&self, key: &Q) -> Option<RefMut<'_, K, V>>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToValue + ?Sized,
    {
        let Some(site) = self.handle.site_or_private() else { return self.inner.get_mut(key).map(RefMut::original) };
        let (name, needs) = ([key.to_value()], self.lock_of(key, Mode::Exclusive));
        self.begin(site, map::MODIFY, &name, needs);
        let found = self.inner.get_mut(key);
        watched_reference(site, needs, name, found)
    }

    /// As [`DashMap::get`], but gives up when the lock is taken. One step.
    #[track_caller]
    pub fn try_get<Q>(&self, key: &Q) -> TryResult<Ref<'_, K, V>>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToValue + ?Sized,
    {
        let Some(site) = self.handle.reader_or_private() else {
            return map_try(self.inner.try_get(key), Ref::original);
        };
        let name = [key.to_value()];
        if !self.attempt(site, map::GET, &name, self.lock_of(key, Mode::Shared)) {
            return TryResult::Locked;
        }
        let found = self.inner.try_get(key);
        if !found.is_locked() {
            let seen = if let TryResult::Present(value) = &found { Some(value.value()) } else { None };
            site.after(map::GET, &name, &form(seen));
        }
        map_try(found, |real| Ref::held(real, site.hold(self.lock_of(key, Mode::Shared))))
    }

    /// As [`DashMap::get_mut`], but gives up when the lock is taken. One step.
    #[track_caller]
    pub fn try_get_mut<Q>(&self, key: &Q) -> TryResult<RefMut<'_, K, V>>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToValue + ?Sized,
    {
        let Some(site) = self.handle.site_or_private() else {
            return map_try(self.inner.try_get_mut(key), RefMut::original);
        };
        let name = [key.to_value()];
        if !self.attempt(site, map::MODIFY, &name, self.lock_of(key, Mode::Exclusive)) {
            return TryResult::Locked;
        }
        let found = match self.inner.try_get_mut(key) {
            TryResult::Locked => return TryResult::Locked,
            TryResult::Absent => None,
            TryResult::Present(real) => Some(real),
        };
        match watched_reference(site, self.lock_of(key, Mode::Exclusive), name, found) {
            Some(reference) => TryResult::Present(reference),
            None => TryResult::Absent,
        }
    }

    /// Puts `value` at `key` and returns the previous value. One step.
    #[inline]
    #[track_caller]
    pub fn insert(&self, key: K, value: V) -> Option<V> {
        let Some(site) = self.handle.site_or_private() else { return self.inner.insert(key, value) };
        let (arguments, needs) = ([key.to_value(), value.to_value()], self.lock_of(&key, Mode::Exclusive));
        self.begin(site, map::INSERT, &arguments, needs);
        let old = self.inner.insert(key, value);
        site.after(map::INSERT, &arguments, &form(old.as_ref()));
        old
    }

    /// Removes the entry at `key` and returns it. One step.
    #[inline]
    #[track_caller]
    pub fn remove<Q>(&self, key: &Q) -> Option<(K, V)>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToValue + ?Sized,
    {
        let Some(site) = self.handle.site_or_private() else { return self.inner.remove(key) };
        let (name, needs) = ([key.to_value()], self.lock_of(key, Mode::Exclusive));
        self.begin(site, map::REMOVE, &name, needs);
        let old = self.inner.remove(key);
        site.after(map::REMOVE, &name, &form(old.as_ref().map(|(_, value)| value)));
        old
    }

    /// Removes the entry at `key` if `f` accepts it. One step, which includes `f`: the lock is kept while `f` runs. The
    /// step is a `remove` or a `get`.
    #[track_caller]
    pub fn remove_if<Q>(&self, key: &Q, f: impl FnOnce(&K, &V) -> bool) -> Option<(K, V)>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToValue + ?Sized,
    {
        match self.handle.site_or_private() {
            None => self.inner.remove_if(key, f),
            Some(site) => self.remove_if_stepwise(site, key, |entry| f(entry.key(), entry.value())),
        }
    }

    /// As [`DashMap::remove_if`], with a function that may change the value.
    #[track_caller]
    pub fn remove_if_mut<Q>(&self, key: &Q, f: impl FnOnce(&K, &mut V) -> bool) -> Option<(K, V)>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToValue + ?Sized,
    {
        match self.handle.site_or_private() {
            None => self.inner.remove_if_mut(key, f),
            Some(site) => self.remove_if_stepwise(site, key, |entry| {
                let (key, value) = entry.pair_mut();
                f(key, value)
            }),
        }
    }

    fn remove_if_stepwise<Q>(
        &self,
        site: Site,
        key: &Q,
        f: impl FnOnce(&mut RefMut<'_, K, V>) -> bool,
    ) -> Option<(K, V)>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToValue + ?Sized,
    {
        let (name, needs) = ([key.to_value()], self.lock_of(key, Mode::Exclusive));
        self.begin(site, map::MODIFY, &name, needs);
        let Some(real) = self.inner.get_mut(key) else {
            site.only_read();
            site.after(map::GET, &name, &Value::None);
            return None;
        };
        let [name] = name;
        let seen = Some(real.value().to_value());
        let mut entry = RefMut::watched(real, Watch::pending(site, needs, name, seen));
        if !f(&mut entry) {
            return None;
        }
        // The real lock is released and taken again, but nothing else runs between: the session does not know yet that
        // the lock is free.
        let (real, mut watch) = entry.into_parts();
        drop(real);
        let removed = self.inner.remove(key);
        if let Some(watch) = &mut watch {
            watch.removed();
        }
        removed
    }

    /// Whether there is an entry at `key`. One step.
    #[inline]
    #[track_caller]
    pub fn contains_key<Q>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToValue + ?Sized,
    {
        let Some(site) = self.handle.reader_or_private() else { return self.inner.contains_key(key) };
        let name = [key.to_value()];
        self.begin(site, map::CONTAINS_KEY, &name, self.lock_of(key, Mode::Shared));
        let found = self.inner.contains_key(key);
        site.after(map::CONTAINS_KEY, &name, &Value::Bool(found));
        found
    }

    /// The place of `key`, for insertion or change. One step, up to the end of the entry or of the reference made from
    /// it, which keeps the lock all the time. The step is what the program does with the entry: `insert_if_absent`,
    /// `insert`, `remove`, or `get` when it does nothing.
    #[track_caller]
    pub fn entry(&self, key: K) -> Entry<'_, K, V> {
        let Some(site) = self.handle.site_or_private() else { return Entry::original(self.inner.entry(key)) };
        let (name, needs) = ([key.to_value()], self.lock_of(&key, Mode::Exclusive));
        self.begin(site, map::MODIFY, &name, needs);
        let [name] = name;
        Entry::watched(self.inner.entry(key), site, needs, name)
    }

    /// As [`DashMap::entry`], but gives up when the lock is taken.
    #[track_caller]
    pub fn try_entry(&self, key: K) -> Option<Entry<'_, K, V>> {
        let Some(site) = self.handle.site_or_private() else { return self.inner.try_entry(key).map(Entry::original) };
        let (name, needs) = ([key.to_value()], self.lock_of(&key, Mode::Exclusive));
        if !self.attempt(site, map::MODIFY, &name, needs) {
            return None;
        }
        let [name] = name;
        self.inner.try_entry(key).map(|entry| Entry::watched(entry, site, needs, name))
    }

    /// Replaces the value at `key`, if there is one, by the result of `f`. One step, which includes `f`.
    #[track_caller]
    pub fn alter<Q>(&self, key: &Q, f: impl FnOnce(&K, V) -> V)
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToValue + ?Sized,
        V: Clone,
    {
        if self.handle.site_or_private().is_none() {
            return self.inner.alter(key, f);
        }
        if let Some(mut entry) = self.get_mut(key) {
            let new = f(entry.key(), entry.value().clone());
            *entry = new;
        }
    }

    /// Replaces each value by the result of `f`. *Not* one step: as [`DashMap::iter_mut`].
    #[track_caller]
    pub fn alter_all(&self, mut f: impl FnMut(&K, V) -> V)
    where
        V: Clone,
    {
        if self.handle.site_or_private().is_none() {
            return self.inner.alter_all(f);
        }
        for mut entry in self.iter_mut() {
            let new = f(entry.key(), entry.value().clone());
            *entry = new;
        }
    }

    /// The result of `f` for the entry at `key`. One step, which includes `f`: the lock is kept while `f` runs.
    #[track_caller]
    pub fn view<Q, R>(&self, key: &Q, f: impl FnOnce(&K, &V) -> R) -> Option<R>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToValue + ?Sized,
    {
        self.get(key).map(|entry| f(entry.key(), entry.value()))
    }

    /// Keeps the entries that `f` accepts. *Not* one step: two steps for each entry, the second with `f` and the
    /// removal, and one that finds no further key. The original keeps the lock of one shard at a time.
    #[track_caller]
    pub fn retain(&self, mut f: impl FnMut(&K, &mut V) -> bool) {
        let Some(site) = self.handle.site_or_private() else { return self.inner.retain(f) };
        let mut walk = Walk::new(&self.inner, site, Mode::Exclusive);
        while let Some(visit) = walk.step(Purpose::Change) {
            let mut entry = visit.into_reference_mut();
            let keep = {
                let (key, value) = entry.pair_mut();
                f(key, value)
            };
            if !keep {
                entry.remove();
            }
        }
    }

    /// Removes all entries. *Not* one step: two steps for each entry and one that finds no further key.
    #[track_caller]
    pub fn clear(&self) {
        let Some(site) = self.handle.site_or_private() else { return self.inner.clear() };
        let mut walk = Walk::new(&self.inner, site, Mode::Exclusive);
        while let Some(visit) = walk.step(Purpose::Clear) {
            visit.into_reference_mut().remove();
        }
    }

    /// How many entries there are. *Not* one step: the original adds up the shards one after the other, so the sum may
    /// be one that the map never had. Here one step finds each entry and another counts it; a last step finds no
    /// further key.
    #[track_caller]
    pub fn len(&self) -> usize {
        let Some(site) = self.handle.reader_or_private() else { return self.inner.len() };
        let mut walk = Walk::new(&self.inner, site, Mode::Shared);
        let mut count = 0;
        while walk.step(Purpose::Count).is_some() {
            count += 1;
        }
        count
    }

    /// Whether there is no entry. *Not* one step: the original asks whether [`DashMap::len`] is 0.
    #[track_caller]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The entries, each behind a read guard. *Not* one step: two steps for each entry and one that finds no further
    /// key. Like the original, the iterator itself keeps the lock of the last entry's shard until it goes on: a loop
    /// that inserts or removes waits for itself.
    #[track_caller]
    pub fn iter(&self) -> Iter<'_, K, V, S> {
        match self.handle.reader_or_private() {
            None => Iter::original(self.inner.iter()),
            Some(site) => Iter::stepwise(Walk::new(&self.inner, site, Mode::Shared)),
        }
    }

    /// The entries, each behind a write guard. *Not* one step: as [`DashMap::iter`]. A change of a value through its
    /// guard is an `insert` when the guard ends.
    #[track_caller]
    pub fn iter_mut(&self) -> IterMut<'_, K, V, S> {
        match self.handle.site_or_private() {
            None => IterMut::original(self.inner.iter_mut()),
            Some(site) => IterMut::stepwise(Walk::new(&self.inner, site, Mode::Exclusive)),
        }
    }

    /// Announces a step and waits until its locks are free.
    #[inline]
    fn begin(&self, site: Site, method: MethodId, arguments: &[Value], needs: Needs) {
        begin(&self.inner, site, method, arguments, needs);
    }

    /// Announces a step that gives up when a lock is taken. Returns false when the lock is known to be taken.
    fn attempt(&self, site: Site, method: MethodId, arguments: &[Value], needs: Needs) -> bool {
        site.is_private() || site.before_attempt(method, arguments, needs)
    }

    #[inline]
    fn lock_of<Q>(&self, key: &Q, mode: Mode) -> Needs
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        shard(self.inner.determine_map(key), mode)
    }
}

/// The form of an optional value.
#[inline]
fn form<V: ToValue>(value: Option<&V>) -> Value {
    Value::option(value.map(ToValue::to_value))
}

/// Reports what `get_mut` found, as a `get`, and makes the guard.
#[inline]
fn watched_reference<'a, K: Eq + Hash, V: ToValue>(
    site: Site,
    needs: Needs,
    name: [Value; 1],
    found: Option<::dashmap::mapref::one::RefMut<'a, K, V>>,
) -> Option<RefMut<'a, K, V>> {
    let seen = found.as_deref().map(ToValue::to_value);
    if found.is_none() {
        site.only_read();
    }
    site.after(map::GET, &name, &Value::option(seen.clone()));
    let [name] = name;
    found.map(|real| RefMut::watched(real, Watch::reported(site, needs, name, seen)))
}

fn map_try<A, B>(found: TryResult<A>, f: impl FnOnce(A) -> B) -> TryResult<B> {
    match found {
        TryResult::Present(value) => TryResult::Present(f(value)),
        TryResult::Absent => TryResult::Absent,
        TryResult::Locked => TryResult::Locked,
    }
}
