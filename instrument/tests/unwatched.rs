//! What the mirror allocates for itself is not told to whoever watches the program: a watcher may look up who allocates, and
//! wait for a lock that the mirror holds meanwhile.

use std::alloc::Layout;
use std::cell::Cell;
use std::sync::atomic::Ordering;

use interloper_std::plain::{Atomic, Code, Handed, KnownCode, Quarantine, StackNotes, Watcher, watched};
use interloper_std::sync::atomic::AtomicUsize;

#[global_allocator]
static ALLOCATOR: Quarantine = Quarantine::new();

/// Counts the blocks it is told of.
#[derive(Default)]
struct Blocks(Cell<usize>);

impl Watcher for Blocks {
    extern "C" fn access(&self, _: usize, _: usize, _: bool, _: usize, _: usize) {}
    fn atomic(&self, _: Atomic) {}
    fn fence(&self, _: Ordering, _: Code) {}
    fn allocated(&self, _: usize, _: Layout, _: Code) {
        self.0.set(self.0.get() + 1);
    }
    fn freed(&self, _: usize, _: Layout, _: Code) -> bool {
        false
    }
    fn handed_over(&self, _: usize, _: Handed) {}
}

#[test]
fn what_the_mirror_notes_of_an_atomic_in_a_static_is_its_own() {
    static ATOMIC: AtomicUsize = AtomicUsize::new(0);
    let blocks = Blocks::default();
    watched(&blocks, (&KnownCode::default(), &StackNotes::default()), || {
        // The first change finds the segments of the program, and keeps the value that the loader has put there.
        ATOMIC.store(1, Ordering::Relaxed);
        assert_eq!(blocks.0.get(), 0);
        drop(std::hint::black_box(Box::new(1)));
        assert_eq!(blocks.0.get(), 1);
    });
}
