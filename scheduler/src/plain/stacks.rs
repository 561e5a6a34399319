//! The stacks of tasks, and what each task does on its own.
//!
//! Half of all accesses are those of a task to its own stack, and few programs let another task look there. So these accesses are
//! noted in a list, which takes fewer instructions than to keep them in the [`Shadow`]. Before a task touches the stack of another
//! one, all that was noted goes into the shadow, in its order. The shadow is then what it would be, had each access gone there at
//! once: until then, no two tasks have met on a stack.

use std::ops::Range;

use interloper_std::runtime::TaskId;

use super::shadow::{Doing, Making, Shadow};
use crate::vector_clock::VectorClock;

/// The stacks of an execution.
#[derive(Debug, Default)]
pub(super) struct Stacks {
    all: Vec<Range<usize>>,
    /// Memory without a stack, from one stack to the next: that around the last access which was looked for among all stacks.
    gap: Range<usize>,
    noted: Vec<Noted>,
    /// A task has touched the stack of another one, in this execution or in one before: another is likely to do so, too, and nothing
    /// is noted.
    are_shared: bool,
}

/// An access of a task to its own stack.
#[derive(Clone, Copy, Debug)]
struct Noted {
    address: usize,
    size: usize,
    code: usize,
    task: TaskId,
    epoch: u32,
    event: u32,
    doing: Doing,
}

/// So many accesses are noted at most.
const MOST: usize = 1 << 14;

/// What is known of the memory of an access, before a look into the shadow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whereabouts {
    /// On the stack of the task. Nothing else is known there of any task.
    OwnStack,
    /// The shadow knows what was done there.
    Known,
    /// Perhaps on the stack of another task.
    Unclear,
}

impl Stacks {
    /// Forgets the stacks of the last execution.
    pub(super) fn clear(&mut self) {
        self.all.clear();
        self.gap = 0..0;
        self.noted.clear();
    }

    /// This memory is the stack of a new task. Returns whether it was that of another task before.
    pub(super) fn begin(&mut self, stack: Range<usize>) -> bool {
        if self.all.iter().any(|other| other.start == stack.start) {
            self.noted.retain(|noted| !stack.contains(&noted.address));
            return true;
        }
        self.gap = 0..0;
        self.all.push(stack);
        false
    }

    /// Where a task accesses memory that has this stack.
    #[inline(always)]
    pub(super) fn whereabouts(&self, stack: &Range<usize>, address: usize, size: usize) -> Whereabouts {
        let end = address.wrapping_add(size);
        if self.are_shared || (self.gap.start <= address && end <= self.gap.end) {
            Whereabouts::Known
        } else if stack.start <= address && end <= stack.end {
            Whereabouts::OwnStack
        } else {
            Whereabouts::Unclear
        }
    }

    /// Whether memory of unclear whereabouts is on a stack. Otherwise it is no longer unclear.
    #[cold]
    pub(super) fn have(&mut self, address: usize, size: usize) -> bool {
        let end = address.saturating_add(size);
        if self.all.iter().any(|stack| address < stack.end && stack.start < end) {
            return true;
        }
        let below = self.all.iter().map(|stack| stack.end).filter(|stack| *stack <= address).max();
        let above = self.all.iter().map(|stack| stack.start).filter(|stack| *stack >= end).min();
        self.gap = below.unwrap_or(0)..above.unwrap_or(usize::MAX);
        false
    }

    /// Notes an access of a task to its own stack. Returns whether there is room for another one.
    #[inline(always)]
    pub(super) fn note(&mut self, address: usize, size: usize, making: Making<'_>) -> bool {
        let Making { task, epoch, doing, code, event, .. } = making;
        self.noted.push(Noted { address, size, code, task, epoch, event, doing });
        self.noted.len() < MOST
    }

    /// The shadow gets all that was noted.
    #[cold]
    #[inline(never)]
    pub(super) fn settle(&mut self, shadow: &mut Shadow) {
        for Noted { address, size, code, task, epoch, event, doing } in self.noted.drain(..) {
            // No other task is known there, so it makes no difference what this one knew.
            let making = Making { task, epoch, doing, code, event, knows: &VectorClock::EMPTY };
            let found = shadow.access(address, size, making);
            debug_assert_eq!(found, None, "no two tasks have met on a stack");
        }
    }

    /// A task touches the stack of another one.
    #[cold]
    #[inline(never)]
    pub(super) fn share(&mut self, shadow: &mut Shadow) {
        self.settle(shadow);
        self.are_shared = true;
    }
}
