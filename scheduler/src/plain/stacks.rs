//! The stacks of tasks, and what each task does on its own.
//!
//! Half of all accesses are those of a task to its own stack, and few programs let another task look there. So these accesses are
//! [noted](StackNotes), mostly by the hooks themselves, which takes fewer instructions than to keep them in the [`Shadow`]. Before a task
//! touches the stack of another one, all that was noted goes into the shadow, in its order. The shadow is then what it would be, had
//! each access gone there at once: until then, no two tasks have met on a stack.

use std::ops::Range;
use std::rc::Rc;

use interloper_std::plain::{Note, StackNotes};
use interloper_std::runtime::TaskId;

use super::shadow::{Doing, Making, Shadow};
use crate::vector_clock::VectorClock;

/// The stacks of an execution.
#[derive(Debug, Default)]
pub(super) struct Stacks {
    all: Vec<Range<usize>>,
    /// Memory without a stack, from one stack to the next: that around the last accesses which were looked for among all stacks.
    gaps: [Range<usize>; 2],
    noted: Rc<StackNotes>,
    /// Who has made the notes.
    makers: Vec<Maker>,
    /// How many notes the shadow has got.
    settled: u64,
    /// How many of all notes are of atomics.
    atomics: u64,
    /// A task has touched the stack of another one, in this execution or in one before: another is likely to do so, too, and nothing
    /// is noted.
    are_shared: bool,
}

/// Who makes the notes from one on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Maker {
    /// The first of the notes.
    from: usize,
    who: Who,
}

/// A task after so many events of its own and of the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Who {
    pub(super) task: TaskId,
    pub(super) epoch: u32,
    pub(super) event: u32,
    /// All that others have done happens before, and all later tasks know of what it does: nothing can race with it.
    pub(super) is_alone: bool,
}

impl Stacks {
    /// What tasks do on their own stacks is noted here.
    pub(super) fn notes(&self) -> &Rc<StackNotes> {
        &self.noted
    }

    /// Forgets the stacks of the last execution.
    pub(super) fn clear(&mut self) {
        self.all.clear();
        self.gaps = [0..0, 0..0];
        self.noted.close();
        self.noted.clear();
        self.makers.clear();
        (self.settled, self.atomics) = (0, 0);
    }

    /// This memory is the stack of a new task. Returns whether it was that of another task before.
    pub(super) fn begin(&mut self, stack: Range<usize>) -> bool {
        if self.all.iter().any(|other| other.start == stack.start) {
            let keep = |note: Note| if stack.contains(&note.address) { Note { size: 0, ..note } } else { note };
            self.noted.change(keep);
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
        self.noted.have_room()
    }

    /// Notes an access of a task to its own stack, for which there is room.
    #[inline(always)]
    pub(super) fn note(&mut self, (address, size, doing): (usize, usize, Doing), who: Who, code: usize) {
        if self.makers.last().is_none_or(|maker| maker.who != who) {
            debug_assert!(!self.noted.are_open(), "something has happened, so the notes are closed");
            self.makers.push(Maker { from: self.noted.len(), who });
        }
        self.atomics += u64::from(matches!(doing, Doing::AtomicRead | Doing::AtomicWrite));
        self.noted.push(Note { address, code, size: size as u32, doing: doing as u8 });
    }

    /// Until something happens, hooks note what the task that made the last note does on its stack.
    #[inline(always)]
    pub(super) fn let_hooks_note(&self) {
        self.noted.open();
    }

    /// How many loads and stores were noted.
    pub(super) fn accesses(&self) -> u64 {
        self.settled + self.noted.len() as u64 - self.atomics
    }

    /// The shadow gets all that was noted.
    #[cold]
    #[inline(never)]
    pub(super) fn settle(&mut self, shadow: &mut Shadow) {
        self.noted.close();
        self.settled += self.noted.len() as u64;
        let mut makers = self.makers.drain(..).peekable();
        let mut maker = None;
        for (at, Note { address, code, size, doing }) in self.noted.iter().enumerate() {
            while let Some(next) = makers.next_if(|next| next.from <= at) {
                maker = Some(next.who);
            }
            let Some(Who { task, epoch, event, is_alone: false }) = maker else { continue };
            if size == 0 {
                // The stack is that of another task now.
                continue;
            }
            let doing = [Doing::Read, Doing::Write, Doing::AtomicRead, Doing::AtomicWrite][usize::from(doing)];
            // No other task is known there, so it makes no difference what this one knew.
            let making = Making { task, epoch, doing, code, event, knows: &VectorClock::EMPTY };
            let found = shadow.access(address, size as usize, making);
            debug_assert_eq!(found, None, "no two tasks have met on a stack");
        }
        self.noted.clear();
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
