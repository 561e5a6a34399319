//! Mirrors [`std::sync::atomic`]: under control each operation is a step. The runtime says whether memory is sequentially
//! consistent. Where it is weak, an atomic holds the newest value, and the runtime says which value an operation reads.
//!
//! An atomic has the size, the alignment and the representation of std's, which are those of its value: memory may be
//! taken for atomics, and atomics for memory. It is known by its address, from its first use in an execution until it is
//! dropped or its memory is given back by [`dealloc`](crate::alloc::dealloc).

#[macro_use]
mod common;
mod boolean;
mod integer;
mod pointer;
mod weakly;

use std::panic::Location;

use crate::control;
use crate::runtime;

pub use std::sync::atomic::*;

#[cfg(target_has_atomic = "8")]
pub use boolean::AtomicBool;
#[cfg(target_has_atomic = "8")]
pub use integer::{AtomicI8, AtomicU8};
#[cfg(target_has_atomic = "16")]
pub use integer::{AtomicI16, AtomicU16};
#[cfg(target_has_atomic = "32")]
pub use integer::{AtomicI32, AtomicU32};
#[cfg(target_has_atomic = "64")]
pub use integer::{AtomicI64, AtomicU64};
#[cfg(target_has_atomic = "ptr")]
pub use integer::{AtomicIsize, AtomicUsize};
#[cfg(target_has_atomic = "ptr")]
pub use pointer::AtomicPtr;

/// As [`std::sync::atomic::ATOMIC_BOOL_INIT`].
#[deprecated(since = "1.34.0", note = "the `new` function is now preferred")]
#[expect(clippy::declare_interior_mutable_const, reason = "std has it")]
pub const ATOMIC_BOOL_INIT: AtomicBool = AtomicBool::new(false);

/// As [`std::sync::atomic::ATOMIC_ISIZE_INIT`].
#[deprecated(since = "1.34.0", note = "the `new` function is now preferred")]
#[expect(clippy::declare_interior_mutable_const, reason = "std has it")]
pub const ATOMIC_ISIZE_INIT: AtomicIsize = AtomicIsize::new(0);

/// As [`std::sync::atomic::ATOMIC_USIZE_INIT`].
#[deprecated(since = "1.34.0", note = "the `new` function is now preferred")]
#[expect(clippy::declare_interior_mutable_const, reason = "std has it")]
pub const ATOMIC_USIZE_INIT: AtomicUsize = AtomicUsize::new(0);

/// As [`std::sync::atomic::fence`]. Not a step: where memory is weak, the runtime takes note.
///
/// # Panics
/// When `order` is `Relaxed`.
// Not inlined into announced programs: see `common`.
#[cfg_attr(not(interloper_announced), inline)]
#[cfg_attr(interloper_announced, inline(never))]
#[track_caller]
pub fn fence(order: Ordering) {
    std::sync::atomic::fence(order);
    if runtime::is_idle() {
        return;
    }
    let location = Location::caller();
    runtime::with(|current| current.runtime().fence(order, location));
}

/// As [`std::sync::atomic::spin_loop_hint`].
#[inline]
#[track_caller]
#[deprecated(since = "1.51.0", note = "use hint::spin_loop instead")]
pub fn spin_loop_hint() {
    crate::hint::spin_loop();
}

/// What an atomic begins with, of no length. When it is dropped what is known of its address, which is that of the
/// atomic, is forgotten. The atomic itself cannot have a destructor: that of an `AtomicPtr<T>` would seem to use a `T`.
#[derive(Default)]
struct Begin;

impl Drop for Begin {
    // Not inlined into announced programs: see `common`.
    #[cfg_attr(not(interloper_announced), inline)]
    #[cfg_attr(interloper_announced, inline(never))]
    fn drop(&mut self) {
        runtime::forget(std::ptr::from_ref(self).addr());
    }
}

/// The result of a compare-exchange, whose step only reads if it fails.
#[inline]
fn compared<T>(result: Result<T, T>) -> Result<T, T> {
    if result.is_err() {
        control::only_read();
    }
    result
}

/// What was there before a read-modify-write, whose step only reads if it writes the same value again: where memory is
/// sequentially consistent, nobody can tell.
#[inline]
fn replaced<T: PartialEq>(before: T, after: T) -> T {
    if before == after {
        control::only_read();
    }
    before
}

/// Whether a weak compare-exchange that could succeed fails here.
fn fails_weakly() -> bool {
    runtime::with(|current| current.runtime().fails_weakly()).unwrap_or(false)
}

/// Whether a load may have this ordering.
#[inline]
fn may_load(order: Ordering) -> bool {
    !matches!(order, Ordering::Release | Ordering::AcqRel)
}

/// Whether a store may have this ordering.
#[inline]
fn may_store(order: Ordering) -> bool {
    !matches!(order, Ordering::Acquire | Ordering::AcqRel)
}

/// The ordering of the load in a compare-exchange that replaces an operation of this ordering.
fn for_failure(order: Ordering) -> Ordering {
    match order {
        Ordering::Release | Ordering::Relaxed => Ordering::Relaxed,
        Ordering::Acquire | Ordering::AcqRel => Ordering::Acquire,
        _ => Ordering::SeqCst,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::sync::atomic as real;

    const _: () = {
        assert!(size_of::<AtomicBool>() == size_of::<real::AtomicBool>());
        assert!(size_of::<AtomicU8>() == size_of::<real::AtomicU8>());
        assert!(size_of::<AtomicU16>() == size_of::<real::AtomicU16>());
        assert!(size_of::<AtomicU32>() == size_of::<real::AtomicU32>());
        assert!(size_of::<AtomicU64>() == size_of::<real::AtomicU64>());
        assert!(size_of::<AtomicUsize>() == size_of::<real::AtomicUsize>());
        assert!(size_of::<AtomicPtr<u64>>() == size_of::<real::AtomicPtr<u64>>());
        assert!(align_of::<AtomicU16>() == align_of::<real::AtomicU16>());
        assert!(align_of::<AtomicU64>() == align_of::<real::AtomicU64>());
        assert!(align_of::<AtomicPtr<u8>>() == align_of::<real::AtomicPtr<u8>>());
    };

    #[test]
    fn atomics_are_like_their_values() {
        let mut number = 5_u8;
        let pointers = [&raw mut number, std::ptr::null_mut()];
        // SAFETY: the representations are the same.
        let atomics = unsafe { std::mem::transmute::<[*mut u8; 2], [AtomicPtr<u8>; 2]>(pointers) };
        assert_eq!(atomics.each_ref().map(|atomic| atomic.load(Ordering::Relaxed)), pointers);
        // SAFETY: as above; zeros are values.
        let zeros: [AtomicU16; 3] = unsafe { std::mem::zeroed() };
        assert_eq!(zeros[2].fetch_add(7, Ordering::Relaxed), 0);
        // SAFETY: it is the place of the number, which is not used meanwhile.
        let atomic = unsafe { AtomicU8::from_ptr(&raw mut number) };
        atomic.store(6, Ordering::Relaxed);
        assert_eq!((number, zeros.map(AtomicU16::into_inner)), (6, [0, 0, 7]));
    }

    #[test]
    fn a_pointer_may_outlive_what_it_points_to() {
        let pointer;
        {
            let short = String::from("short");
            pointer = AtomicPtr::<&str>::new(std::ptr::null_mut());
            let mut borrowed = short.as_str();
            pointer.store((&raw mut borrowed).cast(), Ordering::Relaxed);
        }
        assert!(!pointer.load(Ordering::Relaxed).is_null());
    }
}
