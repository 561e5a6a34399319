
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

struct Counting;

static ALLOCATED: AtomicUsize = AtomicUsize::new(0);

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATED.fetch_add(layout.size(), Ordering::Relaxed);
        System.alloc(layout)
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        System.dealloc(block, layout)
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn allocated() -> usize {
    let before = ALLOCATED.load(Ordering::Relaxed);
    let thread = std::thread::spawn(|| std::hint::black_box(vec![1_u8; 1 << 20]).len());
    assert_eq!(thread.join().unwrap(), 1 << 20);
    ALLOCATED.load(Ordering::Relaxed) - before
}

#[test]
fn what_is_allocated_is_counted() {
    assert!(allocated() >= 1 << 20);
}

#[test]
fn nothing_is_allocated() {
    assert_eq!(allocated(), 0);
}
