//! Mirrors [`std::sync::atomic`]: under control each operation is a step, and memory is sequentially consistent.
//!
//! An atomic is longer than the value in it, so there is no `from_ptr`, and memory must not be transmuted to atomics. All
//! of them are laid out alike, so that a reference to one may be taken for one to another of the same width.

#[macro_use]
mod common;
mod boolean;
mod integer;
mod pointer;

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

/// As [`std::sync::atomic::spin_loop_hint`].
#[inline]
#[track_caller]
#[deprecated(since = "1.51.0", note = "use hint::spin_loop instead")]
pub fn spin_loop_hint() {
    crate::hint::spin_loop();
}

/// Makes atomics longer than what programs keep in cells that are atomic for any type: such a cell takes itself for an
/// atomic when it is as long as one (crossbeam's `AtomicCell` does), which a pair of words must not be.
type Apart = [u64; 3];

/// The result of a compare-exchange, whose step only reads if it fails.
#[inline]
fn compared<T>(result: Result<T, T>) -> Result<T, T> {
    if result.is_err() {
        control::only_read();
    }
    result
}

/// Whether a weak compare-exchange that could succeed fails here.
fn fails_weakly() -> bool {
    runtime::with(|current| current.runtime().fails_weakly()).unwrap_or(false)
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

    #[test]
    fn atomics_are_alike_and_like_nothing_else() {
        assert_eq!([size_of::<AtomicBool>(), size_of::<AtomicU8>(), size_of::<AtomicPtr<u8>>()], [40; 3]);
        assert_eq!((size_of::<AtomicUsize>(), align_of::<AtomicUsize>()), (40, 8));
        let (mut number, values) = (5_u8, [AtomicUsize::new(7)]);
        let pointer = AtomicPtr::new(&raw mut number);
        // SAFETY: the layouts are the same, and so are the widths of the values.
        let address = unsafe { &*(&raw const pointer).cast::<AtomicUsize>() };
        assert_eq!(address.load(Ordering::Relaxed), (&raw mut number).addr());
        assert_eq!(values[0].swap(8, Ordering::Relaxed), 7);
    }
}
