//! A program whose global allocator counts with an atomic in a static, over the mirror: the first change of an atomic in a static
//! allocates, and so comes to the allocator again. Before, it waited for itself, and no test began.

#[macro_use]
extern crate interloper_std as std;

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};

static ALLOCATED: AtomicUsize = AtomicUsize::new(0);
static FREED: AtomicUsize = AtomicUsize::new(0);

struct Counting;

// SAFETY: everything is done by the allocator of the system.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATED.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        FREED.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise is the same.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

#[test]
fn an_allocator_counts_with_an_atomic() {
    const SIZE: usize = 1 << 20;
    let before = [&ALLOCATED, &FREED].map(|count| count.load(Ordering::Relaxed));
    drop(black_box(vec![0_u8; SIZE]));
    let thread = std::thread::spawn(|| drop(black_box(vec![1_u8; SIZE])));
    thread.join().unwrap();
    let after = [&ALLOCATED, &FREED].map(|count| count.load(Ordering::Relaxed));
    assert!(after[0] - before[0] >= 2 * SIZE && after[1] - before[1] >= 2 * SIZE, "{before:?} {after:?}");
}
