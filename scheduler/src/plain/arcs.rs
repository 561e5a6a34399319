//! The `Arc`s of an execution, seen from outside.
//!
//! The counts of an `Arc` are atomics of std, in code that no mirror replaces: an `Arc` of another type could not stand in a
//! method's receiver or become an `Arc<dyn Trait>`. What their orderings mean still has to be known: whoever drops an `Arc`
//! does so with `Release`, and whoever drops the last one acquires what the others have done before it drops the value.
//!
//! The tasks of an execution run one at a time, so it is enough to look at the counts whenever another task goes on, and
//! before anything that the answer matters for: a count that is lower than before was lowered by the running task.
//!
//! A block of memory is taken for that of an `Arc` if it begins with two small numbers, the strong and the weak count. This
//! takes an `Rc`, which no other task can see, for an `Arc`, too. A block of other data that begins like one is dropped as
//! soon as its numbers are not those of an `Arc`.

use std::alloc::Layout;

use crate::vector_clock::VectorClock;

/// The blocks that look like those of an `Arc`.
#[derive(Debug, Default)]
pub(crate) struct Arcs {
    /// Blocks that had no content yet when they were allocated.
    new: Vec<usize>,
    arcs: Vec<Arc>,
}

#[derive(Debug)]
struct Arc {
    start: usize,
    /// The strong count when it was looked at last.
    strong: usize,
    /// What happens before whoever drops the last one.
    released: VectorClock,
}

/// What the running task has done to an `Arc` since the counts were looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dropped {
    /// It has dropped one, and others are left.
    One,
    /// It has dropped the last one, or taken the value out of it.
    Last,
}

/// The length of the two counts, in bytes.
pub(crate) const COUNTS: usize = 16;
/// Counts are below this.
const MOST: usize = 1 << 20;

impl Arcs {
    pub(crate) fn clear(&mut self) {
        self.new.clear();
        self.arcs.clear();
    }

    /// Whether there is any block to look at.
    pub(crate) fn is_empty(&self) -> bool {
        self.new.is_empty() && self.arcs.is_empty()
    }

    /// A block was allocated.
    pub(crate) fn allocated(&mut self, start: usize, layout: Layout) {
        if layout.size() >= COUNTS && layout.align() >= align_of::<usize>() {
            self.new.push(start);
        }
    }

    /// A block is about to be freed. All blocks were looked at.
    pub(crate) fn freed(&mut self, start: usize) {
        self.new.retain(|new| *new != start);
        self.arcs.retain(|arc| arc.start != start);
    }

    /// Whether the block at this address is taken for an `Arc`.
    pub(crate) fn has(&self, start: usize) -> bool {
        self.arcs.iter().any(|arc| arc.start == start)
    }

    /// Looks at all counts, and says what the running task has done.
    pub(crate) fn look(&mut self, mut tell: impl FnMut(Dropped, &mut VectorClock)) {
        for start in self.new.drain(..) {
            let (strong, weak) = counts(start);
            // `Arc::new_cyclic` begins with a strong count of 0.
            if strong < MOST && (1..MOST).contains(&weak) {
                self.arcs.push(Arc { start, strong, released: VectorClock::default() });
            }
        }
        self.arcs.retain_mut(|arc| {
            let (strong, weak) = counts(arc.start);
            let before = std::mem::replace(&mut arc.strong, strong);
            if strong < before {
                tell(if strong == 0 { Dropped::Last } else { Dropped::One }, &mut arc.released);
            }
            // The weak count is `usize::MAX` while a task looks whether it has the only `Arc`.
            strong < MOST && (weak < MOST || weak == usize::MAX)
        });
    }

    /// The running task found that it has the only `Arc`, in the block at this address: `Arc::get_mut` or `Arc::make_mut`.
    pub(crate) fn is_alone(&mut self, start: usize, mut tell: impl FnMut(Dropped, &mut VectorClock)) {
        let arc = self.arcs.iter_mut().find(|arc| arc.start == start && arc.strong == 1);
        if let Some(arc) = arc {
            tell(Dropped::Last, &mut arc.released);
        }
    }
}

/// The two numbers at the start of a block, which is in use or kept.
fn counts(start: usize) -> (usize, usize) {
    let counts: *const [usize; 2] = std::ptr::with_exposed_provenance(start);
    // SAFETY: `allocated` was told of the block, which is long enough and aligned, and `freed` was not. No other thread uses it
    // now: the tasks of an execution share one. A block without content holds whatever was there.
    let [strong, weak] = unsafe { counts.read_volatile() };
    (strong, weak)
}

#[cfg(test)]
mod tests {
    use std::sync;

    use super::*;

    /// What is told of an `Arc` at this address while `body` does something to it.
    fn told(arcs: &mut Arcs) -> Vec<Dropped> {
        let mut told = Vec::new();
        arcs.look(|dropped, _| told.push(dropped));
        told
    }

    fn block<T>(arc: &sync::Arc<T>) -> usize {
        sync::Arc::as_ptr(arc).expose_provenance() - COUNTS
    }

    #[test]
    fn drops_are_seen_and_clones_are_not() {
        let mut arcs = Arcs::default();
        let first = sync::Arc::new(5_u64);
        let start = block(&first);
        arcs.allocated(start, Layout::new::<[u64; 3]>());
        assert_eq!(told(&mut arcs), []);
        assert!(arcs.has(start));
        let second = first.clone();
        assert_eq!(told(&mut arcs), []);
        let weak = sync::Arc::downgrade(&first);
        drop(second);
        assert_eq!(told(&mut arcs), [Dropped::One]);
        drop(first);
        assert_eq!(told(&mut arcs), [Dropped::Last]);
        assert_eq!(told(&mut arcs), []);
        arcs.freed(start);
        assert!(arcs.is_empty());
        drop(weak);
    }

    #[test]
    fn a_value_that_is_taken_out_was_the_last() {
        let mut arcs = Arcs::default();
        let only = sync::Arc::new(5_u64);
        let _weak = sync::Arc::downgrade(&only);
        arcs.allocated(block(&only), Layout::new::<[u64; 3]>());
        assert_eq!(told(&mut arcs), []);
        assert_eq!(sync::Arc::try_unwrap(only), Ok(5));
        assert_eq!(told(&mut arcs), [Dropped::Last]);
    }

    #[test]
    fn other_blocks_are_not_looked_at_for_long() {
        let mut arcs = Arcs::default();
        let (text, mut numbers) = (["a", "b"], vec![1_usize, 1, 7]);
        arcs.allocated(text.as_ptr().expose_provenance(), Layout::new::<[&str; 2]>());
        let start = numbers.as_mut_ptr().expose_provenance();
        arcs.allocated(start, Layout::new::<[usize; 3]>());
        arcs.allocated(8, Layout::new::<u64>());
        assert_eq!(told(&mut arcs), []);
        assert_eq!(arcs.arcs.iter().map(|arc| arc.start).collect::<Vec<_>>(), [start], "pointers are no counts");
        numbers[1] = usize::MAX - 1;
        std::hint::black_box(&mut numbers);
        assert_eq!(told(&mut arcs), []);
        assert!(arcs.is_empty());
    }
}
