//! The program's own allocator, between the program and the one of the checker.

#![cfg(target_os = "linux")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use interloper_std::plain::{Beneath, Quarantine, gives_own_memory, quarantines};

#[global_allocator]
static OURS: Quarantine = Quarantine::new();

/// Counts blocks. On demand it gives out memory that it has itself.
struct Program {
    blocks: AtomicUsize,
    has_own: AtomicBool,
    own: UnsafeCell<[u64; 8]>,
}

// SAFETY: one block at most is in the memory, which `has_own` gives to one thread.
unsafe impl Sync for Program {}

static PROGRAM: Program = {
    interloper_std::__own_allocator!(PROGRAM);
    Program { blocks: AtomicUsize::new(0), has_own: AtomicBool::new(false), own: UnsafeCell::new([0; 8]) }
};

// SAFETY: each block is one of `Beneath`, or the memory of its own, which is long and aligned enough for what it is given to.
unsafe impl GlobalAlloc for Program {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.blocks.fetch_add(1, Ordering::Relaxed);
        let fits = layout.size() == size_of::<[u64; 8]>() && layout.align() == align_of::<u64>();
        if fits && self.has_own.swap(false, Ordering::Relaxed) {
            return self.own.get().cast();
        }
        // SAFETY: the caller keeps the contract.
        unsafe { Beneath::of(System).alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if block != self.own.get().cast() {
            // SAFETY: the caller keeps the contract, and the block is one of `Beneath`.
            unsafe { Beneath::of(System).dealloc(block, layout) };
        }
    }
}

#[test]
fn it_is_asked_for_each_block_and_noticed_when_it_gives_out_its_own() {
    let before = PROGRAM.blocks.load(Ordering::Relaxed);
    let block = black_box(Box::new([1_u64; 8]));
    assert!(PROGRAM.blocks.load(Ordering::Relaxed) > before);
    drop(block);
    let mut grows = black_box(vec![1_u8; 3]);
    grows.extend([2; 1000]);
    assert_eq!((grows[2], grows[1002]), (1, 2));
    assert!(quarantines() && !gives_own_memory());

    PROGRAM.has_own.store(true, Ordering::Relaxed);
    let block = black_box(Box::new([3_u64; 8]));
    assert_eq!(block[7], 3);
    drop(block);
    assert!(gives_own_memory());
}
