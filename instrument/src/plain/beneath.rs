//! The program's own allocator, between the program and ours.
//!
//! A program has one global allocator, and ours is it. That of the program is asked for memory by ours, and asks ours in turn where it
//! would ask the system: so it sees what it would see, and the watcher is told of the blocks that the system gives.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Code;
use super::allocator::{allocate, allocate_zeroed, free, here, reallocate};

type Own = &'static (dyn GlobalAlloc + Sync);

static OWN: OnceLock<Own> = OnceLock::new();

/// The program's allocator has given out memory that it did not ask us for: see [`gives_own_memory`].
static GIVES_OWN: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// Who asked for memory, while the program's allocator is at work for it.
    static ASKING: Cell<Option<Code>> = const { Cell::new(None) };
    /// How many blocks the program's allocator has asked us for.
    static GIVEN: Cell<usize> = const { Cell::new(0) };
}

/// Says what the program's allocator is. Called before `main`, by `__own_allocator!`.
#[doc(hidden)]
pub fn own_allocator(allocator: Own) {
    // There is one in a program.
    let _ = OWN.set(allocator);
}

/// Makes a static the allocator that ours asks for memory.
#[doc(hidden)]
#[macro_export]
macro_rules! __own_allocator {
    ($allocator:ident) => {
        #[used]
        #[cfg_attr(target_os = "linux", unsafe(link_section = ".init_array"))]
        static INTERLOPER_BEFORE_MAIN: extern "C" fn() = {
            extern "C" fn before_main() {
                $crate::plain::own_allocator(&$allocator);
            }
            before_main
        };
    };
}

/// The program's allocator, if it has one.
#[inline]
pub(super) fn own() -> Option<Own> {
    OWN.get().copied()
}

/// Whether the program's allocator has given out memory that it did not ask us for, such as a part of a larger block. If such memory is
/// freed and used again, nobody is told, and the uses look like a data race.
pub fn gives_own_memory() -> bool {
    GIVES_OWN.load(Ordering::Relaxed)
}

/// Calls `ask`, which asks the program's allocator for a block, for `code`.
pub(super) fn block_for(code: Code, ask: impl FnOnce() -> *mut u8) -> *mut u8 {
    let given = || GIVEN.try_with(Cell::get).unwrap_or(0);
    let before = given();
    let block = asking(code, ask);
    // A thread that is past its thread-locals counts nothing.
    if !block.is_null() && given() == before && GIVEN.try_with(|_| ()).is_ok() {
        GIVES_OWN.store(true, Ordering::Relaxed);
    }
    block
}

/// Calls `ask`, which asks the program's allocator for something, for `code`.
pub(super) fn asking<R>(code: Code, ask: impl FnOnce() -> R) -> R {
    let before = ASKING.try_with(|asking| asking.replace(Some(code))).ok().flatten();
    let answer = ask();
    // A thread that is past its thread-locals remembers nothing.
    let _ = ASKING.try_with(|asking| asking.set(before));
    answer
}

/// Who asks, if the program's allocator does not ask for itself.
#[inline(always)]
fn asked_by() -> Code {
    let asking = ASKING.try_with(Cell::get).ok().flatten();
    match asking {
        Some(code) => code,
        None => here(),
    }
}

/// What the allocators of the program ask for memory in the place of the system's.
#[derive(Clone, Copy, Debug, Default)]
pub struct Beneath(());

impl Beneath {
    /// What stands in the place of the system's allocator.
    pub const fn of(_: System) -> Beneath {
        Beneath(())
    }
}

// SAFETY: each block comes from our allocator with the layout asked for, and goes back to it with that layout.
unsafe impl GlobalAlloc for Beneath {
    // Not inlined, so that the caller of the frame is whoever allocates.
    #[inline(never)]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the contract.
        unsafe { allocate(layout, asked_by()) }
    }

    #[inline(never)]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the contract.
        unsafe { allocate_zeroed(layout, asked_by()) }
    }

    #[inline(never)]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract.
        unsafe { free(block, layout, asked_by()) };
    }

    #[inline(never)]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the contract.
        unsafe { reallocate(block, layout, size, asked_by()) }
    }
}

fn count() {
    // A thread that is past its thread-locals counts nothing.
    let _ = GIVEN.try_with(|given| given.set(given.get().wrapping_add(1)));
}
