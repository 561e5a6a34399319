//! What the program does with plain memory, as the compiler and the allocator tell it.

use std::alloc::Layout;
use std::cell::RefMut;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;

use interloper_std::plain::{self, Access, Atomic, Code, Handed, KnownCode, StackNotes, Watcher};
use interloper_std::runtime::{Action, ObjectKind, Operation, Runtime, TaskId};

use super::core::Core;
use super::progress::Spin;
use super::state::{State, register};
use super::weak::Kept;
use crate::execution::Event;
use crate::plain::{Doing, Fault, Now, PlainStep, Site, Watch};

/// Watches the thread of an engine.
struct Watching<'a> {
    core: &'a Core,
    watch: Watch,
    /// The kinds of code that was met so far.
    known: &'a KnownCode,
}

impl Core {
    /// Runs the tasks of an execution; its plain memory is watched if the engine is to do so.
    #[inline(always)]
    pub(super) fn watching<R>(&self, drive: impl FnOnce() -> R) -> R {
        match self.config.plain {
            Some(watch) => {
                if let Some(reason) = plain::lacks_announcements() {
                    panic!("{reason}");
                }
                self.kept.borrow_mut().plain.begin(watch);
                let known = self.known.get_or_init(KnownCode::default);
                let watching = Watching { core: self, watch, known };
                self.notes.make_room();
                let noting = (known, &*self.notes);
                match watch.steps {
                    true => plain::watched(&Stepping(watching), noting, drive),
                    false => plain::watched(&watching, noting, drive),
                }
            }
            None => drive(),
        }
    }

    /// The fault that the execution ends with, if it has one. All its tasks have ended.
    pub(super) fn end_plain(&self, kept: &mut Kept, state: &State) -> Option<Fault> {
        let watch = self.config.plain?;
        let is_whole = state.end.is_none() && state.tasks[..state.live].iter().all(|task| task.done);
        if watch.leaks && is_whole {
            kept.plain.ended();
        }
        let mut fault = kept.plain.fault().cloned()?;
        place_atomics(&mut fault, &state.trace);
        Some(fault)
    }

    /// The stack of the running task, as far as it can be in use.
    pub(super) fn stack(&self) -> Range<usize> {
        self.floor.get()..self.base.get()
    }
}

/// Gives the accesses of a fault to atomics of the mirror the places of their steps: the mirror does not say which code asks.
fn place_atomics(fault: &mut Fault, trace: &[Event]) {
    for touch in fault.first.iter_mut().chain([&mut fault.second]) {
        let is_atomic = matches!(touch.doing, Some(Doing::AtomicRead | Doing::AtomicWrite));
        if is_atomic && touch.place.is_none() {
            let before = &trace[..(touch.event as usize).min(trace.len())];
            let step = before.iter().rfind(|event| event.task == touch.task);
            let accesses = |action| matches!(action, Action::Read | Action::Write | Action::ReadWrite);
            let step = step.filter(|event| accesses(event.operation.action));
            touch.place = step.map(|event| event.operation.location.into());
        }
    }
}

impl Watching<'_> {
    /// What is told, unless this is code of the engine itself, or the program is over, or has a fault.
    #[inline(always)]
    fn listen(&self) -> Option<Listening<'_>> {
        let listening = self.attend()?;
        listening.kept.plain.fault().is_none().then_some(listening)
    }

    /// What is told, unless this is code of the engine itself, or the program is over.
    #[inline(always)]
    fn attend(&self) -> Option<Listening<'_>> {
        let core = self.core;
        if !core.in_task.get() || core.choosing.get() {
            return None;
        }
        core.end_if_deep();
        // The engine borrows one of these while it works for the program.
        let (state, kept) = (core.state.try_borrow_mut().ok()?, core.kept.try_borrow_apart().ok()?);
        if state.aborting || kept.over {
            return None;
        }
        let now = Now { task: TaskId(state.current as u32), event: state.trace.len() as u32 };
        Some(Listening { state, kept, now, stack: core.stack(), notes: &core.notes })
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
    notes: &'a StackNotes,
}

impl Listening<'_> {
    #[inline(always)]
    fn end(mut self) {
        if self.kept.plain.fault().is_some() {
            // The program goes on to its next step, since code between steps cannot be unwound here.
            self.state.limit = 0;
            self.notes.close();
        }
    }
}

impl Watching<'_> {
    fn site<'a>(&'a self, stack: &'a Range<usize>) -> Site<'a> {
        Site { stack, locate: self.watch.locate, known: self.known }
    }

    #[inline(always)]
    fn access(&self, (address, size): (usize, usize), writes: bool, code: Code) {
        let core = self.core;
        if !core.in_task.get() || core.choosing.get() {
            return;
        }
        core.end_if_deep();
        // SAFETY: nothing below borrows the state before its last use, so that nobody changes it meanwhile.
        let (Ok(state), Ok(mut kept)) = (unsafe { core.state.try_borrow_unguarded() }, core.kept.try_borrow_apart())
        else {
            return;
        };
        let Kept { memory, plain, over, .. } = &mut *kept;
        if state.aborting || *over || plain.fault().is_some() {
            return;
        }
        let now = Now { task: TaskId(state.current as u32), event: state.trace.len() as u32 };
        let doing = if writes { Doing::Write } else { Doing::Read };
        if plain.access(memory, now, (address, size, doing), (code, self.site(&core.stack()))) {
            // The program goes on to its next step, as after `Listening::end`.
            core.state.borrow_mut().limit = 0;
            core.notes.close();
        }
    }
}

impl Watcher for Watching<'_> {
    extern "C" fn access(&self, address: usize, size: usize, writes: bool, code: usize, frame: usize) {
        Watching::access(self, (address, size), writes, Code { address: code, frame });
    }

    fn atomic(&self, atomic: Atomic) {
        self.core.notes.close();
        self.with(|Kept { memory, plain, .. }, now, stack| plain.access_foreign(memory, now, atomic, self.site(stack)));
    }

    fn fence(&self, order: Ordering, code: Code) {
        self.core.notes.close();
        self.with(|Kept { memory, plain, .. }, now, stack| {
            plain.fence(memory, now, (order, code), self.site(stack));
        });
    }

    fn allocated(&self, address: usize, layout: Layout, code: Code) {
        self.with(|kept, now, stack| kept.plain.allocated(now, (address, layout), (code, self.site(stack))));
    }

    fn handed_over(&self, address: usize, value: Handed) {
        self.with(|kept, _, _| kept.plain.handed_over(address, value));
    }

    fn freed(&self, address: usize, layout: Layout, code: Code) -> bool {
        let told = self.with(|Kept { memory, plain, .. }, now, stack| {
            plain.freed(memory, now, (address, layout), (code, self.site(stack)))
        });
        // After a fault, and while tasks are unwound, a block may be freed that is kept already.
        told.unwrap_or_else(|| {
            self.core.kept.try_borrow_apart().is_ok_and(|mut kept| kept.plain.keeps(address, layout))
        })
    }
}

/// Watches, and makes steps of loads and stores.
struct Stepping<'a>(Watching<'a>);

impl Stepping<'_> {
    /// Lets others come before what the running task does at once.
    fn step(&self, accesses: &[Access]) {
        let core = self.0.core;
        let Some(mut listening) = self.0.attend() else { return core.linger() };
        let Listening { state, kept, now, stack, .. } = &mut listening;
        let state = &mut **state;
        if state.tasks[state.current].call == Some(state.steps) {
            return;
        }
        // All that the program has on its stack is above.
        let top = std::ptr::from_ref(&core).addr();
        let trace = core.config.trace.then_some(&state.trace[..]);
        // The registry is apart from the trace, which is read meanwhile.
        let objects = &mut state.objects;
        let step = kept
            .plain
            .step((now.task, top, trace), accesses, self.0.site(stack), || register(objects, ObjectKind::PLAIN));
        let Some(step) = step else { return };
        drop(listening);
        core.step_of_plain(&step, accesses);
    }
}

impl Core {
    /// The running task makes a step of plain memory. Nothing unwinds out of here: the compiler takes loads and stores for
    /// operations that do not.
    fn step_of_plain(&self, step: &PlainStep, accesses: &[Access]) {
        let task = {
            let mut state = self.state.borrow_mut();
            let task = state.current;
            state.tasks[task].accesses = true;
            if step.is_new {
                // What it looks at here it has not seen, so it does not wait for that to change.
                state.tasks[task].spin = Spin::default();
            }
            task
        };
        let (object, action) = step.first;
        let made = catch_unwind(AssertUnwindSafe(|| {
            Runtime::step(self, Operation { object, action, location: step.place });
        }));
        let mut state = self.state.borrow_mut();
        state.tasks[task].accesses = false;
        if let Err(payload) = made {
            // Only the strategy panics there.
            self.strategy_panic.set(Some(payload));
            return self.abort(&mut state);
        }
        for &(object, action) in &step.others {
            state.dirty |= action == Action::Write;
            self.record_part(&mut state, task, object, action, step.place);
        }
        if let ([access], []) = (accesses, &step.others[..])
            && access.writes
            && access.size <= size_of::<u64>()
            && state.tasks[task].rounds.is_watched()
        {
            state.tasks[task].rounds.saw(there(*access));
        }
    }
}

/// What is in the memory that the program is about to write.
fn there(access: Access) -> u64 {
    let mut bytes = [0; size_of::<u64>()];
    let from = std::ptr::with_exposed_provenance::<MaybeUninit<u8>>(access.address);
    for (at, byte) in bytes.iter_mut().enumerate().take(access.size) {
        // SAFETY: the program writes this byte next, so it is mapped, and only this thread runs. What the byte is matters only
        // if something was written there, which the compiler cannot know here.
        *byte = unsafe { from.add(at).read_volatile().assume_init() };
    }
    u64::from_ne_bytes(bytes)
}

impl Watcher for Stepping<'_> {
    extern "C" fn access(&self, address: usize, size: usize, writes: bool, code: usize, frame: usize) {
        let code = Code { address: code, frame };
        self.step(&[Access { address, size, writes, code }]);
        self.0.access((address, size), writes, code);
    }

    fn copy(&self, from: Access, to: Access) {
        self.step(&[from, to]);
        self.0.copy(from, to);
    }

    fn call(&self, begins: bool) {
        if let Some(mut listening) = self.0.attend() {
            let state = &mut *listening.state;
            state.tasks[state.current].call = begins.then_some(state.steps);
        }
    }

    fn atomic(&self, atomic: Atomic) {
        self.0.atomic(atomic);
    }

    fn fence(&self, order: Ordering, code: Code) {
        self.0.fence(order, code);
    }

    fn allocated(&self, address: usize, layout: Layout, code: Code) {
        self.0.allocated(address, layout, code);
    }

    fn handed_over(&self, address: usize, value: Handed) {
        self.0.handed_over(address, value);
    }

    fn freed(&self, address: usize, layout: Layout, code: Code) -> bool {
        self.0.freed(address, layout, code)
    }
}
