//! Mirrors [`std::alloc`]: under control, atomics in freed memory are forgotten.

pub use std::alloc::*;

use crate::runtime;

/// As [`std::alloc::dealloc`].
///
/// # Safety
/// As of std's.
#[inline]
pub unsafe fn dealloc(ptr: *mut u8, layout: Layout) {
    runtime::forget_range(ptr.addr(), layout.size());
    // SAFETY: the caller keeps the contract of std's function.
    unsafe { std::alloc::dealloc(ptr, layout) };
}

/// As [`std::alloc::realloc`]. The content of the memory counts as moved, even if the memory stays where it is.
///
/// # Safety
/// As of std's.
#[inline]
pub unsafe fn realloc(ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
    runtime::forget_range(ptr.addr(), layout.size());
    // SAFETY: the caller keeps the contract of std's function.
    unsafe { std::alloc::realloc(ptr, layout, new_size) }
}
