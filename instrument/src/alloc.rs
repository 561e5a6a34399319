//! Mirrors [`std::alloc`]: under control, no atomics are left in memory that is given back.

pub use std::alloc::*;

use crate::runtime;

/// As [`std::alloc::dealloc`].
///
/// # Safety
/// As of std's.
#[inline]
pub unsafe fn dealloc(ptr: *mut u8, layout: Layout) {
    runtime::forget_range(ptr.addr(), layout.size());
    // SAFETY: for the caller to see to.
    unsafe { std::alloc::dealloc(ptr, layout) };
}

/// As [`std::alloc::realloc`]. What is in the memory is moved, also when it stays where it is.
///
/// # Safety
/// As of std's.
#[inline]
pub unsafe fn realloc(ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
    runtime::forget_range(ptr.addr(), layout.size());
    // SAFETY: for the caller to see to.
    unsafe { std::alloc::realloc(ptr, layout, new_size) }
}
