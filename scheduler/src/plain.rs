//! Plain memory: data races, and memory that is used after it was freed.
//!
//! What tasks know of each other comes from the [model of memory](crate::memory): two accesses of different tasks that
//! conflict are a race unless one happens before the other, whatever came of them in this execution.

mod blocks;
mod cells;
mod codes;
mod places;
mod privately;
mod shadow;
mod stacks;

use std::alloc::Layout;
use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::rc::Rc;
use std::sync::atomic::Ordering;

use interloper_std::plain::{self, Atomic, Code, Handed, StackNotes, Whose};
use interloper_std::runtime::{Action, ObjectId, Place, Statics, TaskId};
use rustc_hash::FxBuildHasher;

use self::blocks::{Block, Blocks, Misfreed, Moment, Owner};
use self::cells::{Accessed, Cells};
use self::codes::Codes;

use self::privately::Privately;
use self::shadow::{Making, Record, Shadow};
use self::stacks::{Stacks, Who};
use crate::execution::{Event, SourcePlace};
use crate::memory::Memory;
use crate::vector_clock::VectorClock;

pub(crate) use self::codes::Site;
pub use self::codes::{Locate, Located};
pub use self::shadow::Doing;

/// Whether and how an engine looks at plain memory.
#[derive(Clone, Copy, Debug)]
pub struct Watch {
    /// Says whose code is at an address. Without it no place is known, and all code counts as the program's.
    pub locate: Option<Locate>,
    /// Whether data races are faults. Otherwise only what happens after memory was freed is one.
    pub races: bool,
    /// Whether memory that an execution allocates and does not free is a fault. With `locate`, only blocks count that are
    /// known to be allocated by code of the program. Blocks that a static leads to do not count.
    pub leaks: bool,
    /// Whether loads and stores are steps, at which other tasks can come between, unless no other task can have reached the
    /// memory.
    pub steps: bool,
}

impl PartialEq for Watch {
    fn eq(&self, other: &Watch) -> bool {
        let same = match (self.locate, other.locate) {
            (Some(one), Some(other)) => std::ptr::fn_addr_eq(one, other),
            (one, other) => one.is_none() && other.is_none(),
        };
        same && (self.races, self.leaks, self.steps) == (other.races, other.leaks, other.steps)
    }
}

impl Default for Watch {
    /// Reports races, ignores leaks, knows no places, and makes no steps.
    fn default() -> Watch {
        Watch { locate: None, races: true, leaks: false, steps: false }
    }
}

/// What is wrong with the way in which an execution used plain memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What it is.
    pub kind: FaultKind,
    /// What came first: an access, a free.
    pub first: Option<Touch>,
    /// What came next; for a leak, the allocation.
    pub second: Touch,
    /// The block of memory, if it is one that the execution allocated.
    pub block: Option<Allocation>,
}

impl Fault {
    /// The tasks that take part in it.
    pub fn tasks(&self) -> impl Iterator<Item = TaskId> {
        self.first.iter().chain([&self.second]).map(|touch| touch.task)
    }
}

/// The kinds of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// Two accesses, of which one writes and one is not atomic, and neither happens before the other.
    Race,
    /// An access to memory that was freed before.
    UseAfterFree,
    /// A block was freed twice.
    DoubleFree,
    /// A block was freed with another size or alignment than it was allocated with.
    OtherLayout,
    /// So many blocks of memory were never freed; the fault shows the first.
    Leak(usize),
}

/// An access to memory, or what allocates or frees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touch {
    /// The task.
    pub task: TaskId,
    /// What it did. None if it allocated.
    pub doing: Option<Doing>,
    /// Where, if that is known.
    pub place: Option<SourcePlace>,
    /// How many events the trace had: the touch belongs to the task's last step among them.
    pub event: u32,
}

/// An allocation. Two are equal that differ in [`offset`](Allocation::offset) alone.
#[derive(Clone, Debug)]
pub struct Allocation {
    /// Its size, in bytes.
    pub size: usize,
    /// How far from its start the fault is, in bytes. The address of the block may decide on it: a program that aligns what it
    /// keeps in a block begins at another byte of it in another execution.
    pub offset: usize,
    /// What it holds, if the checker has allocated it for that.
    pub holds: Option<Handed>,
    /// Who made it. None if it is older than the execution.
    pub made: Option<Touch>,
}

impl PartialEq for Allocation {
    fn eq(&self, other: &Allocation) -> bool {
        let Allocation { size, offset: _, holds, made } = self;
        (size, holds, made) == (&other.size, &other.holds, &other.made)
    }
}

impl Eq for Allocation {}

impl FaultKind {
    /// In a few words, without numbers.
    pub fn name(self) -> &'static str {
        match self {
            FaultKind::Race => "data race",
            FaultKind::UseAfterFree => "use of freed memory",
            FaultKind::DoubleFree => "memory freed twice",
            FaultKind::OtherLayout => "memory freed with another layout",
            FaultKind::Leak(_) => "memory never freed",
        }
    }
}

impl fmt::Display for FaultKind {
    /// In a few words.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FaultKind::Leak(blocks) if *blocks != 1 => write!(f, "{blocks} blocks of memory never freed"),
            kind => f.write_str(kind.name()),
        }
    }
}

/// Who does something now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Now {
    pub(crate) task: TaskId,
    /// How many events the trace has.
    pub(crate) event: u32,
}

/// The plain memory of an execution.
#[derive(Debug, Default)]
pub(crate) struct Plain {
    shadow: Shadow,
    blocks: Blocks,
    /// What happens before whoever acquires an atomic that no mirror replaces, by its address.
    released: HashMap<usize, VectorClock, FxBuildHasher>,
    codes: Codes,
    judges_races: bool,
    /// Each access is a step, and none is noted by the hooks alone.
    steps_at_each: bool,
    stacks: Stacks,
    /// The first fault of the execution.
    fault: Option<Fault>,
    /// How many accesses of the program were looked at, but for those that were noted.
    accesses: u64,
    /// How many of them, or copies, were steps.
    steps: u64,
    cells: Cells,
    privately: Privately,
    /// The places of accesses that were steps, by the addresses of their code.
    places: HashMap<usize, Place, FxBuildHasher>,
}

/// A step of plain memory: each object with what is done there, and the place.
#[derive(Debug)]
pub(crate) struct PlainStep {
    pub(crate) first: (ObjectId, Action),
    pub(crate) others: Vec<(ObjectId, Action)>,
    pub(crate) place: Place,
    /// One of the objects is new: the step is no look at what was looked at before.
    pub(crate) is_new: bool,
}

impl Plain {
    /// What tasks do on their own stacks is noted here.
    pub(crate) fn notes(&self) -> &Rc<StackNotes> {
        self.stacks.notes()
    }

    /// Forgets the last execution.
    pub(crate) fn begin(&mut self, watch: Watch) {
        (self.judges_races, self.steps_at_each) = (watch.races, watch.steps);
        self.stacks.clear();
        self.shadow.clear();
        self.blocks.clear();
        self.released.clear();
        self.fault = None;
        (self.accesses, self.steps) = (0, 0);
        self.cells.clear();
        self.privately.clear();
    }

    /// The first fault of the execution.
    pub(crate) fn fault(&self) -> Option<&Fault> {
        self.fault.as_ref()
    }

    pub(crate) fn accesses(&self) -> u64 {
        self.accesses + self.stacks.accesses()
    }

    pub(crate) fn steps(&self) -> u64 {
        self.steps
    }

    /// This memory is the stack of a new task.
    pub(crate) fn begin_stack(&mut self, start: usize, length: usize) {
        self.cells.forget(start, length);
        if self.stacks.begin(start..start + length) {
            self.shadow.forget(start, length);
        }
    }

    /// The step that accesses at once are, unless the checker makes them, or no other task can have reached any of the memory.
    /// The stack of the task is in use down to `top`. Without a trace, all memory counts as reached. `register` makes a new object.
    pub(crate) fn step(
        &mut self,
        (task, top, trace): (TaskId, usize, Option<&[Event]>),
        accesses: &[plain::Access],
        site: Site<'_>,
        mut register: impl FnMut() -> ObjectId,
    ) -> Option<PlainStep> {
        let Whose::Program(at) = self.codes.whose(accesses.first()?.code, site) else { return None };
        trace.into_iter().for_each(|trace| self.privately.follow(trace));
        let mut step: Option<PlainStep> = None;
        for access in accesses {
            if self.is_out_of_reach((task, top), access.address, (site.stack, trace.is_some())) {
                continue;
            }
            let mut is_new = false;
            let Accessed { first, others } = self.cells.accessed(access.address, access.size, || {
                is_new = true;
                register()
            });
            let action = if access.writes { Action::Write } else { Action::Read };
            let step = match &mut step {
                Some(step) => {
                    step.others.push((first, action));
                    step
                }
                None => step.insert(PlainStep {
                    first: (first, action),
                    others: Vec::new(),
                    place: self.place_of_step(at),
                    is_new: false,
                }),
            };
            step.others.extend(others.into_iter().map(|other| (other, action)));
            step.is_new |= is_new;
        }
        self.steps += u64::from(step.is_some());
        step
    }

    /// Whether no other task can have reached the memory at an address, or the checker has it for itself.
    fn is_out_of_reach(
        &mut self,
        (task, top): (TaskId, usize),
        address: usize,
        (stack, follows): (&Range<usize>, bool),
    ) -> bool {
        if stack.contains(&address) {
            return follows && self.privately.has_on_stack(task, address, top);
        }
        match self.blocks.find(address) {
            Some(block) if block.owner == Owner::Checker => true,
            Some(Block { allocated: Some(moment), .. }) => follows && self.privately.has_block(task, *moment),
            _ => false,
        }
    }

    fn place_of_step(&mut self, code: usize) -> Place {
        let codes = &self.codes;
        self.places.entry(code).or_insert_with(|| places::place(codes.place(code).as_ref()))
    }

    /// An access by code of the program, or of the checker. Whether the execution has a fault now.
    #[must_use]
    #[inline(always)]
    pub(crate) fn access(
        &mut self,
        memory: &Memory,
        now: Now,
        what: (usize, usize, Doing),
        (code, site): (Code, Site<'_>),
    ) -> bool {
        let Whose::Program(at) = self.codes.whose(code, site) else { return false };
        let (address, size, _) = what;
        if self.stacks.is_own(site.stack, address, size) {
            self.note_on_stack(memory, now, what, at);
            if !self.steps_at_each {
                self.stacks.let_hooks_note();
            }
            return false;
        }
        self.accesses += 1;
        self.touched(memory, now, what, (at, site.stack))
    }

    /// Notes an access of a task to its own stack.
    #[inline(always)]
    fn note_on_stack(&mut self, memory: &Memory, now: Now, what: (usize, usize, Doing), at: usize) {
        if !self.stacks.have_room() {
            self.stacks.settle(&mut self.shadow);
        }
        let Now { task, event } = now;
        let who = Who { task, epoch: memory.epoch(task), event, is_alone: memory.is_alone() };
        self.stacks.note(what, who, at);
    }

    /// An access to an atomic of the mirror, by a task with this stack. Whether the execution has a fault now.
    #[must_use]
    pub(crate) fn access_atomic(
        &mut self,
        memory: &Memory,
        now: Now,
        extent: Range<usize>,
        doing: Doing,
        stack: &Range<usize>,
    ) -> bool {
        self.touched(memory, now, (extent.start, extent.len(), doing), (0, stack))
    }

    /// An operation on an atomic that no mirror replaces, by code of the program or of the checker. It reads what is there.
    pub(crate) fn access_foreign(&mut self, memory: &mut Memory, now: Now, atomic: Atomic, site: Site<'_>) {
        let Whose::Program(at) = self.codes.whose(atomic.code, site) else { return };
        if atomic.writes {
            self.privately.told_between(now.task, now.event);
        }
        let doing = if atomic.writes { Doing::AtomicWrite } else { Doing::AtomicRead };
        // The watcher asks for faults itself.
        let _ = self.touched(memory, now, (atomic.address, atomic.size, doing), (at, site.stack));
        let released = self.released.entry(atomic.address).or_default();
        memory.at_newest(now.task, released, (atomic.reads, atomic.writes), atomic.order);
    }

    /// A fence that no mirror replaces.
    pub(crate) fn fence(&mut self, memory: &mut Memory, now: Now, (order, code): (Ordering, Code), site: Site<'_>) {
        if let Whose::Program(_) = self.codes.whose(code, site) {
            memory.fence(now.task, order);
        }
    }

    #[inline(always)]
    fn touched(
        &mut self,
        memory: &Memory,
        now: Now,
        (address, size, doing): (usize, usize, Doing),
        (at, stack): (usize, &Range<usize>),
    ) -> bool {
        if self.stacks.is_own(stack, address, size) {
            self.note_on_stack(memory, now, (address, size, doing), at);
            return false;
        }
        let may_be_freed = self.blocks.may_be_freed(address);
        if !may_be_freed && memory.is_alone() {
            // It happens after all that others have done, and before all that they will do, so nothing can race with it.
            return false;
        }
        let (epoch, knows) = (memory.epoch(now.task), memory.knows(now.task));
        let making = Making { task: now.task, epoch, doing, code: at, event: now.event, knows };
        let is_clear = self.stacks.are_clear_of(address, size);
        if is_clear && self.shadow.access_quickly(address, size, making, !may_be_freed) {
            return false;
        }
        self.touched_slowly((address, size), &making, is_clear)
    }

    /// The rest of [`Plain::touched`]. `is_clear`: see [`Stacks::are_clear_of`].
    #[inline(never)]
    fn touched_slowly(&mut self, (address, size): (usize, usize), making: &Making<'_>, is_clear: bool) -> bool {
        let Making { task, doing, code, event, .. } = *making;
        if !is_clear && self.stacks.have(address, size) {
            self.stacks.share(&mut self.shadow);
        }
        let now = Now { task, event };
        if self.blocks.may_be_freed(address)
            && !self.shadow.is_touched(address)
            && let Some(block) = self.blocks.find(address).copied()
            && let Some(freed) = block.freed
        {
            let (first, second) = (self.freed_touch(freed), self.touch(now, Some(doing), code));
            self.blame(FaultKind::UseAfterFree, Some(first), second, Some((block, address)));
        } else if let Some(record) = self.shadow.access(address, size, *making) {
            self.found(now, record, (address, doing, code));
        }
        self.fault.is_some()
    }

    /// An earlier access conflicts with the present one.
    #[cold]
    fn found(&mut self, now: Now, record: Record, (address, doing, at): (usize, Doing, usize)) {
        let block = self.blocks.find(address).copied();
        // What the mirror keeps for itself, the program's code can still drop.
        if block.is_some_and(|block| block.owner == Owner::Checker) {
            return;
        }
        let first = self.touch(Now { task: record.task, event: record.event }, Some(record.doing), record.code);
        let second = self.touch(now, Some(doing), at);
        let place = block.map(|block| (block, address));
        if record.doing == Doing::Free && doing != Doing::Free {
            self.blame(FaultKind::UseAfterFree, Some(first), second, place);
            return;
        }
        if self.judges_races && !plain::gives_own_memory() {
            self.blame(FaultKind::Race, Some(first), second, place);
        }
    }

    /// The program has allocated a block.
    pub(crate) fn allocated(&mut self, now: Now, (start, layout): (usize, Layout), (code, site): (Code, Site<'_>)) {
        let (code, owner) = match self.codes.whose(code, site) {
            // Code that nothing is known of was not prepared.
            Whose::Program(0) if site.locate.is_some() && plain::is_announced() => (0, Owner::Checker),
            Whose::Program(code) => (code, Owner::Program),
            Whose::Checker => (0, Owner::Checker),
        };
        self.shadow.forget(start, layout.size());
        self.cells.forget(start, layout.size());
        self.blocks.allocated(start, layout, Moment { task: now.task, event: now.event, code }, owner);
    }

    /// The block around the value at this address is the program's, though the checker has allocated it.
    pub(crate) fn handed_over(&mut self, address: usize, value: Handed) {
        self.blocks.hand_over(address, value);
    }

    /// The program frees a block. Whether the block is kept.
    pub(crate) fn freed(
        &mut self,
        memory: &mut Memory,
        now: Now,
        (start, layout): (usize, Layout),
        (code, site): (Code, Site<'_>),
    ) -> bool {
        let code = match self.codes.whose(code, site) {
            Whose::Program(code) => code,
            Whose::Checker => 0,
        };
        let (kept, wrong) = self.blocks.freed(start, layout, Moment { task: now.task, event: now.event, code });
        let touch = self.touch(now, Some(Doing::Free), code);
        match wrong {
            Some(Misfreed::Twice(block)) => {
                let first = block.freed.map(|freed| self.freed_touch(freed));
                self.blame(FaultKind::DoubleFree, first, touch, Some((block, start)));
                return kept;
            }
            Some(Misfreed::OtherLayout(block)) => {
                self.blame(FaultKind::OtherLayout, None, touch, Some((block, start)));
            }
            None => {}
        }
        let epoch = memory.epoch(now.task);
        let knows = memory.knows(now.task);
        let making = Making { task: now.task, epoch, doing: Doing::Free, code, event: now.event, knows };
        let races = self.shadow.free(start, layout.size(), making);
        if let Some(record) = races.first().copied() {
            self.found(now, record, (start, Doing::Free, code));
        }
        kept
    }

    /// A block is freed while nobody looks at faults any more. Whether it is kept, or was kept before.
    pub(crate) fn keeps(&mut self, start: usize, layout: Layout) -> bool {
        self.blocks.freed(start, layout, Moment { task: TaskId::MAIN, event: 0, code: 0 }).0
    }

    /// The execution has come to its end, and nothing of it is left.
    pub(crate) fn ended(&mut self) {
        // What a static owns at the end is in use: a real program ends there.
        let left = self.blocks.left(Statics::pointers_into);
        if let Some(block) = left.first()
            && let Some(made) = block.allocated
        {
            let touch = self.touch(Now { task: made.task, event: made.event }, None, made.code);
            self.blame(FaultKind::Leak(left.len()), None, touch, Some((*block, block.start)));
        }
    }

    fn touch(&self, now: Now, doing: Option<Doing>, code: usize) -> Touch {
        Touch { task: now.task, doing, place: self.codes.place(code), event: now.event }
    }

    fn freed_touch(&self, freed: Moment) -> Touch {
        self.touch(Now { task: freed.task, event: freed.event }, Some(Doing::Free), freed.code)
    }

    /// Only the first fault counts: what comes after it can be its consequence.
    fn blame(&mut self, kind: FaultKind, first: Option<Touch>, second: Touch, at: Option<(Block, usize)>) {
        if self.fault.is_some() {
            return;
        }
        let block = at.map(|(block, address)| {
            let made = |made: Moment| self.touch(Now { task: made.task, event: made.event }, None, made.code);
            let size = block.layout.size();
            let (holds, size, before) = match block.owner {
                Owner::Handed(Handed::Local(size), before) => (Some(Handed::Local(size)), size, before),
                Owner::Handed(value, _) => (Some(value), size, 0),
                Owner::Program | Owner::Checker => (None, size, 0),
            };
            let offset = (address - block.start).saturating_sub(before);
            Allocation { holds, size, offset, made: block.allocated.map(made) }
        });
        self.fault = Some(Fault { kind, first, second, block });
    }
}
