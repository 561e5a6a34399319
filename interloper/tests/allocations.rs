//! Runs allocate nothing: twice as many of them allocate no more than once as many.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

use interloper::MethodUnderTest;
use interloper::collections::DashMap;

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call goes to the system's allocator unchanged; counting touches no memory of the caller.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promise about `layout` is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise about both is passed on; `alloc` took the memory from the system.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static GLOBAL: Counting = Counting;

/// Figure 12(ii): linearizable, three operations at most.
fn compute(map: &DashMap<u32, u32>, key: u32) -> u32 {
    if let Some(found) = map.get(&key) {
        return *found;
    }
    *map.entry(key).or_insert(key * 2)
}

fn allocations(executions: u64) -> u64 {
    let method = MethodUnderTest::new("compute", DashMap::new, compute).arguments([7]).random(42, executions);
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    let report = method.check().expect("well described");
    assert_eq!(report.executions(), executions);
    ALLOCATIONS.load(Ordering::Relaxed) - before
}

#[test]
fn runs_allocate_nothing() {
    let (once, twice) = (allocations(20_000), allocations(40_000));
    // Both meet every state and call long before the end, so what the second has more is what 20,000 runs allocate.
    assert!(twice <= once + 20, "{once} allocations for 20,000 runs, {twice} for 40,000");
}
