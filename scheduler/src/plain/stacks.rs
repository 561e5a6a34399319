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
    /// Memory without a stack, from one stack to the next: that around the last accesses which were looked for among all stacks.
    gaps: [Range<usize>; 2],
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

impl Stacks {
    /// Forgets the stacks of the last execution.
    pub(super) fn clear(&mut self) {
        self.all.clear();
        self.gaps = [0..0, 0..0];
        self.noted.clear();
    }

    /// This memory is the stack of a new task. Returns whether it was that of another task before.
    pub(super) fn begin(&mut self, stack: Range<usize>) -> bool {
        if self.all.iter().any(|other| other.start == stack.start) {
            self.noted.retain(|noted| !stack.contains(&noted.address));
            return true;
        }
        self.gaps = [0..0, 0..0];
        self.all.push(stack);
        false
    }

    /// Whether an access of a task is to be noted: it is to the stack of the task, which is here.
    #[inline(always)]
    pub(super) fn is_own(&self, stack: &Range<usize>, address: usize, size: usize) -> bool {
        stack.start <= address && address.wrapping_add(size) <= stack.end && !self.are_shared
    }

    /// Whether it is known that an access to this memory, which is not that of its task's own stack, is to no stack of which anything was
    /// noted.
    #[inline(always)]
    pub(super) fn are_clear_of(&self, address: usize, size: usize) -> bool {
        let end = address.wrapping_add(size);
        let [last, other] = &self.gaps;
        self.are_shared || (last.start <= address && end <= last.end) || (other.start <= address && end <= other.end)
    }

    /// Whether memory is on a stack. Otherwise [`Stacks::are_clear_of`] it from now on.
    #[cold]
    pub(super) fn have(&mut self, address: usize, size: usize) -> bool {
        let end = address.saturating_add(size);
        if self.all.iter().any(|stack| address < stack.end && stack.start < end) {
            return true;
        }
        let below = self.all.iter().map(|stack| stack.end).filter(|stack| *stack <= address).max();
        let above = self.all.iter().map(|stack| stack.start).filter(|stack| *stack >= end).min();
        self.gaps.swap(0, 1);
        self.gaps[0] = below.unwrap_or(0)..above.unwrap_or(usize::MAX);
        false
    }

    /// Whether another access can be noted before the last ones are settled.
    #[inline(always)]
    pub(super) fn have_room(&self) -> bool {
        self.noted.len() < MOST
    }

    /// Notes an access of a task to its own stack, which the task makes after so many events of its own and of the trace.
    #[inline(always)]
    pub(super) fn note(
        &mut self,
        (address, size, doing): (usize, usize, Doing),
        (task, epoch, event): (TaskId, u32, u32),
        code: usize,
    ) {
        self.noted.push(Noted { address, size, code, task, epoch, event, doing });
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

#[cfg(test)]
mod tests;
