//! `AtomicPtr`.

use std::fmt;
use std::mem::ManuallyDrop;
use std::panic::Location;
use std::sync::atomic::{AtomicPtr as Inner, Ordering};

use super::{Begin, compared, fails_weakly, for_failure, replaced};
use crate::control::{self, Compact, Stepped, Weakly};
use crate::runtime::{self, Action, Place, calls};

/// Mirrors [`std::sync::atomic::AtomicPtr`].
#[repr(C)]
pub struct AtomicPtr<T> {
    _begin: Begin,
    inner: Inner<T>,
}

impl<T> AtomicPtr<T> {
    common_methods!(*mut T);

    /// Adds `val` times the size of `T`, wrapping around; gives what was there.
    #[inline]
    #[track_caller]
    pub fn fetch_ptr_add(&self, val: usize, order: Ordering) -> *mut T {
        let _call = calls::enter_object("fetch_ptr_add", self);
        self.fetch(order, |pointer| pointer.wrapping_add(val))
    }

    /// Subtracts `val` times the size of `T`, wrapping around; gives what was there.
    #[inline]
    #[track_caller]
    pub fn fetch_ptr_sub(&self, val: usize, order: Ordering) -> *mut T {
        let _call = calls::enter_object("fetch_ptr_sub", self);
        self.fetch(order, |pointer| pointer.wrapping_sub(val))
    }

    /// Adds `val` bytes, wrapping around; gives what was there.
    #[inline]
    #[track_caller]
    pub fn fetch_byte_add(&self, val: usize, order: Ordering) -> *mut T {
        let _call = calls::enter_object("fetch_byte_add", self);
        self.fetch(order, |pointer| pointer.wrapping_byte_add(val))
    }

    /// Subtracts `val` bytes, wrapping around; gives what was there.
    #[inline]
    #[track_caller]
    pub fn fetch_byte_sub(&self, val: usize, order: Ordering) -> *mut T {
        let _call = calls::enter_object("fetch_byte_sub", self);
        self.fetch(order, |pointer| pointer.wrapping_byte_sub(val))
    }

    /// Bitwise "or" on the address; gives what was there.
    #[inline]
    #[track_caller]
    pub fn fetch_or(&self, val: usize, order: Ordering) -> *mut T {
        let _call = calls::enter_object("fetch_or", self);
        self.fetch(order, |pointer| pointer.map_addr(|address| address | val))
    }

    /// Bitwise "and" on the address; gives what was there.
    #[inline]
    #[track_caller]
    pub fn fetch_and(&self, val: usize, order: Ordering) -> *mut T {
        let _call = calls::enter_object("fetch_and", self);
        self.fetch(order, |pointer| pointer.map_addr(|address| address & val))
    }

    /// Bitwise "xor" on the address; gives what was there.
    #[inline]
    #[track_caller]
    pub fn fetch_xor(&self, val: usize, order: Ordering) -> *mut T {
        let _call = calls::enter_object("fetch_xor", self);
        self.fetch(order, |pointer| pointer.map_addr(|address| address ^ val))
    }

    #[inline]
    #[track_caller]
    fn fetch(&self, order: Ordering, f: impl Fn(*mut T) -> *mut T) -> *mut T {
        let here = match self.at((Action::ReadWrite, Location::caller()), |weakly| weakly.change(order, &f)) {
            Stepped::At(here) => here,
            Stepped::Done(found) => return found,
        };
        let fetched = here.inner.fetch_update(order, for_failure(order), |pointer| Some(f(pointer)));
        let before = fetched.unwrap_or_else(|there| there);
        replaced(before, f(before))
    }
}

compact! {
    [T] AtomicPtr<T>, *mut T,
    |_| None,
    |value: *mut T| value.expose_provenance() as u64,
    |bits| std::ptr::with_exposed_provenance_mut(bits as usize)
}

impl<T> Default for AtomicPtr<T> {
    fn default() -> AtomicPtr<T> {
        AtomicPtr::new(std::ptr::null_mut())
    }
}

impl<T> From<*mut T> for AtomicPtr<T> {
    #[inline]
    fn from(p: *mut T) -> Self {
        AtomicPtr::new(p)
    }
}

impl<T> fmt::Debug for AtomicPtr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.load(Ordering::Relaxed), f)
    }
}

impl<T> fmt::Pointer for AtomicPtr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Pointer::fmt(&self.load(Ordering::Relaxed), f)
    }
}
