//! The allocator that lets a watcher keep what is freed.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr;
use std::sync::atomic::Ordering;

use super::beneath::{asking, block_for, own};
use super::watched::watcher_of_blocks;
use super::{Code, QUARANTINES, remains};

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

/// Keeps what an execution frees, so that uses of it are found. Here, so that the functions which the compiler makes of it are
/// in this file: they belong to whoever calls them.
#[cfg(interloper_quarantine)]
#[global_allocator]
static ALLOCATOR: Quarantine = Quarantine::new();

// SAFETY: each block comes from the system's allocator with the layout asked for, and goes back to it with that layout, at
// once or when the watcher gives it back; or all this holds of the program's allocator, which keeps the same contract.
unsafe impl GlobalAlloc for Quarantine {
    // Not inlined, so that the caller of the frame is whoever allocates.
    #[inline(never)]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        QUARANTINES.store(true, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract.
        unsafe {
            match own() {
                Some(own) => block_for(here(), || own.alloc(layout)),
                None => allocate(layout, here()),
            }
        }
    }

    #[inline(never)]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract.
        unsafe {
            match own() {
                Some(own) => block_for(here(), || own.alloc_zeroed(layout)),
                None => allocate_zeroed(layout, here()),
            }
        }
    }

    #[inline(never)]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract.
        unsafe {
            match own() {
                Some(own) => asking(here(), || own.dealloc(block, layout)),
                None => free(block, layout, here()),
            }
        }
    }

    #[inline(never)]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller keeps the contract.
        unsafe {
            match own() {
                Some(own) => block_for(here(), || own.realloc(block, layout, size)),
                None => reallocate(block, layout, size, here()),
            }
        }
    }
}

/// Allocates a block for `code`.
///
/// # Safety
/// As of [`GlobalAlloc::alloc`].
#[inline(always)]
pub(super) unsafe fn allocate(layout: Layout, code: Code) -> *mut u8 {
    // SAFETY: the caller keeps the contract.
    told(unsafe { with_layout(layout, |padded| System.alloc(padded)) }, layout, code)
}

/// Allocates a block of zeros for `code`.
///
/// # Safety
/// As of [`GlobalAlloc::alloc_zeroed`].
#[inline(always)]
pub(super) unsafe fn allocate_zeroed(layout: Layout, code: Code) -> *mut u8 {
    // SAFETY: the caller keeps the contract.
    told(unsafe { with_layout(layout, |padded| System.alloc_zeroed(padded)) }, layout, code)
}

/// Makes a block longer or shorter for `code`.
///
/// # Safety
/// As of [`GlobalAlloc::realloc`].
#[inline(always)]
pub(super) unsafe fn reallocate(block: *mut u8, layout: Layout, size: usize, code: Code) -> *mut u8 {
    // SAFETY: the caller promises that the new size fits the alignment.
    let new = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
    if watcher_of_blocks().is_none() && !remains::empties() {
        // SAFETY: the caller keeps the contract, and the block has its padded layout.
        let moved = unsafe {
            with_layout(new, |new| match padded(layout) {
                Some(old) => System.realloc(block, old, new.size()),
                None => ptr::null_mut(),
            })
        };
        if !moved.is_null() {
            remains::allocated(moved.addr(), new);
        }
        return moved;
    }
    // Under a watcher the content always moves: the old address stays what it was.
    // SAFETY: the new block is another one and at least as long as what is copied; the old one is freed once.
    unsafe {
        let moved = told(with_layout(new, |padded| System.alloc(padded)), new, code);
        if !moved.is_null() {
            ptr::copy_nonoverlapping(block, moved, layout.size().min(size));
            free(block, layout, code);
        }
        moved
    }
}

#[inline(always)]
fn told(block: *mut u8, layout: Layout, code: Code) -> *mut u8 {
    if !block.is_null() {
        remains::allocated(block.addr(), layout);
    }
    if let Some(watcher) = watcher_of_blocks()
        && !block.is_null()
    {
        watcher.allocated(block.expose_provenance(), layout, code);
    }
    block
}

/// Frees a block for `code`, unless the watcher keeps it.
///
/// # Safety
/// As of [`GlobalAlloc::dealloc`].
#[inline(always)]
pub(super) unsafe fn free(block: *mut u8, layout: Layout, code: Code) {
    remains::freed(block.addr());
    if let Some(watcher) = watcher_of_blocks()
        && watcher.freed(block.expose_provenance(), layout, code)
    {
        return;
    }
    // SAFETY: the caller keeps the contract, and the watcher has not kept the block.
    unsafe { to_system(block, layout) };
}

/// The layout that the system's allocator is asked for: one word longer. After each block that allocator keeps words of its
/// own, and it points to them. Without the extra word such a pointer could point into the block and seem to be a use of it.
fn padded(layout: Layout) -> Option<Layout> {
    Layout::from_size_align(layout.size().checked_add(size_of::<usize>())?, layout.align()).ok()
}

fn with_layout(layout: Layout, allocate: impl FnOnce(Layout) -> *mut u8) -> *mut u8 {
    padded(layout).map_or(ptr::null_mut(), allocate)
}

/// A longer block goes back from the system's allocator to the system itself, and nothing in it can lead anywhere. To empty one would also
/// take memory for those of its pages that nobody has used.
const LARGEST_EMPTIED: usize = 32 << 20;

/// Frees a block for good.
///
/// # Safety
/// [`Quarantine`] has allocated it with this layout, and nobody uses it.
pub(super) unsafe fn to_system(block: *mut u8, layout: Layout) {
    if remains::empties() && layout.size() <= LARGEST_EMPTIED {
        // SAFETY: the block is as long. What its words lead to would look as if it were in use.
        unsafe { block.write_bytes(0, layout.size()) };
    }
    if let Some(layout) = padded(layout) {
        // SAFETY: the system's allocator gave it with this layout, and nobody uses it.
        unsafe { System.dealloc(block, layout) };
    }
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
