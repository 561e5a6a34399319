//! `AtomicPtr`.

use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::panic::Location;
use std::sync::atomic::{AtomicPtr as Inner, Ordering};

use super::{Begin, compared, fails_weakly, for_failure, may_load, may_store, replaced};
use crate::control::{self, Compact, Stepped, Weakly};
use crate::runtime::{self, Action, Place, calls};
use crate::statics;

/// Mirrors [`std::sync::atomic::AtomicPtr`].
#[repr(transparent)]
pub struct AtomicPtr<T> {
    erased: Erased,
    _target: PhantomData<Inner<T>>,
}

/// One whose target has no type, so that what it does is compiled here: compiled into a program whose loads and stores are announced,
/// it would be announced, too.
#[repr(C)]
struct Erased {
    _begin: Begin,
    inner: Inner<()>,
}

impl Erased {
    common_methods!(*mut ());

    /// Writes what `f` makes of the value; gives what was there. `name` is the method called.
    #[track_caller]
    fn fetch(&self, name: &'static str, order: Ordering, f: &dyn Fn(*mut ()) -> *mut ()) -> *mut () {
        let place = Location::caller();
        let _call = calls::enter_object_at(name, self, place);
        let here = match self.at((Action::ReadWrite, place), (order, order), |weakly| weakly.change(order, f)) {
            Stepped::At(here) => here,
            Stepped::Done(found) => return found,
        };
        let fetched = here.inner.fetch_update(order, for_failure(order), |pointer| Some(f(pointer)));
        let before = fetched.unwrap_or_else(|there| there);
        replaced(before, f(before))
    }
}

compact! {
    Erased, *mut (),
    |_| None,
    |value: *mut ()| value.expose_provenance() as u64,
    |bits| std::ptr::with_exposed_provenance_mut(bits as usize)
}

impl<T> AtomicPtr<T> {
    /// A new atomic.
    #[inline]
    #[must_use]
    pub const fn new(p: *mut T) -> AtomicPtr<T> {
        AtomicPtr { erased: Erased::new(p.cast()), _target: PhantomData }
    }

    /// The value, by the only reference to the atomic.
    #[inline]
    pub fn get_mut(&mut self) -> &mut *mut T {
        let pointer = std::ptr::from_mut(self.erased.get_mut()).cast();
        // SAFETY: pointers to sized values have one representation, and the reference is as exclusive as `self`.
        unsafe { &mut *pointer }
    }

    /// A pointer to the value. What is done through it is not a step.
    #[inline]
    pub const fn as_ptr(&self) -> *mut *mut T {
        self.erased.as_ptr().cast()
    }

    /// Reads.
    ///
    /// # Panics
    /// When `order` is `Release` or `AcqRel`.
    #[inline]
    #[track_caller]
    pub fn load(&self, order: Ordering) -> *mut T {
        self.erased.load(order).cast()
    }

    /// Writes.
    ///
    /// # Panics
    /// When `order` is `Acquire` or `AcqRel`.
    #[inline]
    #[track_caller]
    pub fn store(&self, ptr: *mut T, order: Ordering) {
        self.erased.store(ptr.cast(), order);
    }

    /// Writes, and gives what was there.
    #[inline]
    #[track_caller]
    pub fn swap(&self, ptr: *mut T, order: Ordering) -> *mut T {
        self.erased.swap(ptr.cast(), order).cast()
    }

    /// Writes if `current` is there.
    ///
    /// # Errors
    /// What is there instead.
    ///
    /// # Panics
    /// When `failure` is `Release` or `AcqRel`.
    #[inline]
    #[track_caller]
    pub fn compare_exchange(
        &self,
        current: *mut T,
        new: *mut T,
        success: Ordering,
        failure: Ordering,
    ) -> Result<*mut T, *mut T> {
        typed(self.erased.compare_exchange(current.cast(), new.cast(), success, failure))
    }

    /// Writes if `current` is there, but may fail even then; under control it does when
    /// [`Runtime::fails_weakly`](crate::runtime::Runtime::fails_weakly) says so.
    ///
    /// # Errors
    /// What is there.
    ///
    /// # Panics
    /// When `failure` is `Release` or `AcqRel`.
    #[inline]
    #[track_caller]
    pub fn compare_exchange_weak(
        &self,
        current: *mut T,
        new: *mut T,
        success: Ordering,
        failure: Ordering,
    ) -> Result<*mut T, *mut T> {
        typed(self.erased.compare_exchange_weak(current.cast(), new.cast(), success, failure))
    }

    composed_methods!(*mut T);

    /// Adds `val` times the size of `T`, wrapping around; gives what was there.
    #[inline]
    #[track_caller]
    pub fn fetch_ptr_add(&self, val: usize, order: Ordering) -> *mut T {
        self.fetch("fetch_ptr_add", order, |pointer| pointer.wrapping_add(val))
    }

    /// Subtracts `val` times the size of `T`, wrapping around; gives what was there.
    #[inline]
    #[track_caller]
    pub fn fetch_ptr_sub(&self, val: usize, order: Ordering) -> *mut T {
        self.fetch("fetch_ptr_sub", order, |pointer| pointer.wrapping_sub(val))
    }

    /// Adds `val` bytes, wrapping around; gives what was there.
    #[inline]
    #[track_caller]
    pub fn fetch_byte_add(&self, val: usize, order: Ordering) -> *mut T {
        self.fetch("fetch_byte_add", order, |pointer| pointer.wrapping_byte_add(val))
    }

    /// Subtracts `val` bytes, wrapping around; gives what was there.
    #[inline]
    #[track_caller]
    pub fn fetch_byte_sub(&self, val: usize, order: Ordering) -> *mut T {
        self.fetch("fetch_byte_sub", order, |pointer| pointer.wrapping_byte_sub(val))
    }

    /// Bitwise "or" on the address; gives what was there.
    #[inline]
    #[track_caller]
    pub fn fetch_or(&self, val: usize, order: Ordering) -> *mut T {
        self.fetch("fetch_or", order, |pointer| pointer.map_addr(|address| address | val))
    }

    /// Bitwise "and" on the address; gives what was there.
    #[inline]
    #[track_caller]
    pub fn fetch_and(&self, val: usize, order: Ordering) -> *mut T {
        self.fetch("fetch_and", order, |pointer| pointer.map_addr(|address| address & val))
    }

    /// Bitwise "xor" on the address; gives what was there.
    #[inline]
    #[track_caller]
    pub fn fetch_xor(&self, val: usize, order: Ordering) -> *mut T {
        self.fetch("fetch_xor", order, |pointer| pointer.map_addr(|address| address ^ val))
    }

    #[inline]
    #[track_caller]
    fn fetch(&self, name: &'static str, order: Ordering, f: impl Fn(*mut T) -> *mut T) -> *mut T {
        self.erased.fetch(name, order, &|pointer| f(pointer.cast()).cast()).cast()
    }
}

fn typed<T>(result: Result<*mut (), *mut ()>) -> Result<*mut T, *mut T> {
    result.map(<*mut ()>::cast).map_err(<*mut ()>::cast)
}

impl<T> runtime::Peek for AtomicPtr<T> {
    type Value = *mut T;

    #[inline]
    fn peek(&self) -> *mut T {
        self.erased.peek().cast()
    }
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
