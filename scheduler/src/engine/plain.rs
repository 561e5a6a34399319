//! What the program does with plain memory, as the compiler and the allocator tell it.

use std::alloc::Layout;
use std::ops::Range;
use std::sync::atomic::Ordering;

use interloper_std::plain::{self, Access, Atomic, Code, Watcher};
use interloper_std::runtime::TaskId;

use super::core::Core;
use super::state::State;
use super::weak::Kept;
use crate::plain::{Doing, Now, Watch};

/// Watches the thread of an engine.
struct Watching<'a>(&'a Core, Watch);

impl Core {
    /// Runs the tasks of an execution; its plain memory is watched if the engine is to do so.
    pub(super) fn watching<R>(&self, drive: impl FnOnce() -> R) -> R {
        match self.config.plain {
            Some(watch) => {
                self.kept.borrow_mut().plain.begin(watch);
                plain::watched(&Watching(self, watch), drive)
            }
            None => drive(),
        }
    }

    /// The fault that the execution ends with, if it has one. All its tasks have ended.
    pub(super) fn end_plain(&self, kept: &mut Kept, state: &State) -> Option<crate::plain::Fault> {
        let watch = self.config.plain?;
        let is_whole = state.end.is_none() && state.tasks[..state.live].iter().all(|task| task.done);
        if watch.leaks && is_whole {
            kept.plain.ended();
        }
        kept.plain.fault().cloned()
    }

    /// The stack of the running task, as far as it can be in use.
    fn stack(&self) -> Range<usize> {
        let floor = self.floor.get();
        floor..floor + self.config.stack_size
    }
}

impl Watching<'_> {
    /// Calls `tell` unless this is code of the engine itself, or the program is over.
    #[inline]
    fn with<R>(&self, tell: impl FnOnce(&mut Kept, Now, &Range<usize>) -> R) -> Option<R> {
        let Watching(core, _) = self;
        if !core.in_task.get() || core.choosing.get() {
            return None;
        }
        // The engine borrows one of these while it works for the program.
        let (mut state, mut kept) = (core.state.try_borrow_mut().ok()?, core.kept.try_borrow_mut().ok()?);
        if state.aborting || kept.over || kept.plain.fault().is_some() {
            return None;
        }
        let now = Now { task: TaskId(state.current as u32), event: state.trace.len() as u32 };
        let told = tell(&mut kept, now, &core.stack());
        if kept.plain.fault().is_some() {
            // The program goes on to its next step, since code between steps cannot be unwound here.
            state.limit = 0;
        }
        Some(told)
    }
}

impl Watcher for Watching<'_> {
    fn access(&self, access: Access) {
        let doing = if access.writes { Doing::Write } else { Doing::Read };
        self.with(|Kept { memory, plain, .. }, now, stack| {
            plain.access(memory, now, (access.address, access.size, doing), (access.code, stack, self.1.locate));
        });
    }

    fn atomic(&self, atomic: Atomic) {
        self.with(|Kept { memory, plain, .. }, now, stack| {
            plain.access_foreign(memory, now, atomic, (stack, self.1.locate));
        });
    }

    fn fence(&self, order: Ordering, code: Code) {
        self.with(|Kept { memory, plain, .. }, now, stack| {
            plain.fence(memory, now, (order, code), (stack, self.1.locate));
        });
    }

    fn allocated(&self, address: usize, layout: Layout, code: Code) {
        self.with(|kept, now, stack| kept.plain.allocated(now, (address, layout), (code, stack, self.1.locate)));
    }

    fn handed_over(&self, address: usize) {
        self.with(|kept, _, _| kept.plain.handed_over(address));
    }

    fn freed(&self, address: usize, layout: Layout, code: Code) -> bool {
        let told = self.with(|Kept { memory, plain, .. }, now, stack| {
            plain.freed(memory, now, (address, layout), (code, stack, self.1.locate))
        });
        // After a fault, and while tasks are unwound, a block may be freed that is kept already.
        told.unwrap_or_else(|| self.0.kept.try_borrow_mut().is_ok_and(|mut kept| kept.plain.keeps(address, layout)))
    }
}
