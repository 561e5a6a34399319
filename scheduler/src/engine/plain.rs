//! What the program does with plain memory, as the compiler and the allocator tell it.

use std::alloc::Layout;
use std::cell::RefMut;
use std::ops::Range;
use std::sync::atomic::Ordering;

use interloper_std::plain::{self, Access, Atomic, Code, Unwanted, Watcher};
use interloper_std::runtime::TaskId;

use super::core::Core;
use super::state::State;
use super::weak::Kept;
use crate::plain::{Doing, Now, Watch};

/// Watches the thread of an engine.
struct Watching<'a> {
    core: &'a Core,
    watch: Watch,
    /// The code of the checker that was met so far.
    unwanted: &'a Unwanted,
}

impl Core {
    /// Runs the tasks of an execution; its plain memory is watched if the engine is to do so.
    pub(super) fn watching<R>(&self, drive: impl FnOnce() -> R) -> R {
        match self.config.plain {
            Some(watch) => {
                self.kept.borrow_mut().plain.begin(watch);
                let unwanted = self.unwanted.get_or_init(Unwanted::default);
                plain::watched(&Watching { core: self, watch, unwanted }, unwanted, drive)
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
    /// What is told, unless this is code of the engine itself, or the program is over.
    #[inline(always)]
    fn listen(&self) -> Option<Listening<'_>> {
        let core = self.core;
        if !core.in_task.get() || core.choosing.get() {
            return None;
        }
        // The engine borrows one of these while it works for the program.
        let (state, kept) = (core.state.try_borrow_mut().ok()?, core.kept.try_borrow_mut().ok()?);
        if state.aborting || kept.over || kept.plain.fault().is_some() {
            return None;
        }
        let now = Now { task: TaskId(state.current as u32), event: state.trace.len() as u32 };
        Some(Listening { state, kept, now, stack: core.stack() })
    }

    fn with<R>(&self, tell: impl FnOnce(&mut Kept, Now, &Range<usize>) -> R) -> Option<R> {
        let mut listening = self.listen()?;
        let told = tell(&mut listening.kept, listening.now, &listening.stack);
        listening.end();
        Some(told)
    }
}

/// The engine listens to what the running task does.
struct Listening<'a> {
    state: RefMut<'a, State>,
    kept: RefMut<'a, Kept>,
    now: Now,
    /// The stack of the task.
    stack: Range<usize>,
}

impl Listening<'_> {
    #[inline(always)]
    fn end(mut self) {
        if self.kept.plain.fault().is_some() {
            // The program goes on to its next step, since code between steps cannot be unwound here.
            self.state.limit = 0;
        }
    }
}

impl Watcher for Watching<'_> {
    fn access(&self, access: Access) {
        let doing = if access.writes { Doing::Write } else { Doing::Read };
        let Some(mut listening) = self.listen() else { return };
        let Listening { kept, now, stack, .. } = &mut listening;
        let Kept { memory, plain, .. } = &mut **kept;
        let what = (access.address, access.size, doing);
        let is_wanted = plain.access(memory, *now, what, (access.code, stack, self.watch.locate));
        listening.end();
        if !is_wanted {
            self.unwanted.add(access.code.address);
        }
    }

    fn atomic(&self, atomic: Atomic) {
        self.with(|Kept { memory, plain, .. }, now, stack| {
            plain.access_foreign(memory, now, atomic, (stack, self.watch.locate));
        });
    }

    fn fence(&self, order: Ordering, code: Code) {
        self.with(|Kept { memory, plain, .. }, now, stack| {
            plain.fence(memory, now, (order, code), (stack, self.watch.locate));
        });
    }

    fn allocated(&self, address: usize, layout: Layout, code: Code) {
        self.with(|kept, now, stack| kept.plain.allocated(now, (address, layout), (code, stack, self.watch.locate)));
    }

    fn handed_over(&self, address: usize) {
        self.with(|kept, _, _| kept.plain.handed_over(address));
    }

    fn freed(&self, address: usize, layout: Layout, code: Code) -> bool {
        let told = self.with(|Kept { memory, plain, .. }, now, stack| {
            plain.freed(memory, now, (address, layout), (code, stack, self.watch.locate))
        });
        // After a fault, and while tasks are unwound, a block may be freed that is kept already.
        told.unwrap_or_else(|| self.core.kept.try_borrow_mut().is_ok_and(|mut kept| kept.plain.keeps(address, layout)))
    }
}
