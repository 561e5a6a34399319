//! The runtime of an execution whose memory is weak: it keeps the [`Memory`] beside the engine.
//!
//! An execution whose memory is sequentially consistent has [`Core`] alone for its runtime, so it pays nothing for this,
//! unless the engine looks at plain memory.
//!
//! What happens before what follows from what tasks do to objects. Taking a lock acquires what those released who could not
//! hold it beside; the same goes for the steps of channels, once cells, barriers and collections, where a step that reads
//! counts as a shared holder and one that writes as an exclusive one. Spawning, joining and unparking release and acquire
//! as std documents. Notifying does not: the lock of the waiter does. Where a mirror's original orders a wake-up before the
//! return of the wait, the mirror says so: [`Runtime::hand_over`].

mod access;
mod places;

use std::any::Any;
use std::ops::Range;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use interloper_std::runtime::{
    Accessed, Action, Addresses, Count, Effect, ExecutionId, Exit, Local, Mode, Need, NewTask, ObjectId, ObjectKind,
    Operation, Place, Runtime, Suspension, TaskId, Told, Wakes, Woken,
};

use super::core::Core;
use super::known::Known;
use super::stale::StaleLooks;
use super::state::State;
use crate::execution::Older;
use crate::freedoms::Freedom;
use crate::memory::{Memory, Places};
use crate::orderings::{Orderings, Sites};
use crate::plain::Plain;
use crate::vector_clock::VectorClock;

/// The runtime of an execution whose memory is weak.
pub(super) struct Weak<'a>(pub(super) &'a Core);

/// What such an execution keeps.
#[derive(Default)]
pub(super) struct Kept {
    pub(super) memory: Memory,
    pub(super) plain: Plain,
    /// The main task has ended: what is dropped after that is dropped in no order.
    pub(super) over: bool,
    /// What was released to other objects.
    released: Vec<Released>,
    /// The places that an access may take.
    places: Places,
    /// What tasks saw that was stale.
    pub(super) stale: StaleLooks,
    /// The accesses that took a place which was not the newest.
    pub(super) older: Vec<Older>,
    /// All accesses: the event of each, and of the store that it read or follows.
    pub(super) accesses: Vec<(u32, Option<u32>)>,
    /// How many there were of both in the execution before, whose result took the memory of both.
    pub(super) before: (usize, usize),
    /// Others could have done so, had the execution been free to do so more often.
    pub(super) older_left: bool,
    /// The orderings that were met, in this execution and in those before.
    pub(super) sites: Sites,
    /// What the events know, if this is told.
    pub(super) known: Known,
}

/// What happens before whoever acquires an object.
#[derive(Default)]
struct Released {
    /// By those that held it alone: before all.
    alone: VectorClock,
    /// By those that held it with others: before those that hold it alone.
    shared: VectorClock,
}

impl Kept {
    pub(super) fn new(orderings: Orderings) -> Kept {
        Kept { sites: Sites::new(orderings), ..Kept::default() }
    }

    /// An execution begins, with its main task.
    pub(super) fn begin(&mut self, sequential: bool) {
        self.memory.restart(sequential);
        self.sites.begin();
        self.known.restart();
        self.released.clear();
        self.stale.clear();
        self.forget_accesses();
        self.memory.begin_task(None);
        self.over = false;
    }

    /// The execution that begins has made no access.
    fn forget_accesses(&mut self) {
        self.older.clear();
        self.older.reserve(self.before.0);
        self.accesses.clear();
        self.accesses.reserve(self.before.1);
        self.older_left = false;
    }

    pub(super) fn end_task(&mut self, task: TaskId) {
        self.over |= task == TaskId::MAIN;
        self.memory.end_task(task);
    }

    fn released(&mut self, object: ObjectId) -> (&mut Memory, &mut Released) {
        if self.released.len() <= object.index() {
            self.released.resize_with(object.index() + 1, Released::default);
        }
        (&mut self.memory, &mut self.released[object.index()])
    }

    /// The task holds the object in this mode from now on.
    pub(super) fn acquire(&mut self, task: TaskId, object: ObjectId, mode: Mode) {
        let (memory, released) = self.released(object);
        memory.acquire(task, &released.alone);
        if mode == Mode::Exclusive {
            memory.acquire(task, &released.shared);
        }
    }

    /// The task holds the object in this mode no more.
    pub(super) fn release(&mut self, task: TaskId, object: ObjectId, mode: Mode) {
        let (memory, released) = self.released(object);
        memory.release(task, if mode == Mode::Exclusive { &mut released.alone } else { &mut released.shared });
    }

    /// The task waits for a change.
    pub(super) fn waits(&mut self, task: TaskId) {
        self.stale.waits(task);
    }
}

impl Core {
    /// The runtime of the execution.
    #[inline(always)]
    pub(super) fn with_runtime<R>(&self, use_it: impl FnOnce(&dyn Runtime) -> R) -> R {
        if self.weak.get() { use_it(&Weak(self)) } else { use_it(self) }
    }

    /// Whether the memory of the execution that begins is weak follows from its freedoms.
    pub(super) fn begin_memory(&self, state: &State) {
        let weak = state.granted.count(Freedom::Memory) > 0 || self.config.plain.is_some() || self.tells_order.get();
        self.weak.set(weak);
        self.addresses.weaken(weak);
        self.addresses.shorten(self.config.plain.is_none() && !self.kept.borrow().sites.is_active());
        let mut kept = self.kept.borrow_mut();
        if weak {
            kept.begin(state.granted.count(Freedom::Memory) == 0);
        } else {
            kept.forget_accesses();
        }
    }

    /// The next event of the trace is one of this task, in an execution that tells what happens before what.
    #[cold]
    #[inline(never)]
    pub(super) fn note_event(&self, task: TaskId) {
        let Kept { memory, known, .. } = &mut *self.kept.borrow_mut();
        known.begin(memory, task);
    }

    /// The running task acquires or releases an object, if memory is weak.
    pub(super) fn synchronise(&self, act: impl FnOnce(&mut Kept)) {
        if self.weak.get() {
            act(&mut self.kept.borrow_mut());
        }
    }
}

impl Weak<'_> {
    fn current(&self) -> TaskId {
        self.0.task()
    }

    fn acquired(&self, object: ObjectId, mode: Mode) {
        self.0.kept.borrow_mut().acquire(self.current(), object, mode);
    }

    fn releases(&self, object: ObjectId, mode: Mode) {
        self.0.kept.borrow_mut().release(self.current(), object, mode);
    }

    /// The same as the beginning of a step which has no event yet.
    fn releases_before(&self, object: ObjectId, mode: Mode) {
        if self.0.tells_order.get() {
            let Kept { memory, known, .. } = &mut *self.0.kept.borrow_mut();
            known.end(memory, self.current());
        }
        self.releases(object, mode);
    }

    /// The running task has held the object in this mode for a moment.
    fn passed(&self, object: ObjectId, mode: Mode) {
        self.acquired(object, mode);
        self.releases(object, mode);
    }

    /// The running task has made a step, of which the action says what it acquires and releases.
    fn stepped(&self, operation: Operation) {
        let kind = self.0.state.borrow().objects[operation.object.index()].kind;
        if matches!(kind, ObjectKind::Atomic | ObjectKind::Task) {
            return;
        }
        match operation.action {
            Action::Read | Action::Inspect(..) => self.passed(operation.object, Mode::Shared),
            Action::Write | Action::ReadWrite | Action::Invoke(..) => self.passed(operation.object, Mode::Exclusive),
            _ => {}
        }
    }
}

impl Runtime for Weak<'_> {
    fn step(&self, operation: Operation) {
        self.0.step(operation);
        self.stepped(operation);
    }

    #[inline]
    fn step_of_atomic(&self, operation: Operation) {
        self.0.step(operation);
    }

    fn access(
        &self,
        at: (ObjectId, Place),
        (extent, newest): (Range<usize>, u64),
        effect: Effect<'_>,
        orders: (Ordering, Ordering),
    ) -> Accessed {
        self.0.access(at, (extent, newest), effect, orders)
    }

    fn load(&self, at: (ObjectId, Place), newest: u64, order: Ordering) -> u64 {
        self.0.usual_access(at, newest, Effect::Load, order).found
    }

    fn store(&self, at: (ObjectId, Place), (newest, value): (u64, u64), order: Ordering) -> bool {
        self.0.usual_access(at, newest, Effect::Store(value), order).newest.is_some()
    }

    fn fence(&self, order: Ordering, location: Place) {
        let mut state = self.0.state.borrow_mut();
        if !state.aborting {
            let task = state.current;
            let object = state.tasks[task].object;
            self.0.record_part(&mut state, task, object, Action::Fence, location);
            let mut kept = self.0.kept.borrow_mut();
            let order = kept.sites.fence(location, order);
            if order != Ordering::Relaxed {
                kept.memory.fence(TaskId(task as u32), order);
            }
        }
    }

    fn step_when_free(&self, operation: Operation, needs: &[Need]) {
        self.0.step_when_free(operation, needs);
        needs.iter().for_each(|need| self.passed(need.lock, need.mode));
        self.stepped(operation);
    }

    fn step_and_look(&self, operation: Operation, need: Need) -> bool {
        let free = self.0.step_and_look(operation, need);
        if free {
            self.passed(need.lock, need.mode);
        }
        self.stepped(operation);
        free
    }

    fn keep(&self, lock: ObjectId, mode: Mode, location: Place) {
        self.0.keep(lock, mode, location);
        self.acquired(lock, mode);
    }

    fn free(&self, lock: ObjectId, mode: Mode, location: Place) {
        self.releases_before(lock, mode);
        self.0.free(lock, mode, location);
    }

    fn acquire(&self, lock: ObjectId, mode: Mode, location: Place) {
        self.0.acquire(lock, mode, location);
        self.acquired(lock, mode);
    }

    fn acquire_recursive(&self, lock: ObjectId, location: Place) {
        self.0.acquire_recursive(lock, location);
        self.acquired(lock, Mode::Shared);
    }

    fn try_acquire(&self, lock: ObjectId, mode: Mode, location: Place) -> bool {
        let taken = self.0.try_acquire(lock, mode, location);
        if taken {
            self.acquired(lock, mode);
        }
        taken
    }

    fn try_acquire_recursive(&self, lock: ObjectId, location: Place) -> bool {
        let taken = self.0.try_acquire_recursive(lock, location);
        if taken {
            self.acquired(lock, Mode::Shared);
        }
        taken
    }

    fn release(&self, lock: ObjectId, mode: Mode, location: Place) {
        // Nobody who could acquire it takes the lock before it is given back.
        self.releases_before(lock, mode);
        self.0.release(lock, mode, location);
    }

    fn convert(&self, lock: ObjectId, from: Mode, to: Mode, location: Place) {
        self.releases_before(lock, from);
        self.0.convert(lock, from, to, location);
        self.acquired(lock, to);
    }

    fn try_convert(&self, lock: ObjectId, from: Mode, to: Mode, location: Place) -> bool {
        let converted = self.0.try_convert(lock, from, to, location);
        if converted {
            self.releases(lock, from);
            self.acquired(lock, to);
        }
        converted
    }

    fn hold(&self, lock: ObjectId, mode: Mode, location: Place) {
        self.0.hold(lock, mode, location);
        self.acquired(lock, mode);
    }

    fn let_go(&self, lock: ObjectId, mode: Mode) {
        self.releases_before(lock, mode);
        self.0.let_go(lock, mode);
    }

    fn wait(
        &self,
        queue: ObjectId,
        (lock, mode): (ObjectId, Mode),
        timeout: Option<Duration>,
        wakes: Wakes,
        location: Place,
    ) -> Woken {
        self.releases_before(lock, mode);
        let woken = self.0.wait(queue, (lock, mode), timeout, wakes, location);
        self.acquired(lock, mode);
        woken
    }

    fn block(&self, queue: ObjectId, timeout: Option<Duration>, then: Operation) -> Woken {
        let woken = self.0.block(queue, timeout, then);
        self.stepped(then);
        woken
    }

    fn hand_over(&self, object: ObjectId) {
        self.releases(object, Mode::Exclusive);
    }

    fn take_over(&self, object: ObjectId) {
        self.acquired(object, Mode::Shared);
    }

    fn spawn(&self, task: NewTask, body: Box<dyn FnOnce()>) -> TaskId {
        let parent = self.current();
        let child = self.0.spawn(task, body);
        self.0.kept.borrow_mut().memory.begin_task(Some(parent));
        child
    }

    fn join(&self, task: TaskId, location: Place) -> Result<(), Box<dyn Any + Send>> {
        let result = self.0.join(task, location);
        self.0.kept.borrow_mut().memory.acquire_all(self.current(), task);
        result
    }

    fn unpark(&self, task: TaskId, location: Place) {
        let object = self.0.state.borrow().tasks[task.index()].object;
        self.releases_before(object, Mode::Exclusive);
        self.0.unpark(task, location);
    }

    fn suspend(&self, lock: Option<ObjectId>, suspension: Suspension, location: Place) -> Woken {
        lock.into_iter().for_each(|lock| self.releases_before(lock, Mode::Exclusive));
        let woken = self.0.suspend(lock, suspension, location);
        lock.into_iter().for_each(|lock| self.acquired(lock, Mode::Exclusive));
        woken
    }

    fn wake_task(&self, task: TaskId, location: Place) {
        let object = self.0.state.borrow().tasks[task.index()].object;
        self.releases_before(object, Mode::Exclusive);
        self.0.wake_task(task, location);
    }

    // The rest is as with any memory.

    fn cancels(&self) -> bool {
        self.0.cancels()
    }

    fn last_place(&self) -> Place {
        self.0.last_place()
    }

    fn execution(&self) -> ExecutionId {
        self.0.execution()
    }

    fn addresses(&self) -> &Addresses {
        self.0.addresses()
    }

    fn task(&self) -> TaskId {
        self.0.task()
    }

    fn task_name(&self, task: TaskId) -> Option<String> {
        self.0.task_name(task)
    }

    fn seed(&self) -> u64 {
        self.0.seed()
    }

    fn choose(&self, options: u32) -> u32 {
        Runtime::choose(self.0, options)
    }

    fn register(&self, kind: ObjectKind) -> ObjectId {
        self.0.register(kind)
    }

    fn saw(&self, number: u64) {
        self.0.saw(number);
    }

    fn only_read(&self) {
        self.0.only_read();
    }

    fn notify(&self, queue: ObjectId, count: Count, location: Place) -> u32 {
        self.0.notify(queue, count, location)
    }

    fn wake(&self, queue: ObjectId, count: Count) -> u32 {
        self.0.wake(queue, count)
    }

    fn is_finished(&self, task: TaskId, location: Place) -> bool {
        self.0.is_finished(task, location)
    }

    fn park(&self, timeout: Option<Duration>, location: Place) -> Woken {
        self.0.park(timeout, location)
    }

    fn yield_now(&self, location: Place) {
        self.0.yield_now(location);
    }

    fn sleep(&self, duration: Duration, location: Place) {
        self.0.sleep(duration, location);
    }

    fn now(&self) -> Duration {
        self.0.now()
    }

    fn block_begin(&self, name: &'static str, location: Place) {
        self.0.block_begin(name, location);
    }

    fn block_end(&self, location: Place) {
        self.0.block_end(location);
    }

    fn local(&self, slot: usize) -> Local {
        self.0.local(slot)
    }

    fn set_local(&self, slot: usize, value: Rc<dyn Any>, lasts: bool) {
        self.0.set_local(slot, value, lasts);
    }

    fn shared(&self, slot: usize) -> Option<Rc<dyn Any>> {
        self.0.shared(slot)
    }

    fn set_shared(&self, slot: usize, value: Rc<dyn Any>) {
        self.0.set_shared(slot, value);
    }

    fn panicking(&self) -> bool {
        self.0.panicking()
    }

    fn has_ended(&self) -> bool {
        self.0.has_ended()
    }

    fn fails_weakly(&self) -> bool {
        self.0.fails_weakly()
    }

    fn is_short(&self) -> bool {
        self.0.is_short()
    }

    fn is_late(&self) -> bool {
        self.0.is_late()
    }

    fn is_reset(&self) -> bool {
        self.0.is_reset()
    }

    fn tell(&self, about: usize, told: Told) {
        self.0.tell(about, told);
    }

    fn exit(&self, exit: Exit, location: Place) -> ! {
        self.0.exit(exit, location)
    }

    fn fail(&self, reason: String) {
        self.0.fail(reason);
    }
}
