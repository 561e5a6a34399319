//! A task of an execution, and what it needs to be enabled.

use std::any::Any;
use std::mem::ManuallyDrop;

use interloper_std::runtime::{Local, Mode, Need, ObjectId, Operation, Place, TaskId, Woken};

use super::fiber::Link;
use super::hints::Hints;
use super::progress::{LooksAtClock, Spin};
use super::rounds::Rounds;
use crate::execution::{Cause, Held};

/// A task, or a place for one.
pub(super) struct Task {
    /// How the fiber is suspended, once it has started.
    pub(super) link: Option<Link>,
    /// What it does, until it begins. Where an execution ends at once, a task may never begin. Then this is abandoned, as stacks are: in
    /// the next execution its destructors would be steps of that one.
    pub(super) body: ManuallyDrop<Option<Box<dyn FnOnce()>>>,
    /// Where it was spawned.
    pub(super) origin: Place,
    pub(super) name: Option<String>,
    pub(super) object: ObjectId,
    pub(super) done: bool,
    /// A task has joined this one: its end happens before whatever the joining task does next.
    pub(super) joined: bool,
    /// The last task that this one joined and that had panicked.
    pub(super) joined_panic: Option<TaskId>,
    pub(super) gate: Gate,
    /// The locks that must be free, for [`Gate::Needs`].
    pub(super) needs: Vec<Need>,
    /// Its index among the enabled tasks.
    pub(super) position: Option<u32>,
    /// The next step while it is not enabled.
    pub(super) operation: Operation,
    pub(super) held: Vec<Held>,
    /// The place in a queue of waiters.
    pub(super) ticket: u64,
    /// The gate once the task is woken.
    pub(super) after: Gate,
    pub(super) woken: Woken,
    pub(super) cause: Cause,
    pub(super) token: bool,
    pub(super) payload: Option<Box<dyn Any + Send>>,
    pub(super) panicked: bool,
    /// Whether the task unwinds; certain only while it is suspended.
    pub(super) unwinding: bool,
    pub(super) locals: Slots,
    pub(super) spin: Spin,
    pub(super) rounds: Rounds,
    /// The task is held back so that others go on, whether its gate is open or not.
    pub(super) rests: bool,
    pub(super) looks: LooksAtClock,
    pub(super) abort_steps: u32,
    /// The lock for which it waits as a writer that keeps readers out.
    pub(super) contends: Option<ObjectId>,
    pub(super) hints: Hints,
    /// The task could not be unwound: its stack is abandoned.
    pub(super) lost: bool,
    /// The task is in a step of plain memory, which cannot unwind.
    pub(super) accesses: bool,
    /// After so many steps, a call of the task began that must not be interrupted.
    pub(super) call: Option<u64>,
    /// How often it has accessed plain memory since the execution ended.
    pub(super) lingers: u32,
}

/// What a task needs to be enabled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gate {
    /// Nothing.
    Open,
    /// The lock is free for the mode.
    Lock(ObjectId, Mode),
    /// The lock is free for one more reader beside its readers, whatever writers wait for it.
    LockRecursive(ObjectId),
    /// The other holders admit the change of mode.
    Convert(ObjectId, Mode, Mode),
    /// All of the task's `needs` are free.
    Needs,
    /// The task is at its end.
    Ended(TaskId),
    /// A task wakes it from this queue.
    Queue(ObjectId),
    /// A task gives it its token.
    Token,
    /// The clock reaches its time.
    Clock,
    /// Something changes that a waiting loop could see.
    Change,
}

/// Values by slot.
#[derive(Default)]
pub(super) struct Slots {
    values: Vec<Local>,
    /// The slots in the order in which their values came: those that last before all others.
    order: Vec<usize>,
    /// How many of them last.
    lasting: usize,
}

impl Task {
    pub(super) fn new(object: ObjectId, operation: Operation) -> Task {
        Task {
            link: None,
            body: ManuallyDrop::new(None),
            origin: operation.location,
            name: None,
            object,
            done: false,
            joined: false,
            joined_panic: None,
            gate: Gate::Open,
            needs: Vec::new(),
            position: None,
            operation,
            held: Vec::new(),
            ticket: 0,
            after: Gate::Open,
            woken: Woken::Notified,
            cause: Cause::Ready,
            token: false,
            payload: None,
            panicked: false,
            unwinding: false,
            locals: Slots::default(),
            spin: Spin::default(),
            rounds: Rounds::default(),
            rests: false,
            looks: LooksAtClock::default(),
            abort_steps: 0,
            contends: None,
            hints: Hints::default(),
            lost: false,
            accesses: false,
            call: None,
            lingers: 0,
        }
    }

    /// Makes the place ready for a new task; memory stays.
    pub(super) fn restart(
        &mut self,
        object: ObjectId,
        operation: Operation,
        name: Option<String>,
        body: Option<Box<dyn FnOnce()>>,
    ) {
        self.held.clear();
        self.origin = operation.location;
        self.locals.forget();
        (self.object, self.operation, self.name, self.link) = (object, operation, name, None);
        self.body = ManuallyDrop::new(body);
        self.hints.restart();
        self.rounds.restart();
        (self.gate, self.after, self.position, self.woken) = (Gate::Open, Gate::Open, None, Woken::Notified);
        (self.done, self.joined, self.token, self.panicked) = (false, false, false, false);
        self.joined_panic = None;
        (self.unwinding, self.lost, self.contends, self.rests) = (false, false, None, false);
        (self.spin, self.looks) = (Spin::default(), LooksAtClock::default());
        (self.abort_steps, self.cause) = (0, Cause::Ready);
        (self.accesses, self.call, self.lingers) = (false, None, 0);
    }
}

impl Slots {
    pub(super) fn get(&self, slot: usize) -> Local {
        self.values.get(slot).cloned().unwrap_or(Local::Empty)
    }

    /// Puts a value in, and returns the previous one. A value that `lasts` is taken out after all that do not.
    pub(super) fn set(&mut self, slot: usize, value: std::rc::Rc<dyn Any>, lasts: bool) -> Local {
        if self.values.len() <= slot {
            self.values.resize(slot + 1, Local::Empty);
        }
        let position = if lasts { 0 } else { self.order.len() };
        self.order.insert(position, slot);
        self.lasting += usize::from(lasts);
        std::mem::replace(&mut self.values[slot], Local::Value(value))
    }

    /// Takes out the value that was put in last, of those that do not last.
    pub(super) fn pop(&mut self) -> Option<Local> {
        (self.order.len() > self.lasting).then(|| self.pop_any())?
    }

    /// Takes out the value that was put in last, or one that lasts if no other is left.
    pub(super) fn pop_any(&mut self) -> Option<Local> {
        let slot = self.order.pop()?;
        self.lasting = self.lasting.min(self.order.len());
        Some(std::mem::replace(&mut self.values[slot], Local::Destroyed))
    }

    /// Abandons the values. Those with a destructor are not dropped.
    #[inline]
    pub(super) fn forget(&mut self) {
        // A task that has no values is the rule, and to begin it should cost nothing here.
        if !self.values.is_empty() {
            self.forget_all();
        }
    }

    #[cold]
    fn forget_all(&mut self) {
        self.order.drain(..self.lasting).for_each(|slot| self.values[slot] = Local::Destroyed);
        self.values.drain(..).for_each(std::mem::forget);
        self.order.clear();
        self.lasting = 0;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.order.is_empty()
    }
}

impl Drop for Slots {
    /// The values that are left belong to tasks that could not be unwound. Their destructors may rely on what those
    /// tasks have not done.
    fn drop(&mut self) {
        self.forget();
    }
}
