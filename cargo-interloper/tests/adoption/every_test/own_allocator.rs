
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::sync::Arc;
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

/// The second thread gets the memory from the system that the first one gave back.
#[test]
fn memory_that_is_used_again_is_no_race() {
    let threads = [1_u64, 2].map(|value| std::thread::spawn(move || drop(std::hint::black_box(Box::new(value)))));
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

struct Shared(UnsafeCell<u64>);

unsafe impl Sync for Shared {}

#[test]
fn both_write_what_was_allocated() {
    let shared = Arc::new(Shared(UnsafeCell::new(0)));
    let other = shared.clone();
    let thread = std::thread::spawn(move || unsafe { *other.0.get() = 1 });
    unsafe { *shared.0.get() = 2 };
    thread.join().unwrap();
}

#[test]
fn what_was_freed_is_read() {
    let block = Box::into_raw(Box::new(1_u64));
    drop(unsafe { Box::from_raw(block) });
    std::thread::yield_now();
    assert_eq!(unsafe { block.read_volatile() }, 1);
}
