//! References into the map that keep the lock of a shard.

use std::fmt;
use std::hash::Hash;

use ::dashmap::mapref::one;
use interloper_commutativity::ToValue;

use super::Watch;
use crate::site::Hold;

/// A read guard on an entry, from [`DashMap::get`](super::DashMap::get).
pub struct Ref<'a, K, V> {
    real: one::Ref<'a, K, V>,
    /// After `real`, so that the real lock is free when the session hears of it.
    _hold: Option<Hold>,
}

impl<'a, K: Eq + Hash, V> Ref<'a, K, V> {
    #[inline]
    pub(super) fn original(real: one::Ref<'a, K, V>) -> Self {
        Ref { real, _hold: None }
    }

    #[inline]
    pub(super) fn held(real: one::Ref<'a, K, V>, hold: Hold) -> Self {
        Ref { real, _hold: Some(hold) }
    }

    /// The key.
    pub fn key(&self) -> &K {
        self.real.key()
    }

    /// The value.
    pub fn value(&self) -> &V {
        self.real.value()
    }

    /// Key and value.
    pub fn pair(&self) -> (&K, &V) {
        self.real.pair()
    }

    /// A guard on a part of the value.
    pub fn map<F, T>(self, f: F) -> MappedRef<'a, K, V, T>
    where
        F: FnOnce(&V) -> &T,
    {
        let part: *const T = f(self.value());
        MappedRef { whole: self, part }
    }

    /// A guard on a part of the value, if there is such a part.
    ///
    /// # Errors
    /// The guard itself, when `f` gives `None`.
    pub fn try_map<F, T>(self, f: F) -> Result<MappedRef<'a, K, V, T>, Self>
    where
        F: FnOnce(&V) -> Option<&T>,
    {
        match f(self.value()).map(std::ptr::from_ref) {
            Some(part) => Ok(MappedRef { whole: self, part }),
            None => Err(self),
        }
    }
}

derefs!([K: Eq + Hash, V] Ref<'_, K, V> => V);

impl<K: Eq + Hash + fmt::Debug, V: fmt::Debug> fmt::Debug for Ref<'_, K, V> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Ref").field("k", self.key()).field("v", self.value()).finish()
    }
}

/// A write guard on an entry, from [`DashMap::get_mut`](super::DashMap::get_mut) or an [`Entry`](super::Entry).
pub struct RefMut<'a, K: Eq + Hash, V: ToValue> {
    /// `None` only after the guard was moved out.
    real: Option<one::RefMut<'a, K, V>>,
    /// Whether the value was borrowed mutably.
    touched: bool,
    /// After `real`, so that the real lock is free when the session hears of it.
    watch: Option<Watch>,
}

impl<'a, K: Eq + Hash, V: ToValue> RefMut<'a, K, V> {
    #[inline]
    pub(super) fn original(real: one::RefMut<'a, K, V>) -> Self {
        RefMut { real: Some(real), touched: false, watch: None }
    }

    #[inline]
    pub(super) fn watched(real: one::RefMut<'a, K, V>, watch: Watch) -> Self {
        RefMut { real: Some(real), touched: false, watch: Some(watch) }
    }

    /// The real guard, and the watch, which has reported nothing for it.
    pub(super) fn into_parts(mut self) -> (one::RefMut<'a, K, V>, Option<Watch>) {
        let watch = self.watch.take();
        (self.real.take().expect(LIVE), watch)
    }

    fn real(&self) -> &one::RefMut<'a, K, V> {
        self.real.as_ref().expect(LIVE)
    }

    /// The key.
    pub fn key(&self) -> &K {
        self.real().key()
    }

    /// The value.
    pub fn value(&self) -> &V {
        self.real().value()
    }

    /// The value, mutably.
    pub fn value_mut(&mut self) -> &mut V {
        self.pair_mut().1
    }

    /// Key and value.
    pub fn pair(&self) -> (&K, &V) {
        self.real().pair()
    }

    /// Key and value, the value mutably.
    pub fn pair_mut(&mut self) -> (&K, &mut V) {
        self.touched = true;
        self.real.as_mut().expect(LIVE).pair_mut()
    }

    /// Replaces this guard by a read guard; the lock is never free between.
    pub fn downgrade(mut self) -> Ref<'a, K, V> {
        self.report();
        let (real, watch) = self.into_parts();
        Ref { real: real.downgrade(), _hold: watch.map(Watch::downgrade) }
    }

    /// A guard on a part of the value.
    pub fn map<F, T>(mut self, f: F) -> MappedRefMut<'a, K, V, T>
    where
        F: FnOnce(&mut V) -> &mut T,
    {
        let part: *mut T = f(self.value_mut());
        MappedRefMut { whole: self, part }
    }

    /// A guard on a part of the value, if there is such a part.
    ///
    /// # Errors
    /// The guard itself, when `f` gives `None`.
    pub fn try_map<F, T>(mut self, f: F) -> Result<MappedRefMut<'a, K, V, T>, Self>
    where
        F: FnOnce(&mut V) -> Option<&mut T>,
    {
        match f(self.value_mut()).map(std::ptr::from_mut) {
            Some(part) => Ok(MappedRefMut { whole: self, part }),
            None => Err(self),
        }
    }

    /// Reports a change of the value.
    #[inline]
    fn report(&mut self) {
        if let (Some(watch), Some(real), true) = (&mut self.watch, &self.real, self.touched) {
            watch.touched(real.value().to_value());
        }
    }
}

/// A guard is complete until it is consumed or dropped.
const LIVE: &str = "the guard was not used up";

impl<K: Eq + Hash, V: ToValue> Drop for RefMut<'_, K, V> {
    #[inline]
    fn drop(&mut self) {
        self.report();
    }
}

derefs!(mut [K: Eq + Hash, V: ToValue] RefMut<'_, K, V> => V);

impl<K: Eq + Hash + fmt::Debug, V: ToValue + fmt::Debug> fmt::Debug for RefMut<'_, K, V> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("RefMut").field("k", self.key()).field("v", self.value()).finish()
    }
}

/// A read guard on a part of a value, from [`Ref::map`].
pub struct MappedRef<'a, K, V, T> {
    whole: Ref<'a, K, V>,
    part: *const T,
}

impl<'a, K: Eq + Hash, V, T> MappedRef<'a, K, V, T> {
    /// The key.
    pub fn key(&self) -> &K {
        self.whole.key()
    }

    /// The part of the value.
    pub fn value(&self) -> &T {
        // SAFETY: `part` came from a reference into the value that lives as long as a borrow of `whole`, which keeps
        // the value in its place and locked against writing.
        unsafe { &*self.part }
    }

    /// Key and part of the value.
    pub fn pair(&self) -> (&K, &T) {
        (self.key(), self.value())
    }

    /// A guard on a part of the part.
    pub fn map<F, T2>(self, f: F) -> MappedRef<'a, K, V, T2>
    where
        F: FnOnce(&T) -> &T2,
    {
        let part: *const T2 = f(self.value());
        MappedRef { whole: self.whole, part }
    }

    /// A guard on a part of the part, if there is such a part.
    ///
    /// # Errors
    /// The guard itself, when `f` gives `None`.
    pub fn try_map<F, T2>(self, f: F) -> Result<MappedRef<'a, K, V, T2>, Self>
    where
        F: FnOnce(&T) -> Option<&T2>,
    {
        match f(self.value()).map(std::ptr::from_ref) {
            Some(part) => Ok(MappedRef { whole: self.whole, part }),
            None => Err(self),
        }
    }
}

derefs!([K: Eq + Hash, V, T] MappedRef<'_, K, V, T> => T);

impl<K: Eq + Hash + fmt::Debug, V, T: fmt::Debug> fmt::Debug for MappedRef<'_, K, V, T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("MappedRef").field("k", self.key()).field("v", self.value()).finish()
    }
}

impl<K: Eq + Hash, V, T: fmt::Display> fmt::Display for MappedRef<'_, K, V, T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value().fmt(out)
    }
}

impl<K: Eq + Hash, V, T: AsRef<U>, U: ?Sized> AsRef<U> for MappedRef<'_, K, V, T> {
    fn as_ref(&self) -> &U {
        self.value().as_ref()
    }
}

/// A write guard on a part of a value, from [`RefMut::map`].
pub struct MappedRefMut<'a, K: Eq + Hash, V: ToValue, T> {
    whole: RefMut<'a, K, V>,
    part: *mut T,
}

impl<'a, K: Eq + Hash, V: ToValue, T> MappedRefMut<'a, K, V, T> {
    /// The key.
    pub fn key(&self) -> &K {
        self.whole.key()
    }

    /// The part of the value.
    pub fn value(&self) -> &T {
        // SAFETY: `part` came from an exclusive reference into the value that `whole` keeps in its place and locked;
        // nothing but this guard reaches the value until `whole` is dropped.
        unsafe { &*self.part }
    }

    /// The part of the value, mutably.
    pub fn value_mut(&mut self) -> &mut T {
        // SAFETY: as in `value`; the borrow of `self` is exclusive.
        unsafe { &mut *self.part }
    }

    /// Key and part of the value.
    pub fn pair(&self) -> (&K, &T) {
        (self.key(), self.value())
    }

    /// Key and part of the value, the part mutably.
    pub fn pair_mut(&mut self) -> (&K, &mut T) {
        // SAFETY: as in `value_mut`; the key is not part of the value.
        (self.whole.key(), unsafe { &mut *self.part })
    }

    /// A guard on a part of the part.
    pub fn map<F, T2>(mut self, f: F) -> MappedRefMut<'a, K, V, T2>
    where
        F: FnOnce(&mut T) -> &mut T2,
    {
        let part: *mut T2 = f(self.value_mut());
        MappedRefMut { whole: self.whole, part }
    }

    /// A guard on a part of the part, if there is such a part.
    ///
    /// # Errors
    /// The guard itself, when `f` gives `None`.
    pub fn try_map<F, T2>(mut self, f: F) -> Result<MappedRefMut<'a, K, V, T2>, Self>
    where
        F: FnOnce(&mut T) -> Option<&mut T2>,
    {
        match f(self.value_mut()).map(std::ptr::from_mut) {
            Some(part) => Ok(MappedRefMut { whole: self.whole, part }),
            None => Err(self),
        }
    }
}

derefs!(mut [K: Eq + Hash, V: ToValue, T] MappedRefMut<'_, K, V, T> => T);

impl<K: Eq + Hash + fmt::Debug, V: ToValue, T: fmt::Debug> fmt::Debug for MappedRefMut<'_, K, V, T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("MappedRefMut").field("k", self.key()).field("v", self.value()).finish()
    }
}
