//! The allocator that lets a watcher keep what is freed.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::Ordering;

use super::{Code, QUARANTINES, watcher};

/// The system's allocator, except that the [`Watcher`](super::Watcher) of the thread is told and may keep freed blocks.
///
/// ```
/// #[global_allocator]
/// static ALLOCATOR: interloper_std::plain::Quarantine = interloper_std::plain::Quarantine::new();
///
/// assert!(interloper_std::plain::quarantines());
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Quarantine(());

impl Quarantine {
    /// For a `#[global_allocator]`.
    pub const fn new() -> Quarantine {
        Quarantine(())
    }
}

// SAFETY: each block comes from the system's allocator with the layout asked for, and goes back to it with that layout, at
// once or when the watcher gives it back.
unsafe impl GlobalAlloc for Quarantine {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        QUARANTINES.store(true, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract.
        told(unsafe { System.alloc(layout) }, layout)
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract.
        told(unsafe { System.alloc_zeroed(layout) }, layout)
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if let Some(watcher) = watcher()
            && watcher.freed(block.expose_provenance(), layout, here())
        {
            return;
        }
        // SAFETY: the caller keeps the contract, and the watcher has not kept the block.
        unsafe { System.dealloc(block, layout) };
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if watcher().is_none() {
            // SAFETY: the caller keeps the contract.
            return unsafe { System.realloc(block, layout, size) };
        }
        // Under a watcher the content always moves: the old address stays what it was.
        // SAFETY: the caller promises that the new size fits the alignment.
        let new = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        // SAFETY: the new block is another one and at least as long as what is copied; the old one is freed once.
        unsafe {
            let moved = self.alloc(new);
            if !moved.is_null() {
                std::ptr::copy_nonoverlapping(block, moved, layout.size().min(size));
                self.dealloc(block, layout);
            }
            moved
        }
    }
}

#[inline]
fn told(block: *mut u8, layout: Layout) -> *mut u8 {
    if let Some(watcher) = watcher()
        && !block.is_null()
    {
        watcher.allocated(block.expose_provenance(), layout, here());
    }
    block
}

/// The frame of the function that this is inlined into, if it has one.
#[inline(always)]
pub(super) fn here() -> Code {
    let frame: usize;
    // SAFETY: the instruction copies a register.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        std::arch::asm!("mov {}, rbp", out(reg) frame, options(nomem, nostack, preserves_flags));
    }
    // SAFETY: the instruction copies a register.
    #[cfg(target_arch = "aarch64")]
    unsafe {
        std::arch::asm!("mov {}, x29", out(reg) frame, options(nomem, nostack, preserves_flags));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        frame = 0;
    }
    Code { address: 0, frame }
}
