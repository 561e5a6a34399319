//! The words that tasks, strategies and traces share: plain data.

mod call;
mod code;

use std::num::NonZeroU32;
use std::panic::Location;
use std::sync::atomic::{AtomicU64, Ordering};

pub use call::{Call, Extent, Key, Verb};

/// A place in the program.
pub type Place = &'static Location<'static>;

/// One execution of a program, unique in this process. Never 0, and below 2^40.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExecutionId(pub(super) u64);

impl ExecutionId {
    /// An execution that no handle belongs to yet.
    pub fn fresh() -> ExecutionId {
        ExecutionId(NEXT.fetch_add(1, Ordering::Relaxed) & EXECUTIONS)
    }

    /// The number.
    pub const fn get(self) -> u64 {
        self.0
    }
}

/// Executions that are to begin, for whoever begins many: several are taken at a time, since threads wait for each other to take one.
#[derive(Debug, Default)]
pub struct ExecutionIds {
    next: u64,
    end: u64,
}

impl ExecutionIds {
    /// None yet.
    pub const fn new() -> ExecutionIds {
        ExecutionIds { next: 0, end: 0 }
    }

    /// An execution that no handle belongs to yet.
    #[inline]
    pub fn fresh(&mut self) -> ExecutionId {
        const TOGETHER: u64 = 64;
        if self.next == self.end {
            self.next = NEXT.fetch_add(TOGETHER, Ordering::Relaxed);
            self.end = self.next + TOGETHER;
        }
        self.next += 1;
        ExecutionId((self.next - 1) & EXECUTIONS)
    }
}

/// The next execution that nobody has taken.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// There are so many executions, and as many numbers.
const EXECUTIONS: u64 = (1 << 40) - 1;

/// A task of an execution, numbered in the order of spawning. The main task is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(pub u32);

impl TaskId {
    /// The task that the execution starts with.
    pub const MAIN: TaskId = TaskId(0);

    /// The number as an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A shared object of an execution, numbered in the order of first use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(NonZeroU32);

impl ObjectId {
    /// The object at an index.
    ///
    /// # Panics
    /// When `index` is `u32::MAX`.
    pub const fn from_index(index: u32) -> ObjectId {
        match index.checked_add(1) {
            Some(number) => match NonZeroU32::new(number) {
                Some(number) => ObjectId(number),
                None => unreachable!(),
            },
            None => panic!("too many objects"),
        }
    }

    /// The index.
    pub const fn index(self) -> usize {
        (self.0.get() - 1) as usize
    }
}

/// What a shared object is; for reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ObjectKind {
    /// A task: the object of spawning, joining, parking and unparking it.
    Task,
    /// An atomic variable.
    Atomic,
    /// A mutex.
    Mutex,
    /// A reader-writer lock.
    RwLock,
    /// A condition variable.
    Condvar,
    /// A cell that is initialised once.
    Once,
    /// A barrier.
    Barrier,
    /// A channel.
    Channel,
    /// A collection.
    Collection,
    /// A lock inside a collection: a shard of a map.
    Shard,
    /// Anything else, by name.
    Other(&'static str),
}

impl ObjectKind {
    /// An executor whose tasks are polled one at a time: a lock that a task holds while it is polled.
    pub const EXECUTOR: ObjectKind = ObjectKind::Other("executor");
    /// A piece of plain memory, where loads and stores are steps.
    pub const PLAIN: ObjectKind = ObjectKind::Other("plain memory");

    /// The word for it in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ObjectKind::Task => "task",
            ObjectKind::Atomic => "atomic",
            ObjectKind::Mutex => "mutex",
            ObjectKind::RwLock => "rwlock",
            ObjectKind::Condvar => "condvar",
            ObjectKind::Once => "once",
            ObjectKind::Barrier => "barrier",
            ObjectKind::Channel => "channel",
            ObjectKind::Collection => "collection",
            ObjectKind::Shard => "shard",
            ObjectKind::Other(name) => name,
        }
    }
}

/// How a lock is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// With other shared holders, and with one upgradable holder.
    Shared,
    /// With shared holders, but no other upgradable one: an upgradable read.
    Upgradable,
    /// Alone.
    Exclusive,
}

impl Mode {
    /// Whether two tasks may hold a lock in these modes at once.
    pub const fn admits(self, other: Mode) -> bool {
        matches!((self, other), (Mode::Shared, Mode::Shared | Mode::Upgradable) | (Mode::Upgradable, Mode::Shared))
    }
}

/// How many waiters are woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Count {
    /// One, if there is any. Which one is a decision of the run.
    One,
    /// All.
    All,
}

/// What an operation does to its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// The first step of a task. Its object is the task.
    Start,
    /// Reads.
    Read,
    /// Writes without reading.
    Write,
    /// Reads and writes at once.
    ReadWrite,
    /// A fence. Its object is the task: atomics are sequentially consistent here, so it orders nothing further.
    Fence,
    /// Takes a lock; enabled while the lock is free for this mode.
    Lock(Mode),
    /// Takes a lock shared; enabled while no writer holds it, also where a writer waits for it: a recursive read.
    LockRecursive,
    /// Takes a lock if it is free.
    TryLock(Mode),
    /// A writer, or an upgradable reader that becomes one, begins to wait for a reader-writer lock that prefers writers:
    /// until it has the lock, readers that come later wait, too.
    Contend,
    /// Gives a lock back.
    Unlock(Mode),
    /// Changes how a lock is held; enabled while the other holders admit the new mode.
    Convert(Mode, Mode),
    /// Changes how a lock is held if the other holders admit it.
    TryConvert(Mode, Mode),
    /// Joins the queue of waiters of the object and gives back this lock, both at once.
    Wait(Option<ObjectId>),
    /// Wakes waiters of the object.
    Notify(Count),
    /// Takes the task's token, waits for it when the task has no token. The object is the task.
    Park,
    /// Gives the object, a task, its token.
    Unpark,
    /// Makes a new task, which is the object.
    Spawn,
    /// Waits for the end of the object, a task; enabled after its end.
    Join,
    /// The end of a task, which is the object: part of its last step.
    Exit,
    /// The process ends, and with it every other task: the main task has returned and there are tasks that nobody has
    /// joined, or this task calls `process::exit` or `process::abort`. The object is the task.
    End,
    /// The task cannot go on usefully until another one does something. The object is the task.
    Yield,
    /// Waits for the virtual clock. The object is the task.
    Sleep,
    /// Looks at something of the execution itself, which is the object: its clock, or what else it may do where std leaves
    /// that open. Part of a step.
    Consult,
    /// Changes something of the execution itself: a wait that ends early moves the clock. Part of a step.
    Affect,
    /// Calls a method of a collection that may write: see [`Call::invoked`].
    Invoke(Verb, Extent, Key),
    /// Calls a method of a collection that only reads: see [`Call::inspected`].
    Inspect(Verb, Extent, Key),
    /// Finds a lock inside a collection free for this mode, as the step needs it, and does not keep it.
    Pass(Mode),
    /// Looks whether a lock inside a collection is free for this mode; the step happens in either case.
    Peek(Mode),
    /// Keeps a lock inside a collection, for a guard.
    Keep(Mode),
    /// Gives back a lock inside a collection, at the end of a guard.
    Free(Mode),
    /// Enters the atomic block of this number; see [`super::Runtime::block_begin`]. The object is the task.
    BlockBegin(u32),
    /// Leaves the innermost atomic block. The object is the task.
    BlockEnd,
}

impl Action {
    /// The mode in which this action takes a lock, or tries to.
    pub const fn acquires(self) -> Option<Mode> {
        match self {
            Action::Lock(mode) | Action::TryLock(mode) | Action::Convert(_, mode) | Action::TryConvert(_, mode) => {
                Some(mode)
            }
            Action::LockRecursive => Some(Mode::Shared),
            _ => None,
        }
    }

    /// Whether the action leaves the state of its object as it was, whatever that was.
    pub const fn only_reads(self) -> bool {
        matches!(self, Action::Read | Action::Inspect(..) | Action::Consult)
    }

    /// Whether the action concerns nobody but its own task.
    pub const fn is_private(self) -> bool {
        matches!(
            self,
            Action::Start | Action::Fence | Action::Yield | Action::Sleep | Action::BlockBegin(_) | Action::BlockEnd
        )
    }

    /// The call of a method of a collection.
    pub const fn call(self) -> Option<Call> {
        match self {
            Action::Invoke(verb, extent, key) | Action::Inspect(verb, extent, key) => Some(Call { verb, extent, key }),
            _ => None,
        }
    }

    /// Whether two actions on one object concern the same part of it: calls about different keys of a collection do not.
    pub const fn overlaps(self, other: Action) -> bool {
        match (self.call(), other.call()) {
            (Some(a), Some(b)) => a.overlaps(b),
            _ => true,
        }
    }

    /// Whether two operations with these actions on one object may come in either order with the same effect.
    const fn commutes(self, other: Action) -> bool {
        use Mode::Exclusive;
        // What most steps are comes first, since the general answer takes some fifty instructions more.
        match (self, other) {
            (Action::Read, Action::Read) => true,
            (Action::Read | Action::Write | Action::ReadWrite, Action::Read | Action::Write | Action::ReadWrite)
            | (
                Action::Lock(Exclusive) | Action::Unlock(Exclusive),
                Action::Lock(Exclusive) | Action::Unlock(Exclusive),
            ) => false,
            _ => self.commutes_in_general(other),
        }
    }

    const fn commutes_in_general(self, other: Action) -> bool {
        use Mode::Shared;
        if self.is_private() || other.is_private() || !self.overlaps(other) {
            return true;
        }
        if matches!(self, Action::Contend) || matches!(other, Action::Contend) {
            return !self.is_held_back() && !other.is_held_back();
        }
        match (self.mode(), other.mode()) {
            // Who does not keep a lock leaves it as it was.
            (Some(_), Some(_)) if self.looks() && other.looks() => true,
            // Shared holders do not notice each other, and a shared one does not notice an upgradable one that stays so.
            (Some(a), Some(b)) => {
                matches!((a, b), (Shared, Shared)) || (a.admits(b) && !self.converts() && !other.converts())
            }
            _ => self.only_reads() && other.only_reads(),
        }
    }

    /// Whether it can concern other objects than its own.
    #[inline]
    const fn reaches_out(self) -> bool {
        matches!(self, Action::End | Action::Wait(Some(_)))
    }

    const fn mode(self) -> Option<Mode> {
        match self {
            Action::Lock(mode) | Action::TryLock(mode) | Action::Unlock(mode) => Some(mode),
            Action::LockRecursive => Some(Mode::Shared),
            Action::Pass(mode) | Action::Peek(mode) | Action::Keep(mode) | Action::Free(mode) => Some(mode),
            Action::Convert(from, to) | Action::TryConvert(from, to) => {
                Some(if matches!(from, Mode::Exclusive) { Mode::Exclusive } else { to })
            }
            _ => None,
        }
    }

    /// Whether a writer that waits keeps others from this.
    const fn is_held_back(self) -> bool {
        matches!(self, Action::Lock(Mode::Shared | Mode::Upgradable) | Action::TryLock(Mode::Shared | Mode::Upgradable))
    }

    const fn looks(self) -> bool {
        matches!(self, Action::Pass(_) | Action::Peek(_))
    }

    const fn converts(self) -> bool {
        matches!(self, Action::Convert(..) | Action::TryConvert(..))
    }
}

/// A visible step that a task is about to make, or has made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Operation {
    /// What it acts on.
    pub object: ObjectId,
    /// What it does.
    pub action: Action,
    /// Where the program asks for it.
    pub location: Place,
}

impl Operation {
    /// Whether two operations *of different tasks* depend on each other: whether their order can matter
    /// (Definitions 1 and 2 of the AtomFuzzer paper). Operations of one task always do.
    ///
    /// Symmetric. A wait depends on what concerns the lock that it gives back, too.
    #[inline]
    pub fn depends(&self, other: &Operation) -> bool {
        // What most steps are comes first, as in `commutes`.
        match self.action.reaches_out() || other.action.reaches_out() {
            false => self.object == other.object && !self.action.commutes(other.action),
            true => self.depends_in_general(other),
        }
    }

    fn depends_in_general(&self, other: &Operation) -> bool {
        let gives_back = |wait: &Operation, lock: &Operation| {
            matches!(wait.action, Action::Wait(Some(object)) if object == lock.object
                && (lock.action.mode().is_some() || matches!(lock.action, Action::Read | Action::Write | Action::ReadWrite)))
        };
        let both_give_back = |a: &Operation, b: &Operation| matches!((a.action, b.action), (Action::Wait(Some(a)), Action::Wait(Some(b))) if a == b);
        // Whether a step comes before the end of the process is whether it is made at all.
        let ends = |operation: &Operation| matches!(operation.action, Action::End);
        ends(self)
            || ends(other)
            || (self.object == other.object && !self.action.commutes(other.action))
            || gives_back(self, other)
            || gives_back(other, self)
            || both_give_back(self, other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operation(object: u32, action: Action) -> Operation {
        Operation { object: ObjectId::from_index(object), action, location: Location::caller() }
    }

    #[track_caller]
    fn check(a: Operation, b: Operation, depends: bool) {
        assert_eq!(a.depends(&b), depends, "{a:?} {b:?}");
        assert_eq!(b.depends(&a), depends, "{b:?} {a:?}");
    }

    #[test]
    fn reads_commute_and_writes_do_not() {
        check(operation(0, Action::Read), operation(0, Action::Read), false);
        check(operation(0, Action::Read), operation(0, Action::Write), true);
        check(operation(0, Action::Write), operation(0, Action::Write), true);
        check(operation(0, Action::Read), operation(1, Action::Write), false);
        check(operation(0, Call::WHOLE.inspected()), operation(0, Call::WHOLE.inspected()), false);
        check(operation(0, Call::WHOLE.inspected()), operation(0, Call::WHOLE.invoked()), true);
    }

    #[test]
    fn the_quick_answer_is_the_general_one() {
        let modes = [Mode::Shared, Mode::Upgradable, Mode::Exclusive];
        let of_locks = modes.into_iter().flat_map(|mode| {
            [Action::Lock(mode), Action::Unlock(mode), Action::TryLock(mode), Action::Pass(mode), Action::Keep(mode)]
        });
        let actions: Vec<Action> =
            [Action::Read, Action::Write, Action::ReadWrite, Action::Contend].into_iter().chain(of_locks).collect();
        for (&one, &other) in actions.iter().flat_map(|one| actions.iter().map(move |other| (one, other))) {
            assert_eq!(one.commutes(other), one.commutes_in_general(other), "{one:?} {other:?}");
        }
        let waits = [0, 1].map(|lock| Action::Wait(Some(ObjectId::from_index(lock))));
        let actions: Vec<Action> = actions.into_iter().chain(waits).chain([Action::Wait(None), Action::End]).collect();
        let on_two = |action: &Action| [operation(0, *action), operation(1, *action)];
        for one in actions.iter().flat_map(on_two) {
            for other in actions.iter().flat_map(on_two) {
                assert_eq!(one.depends(&other), one.depends_in_general(&other), "{one:?} {other:?}");
            }
        }
    }

    #[test]
    fn calls_about_different_keys_commute() {
        let entry = |key| Call { verb: Verb::Get, extent: Extent::Entry, key: Key::from_hash(key) };
        let (reads, writes) = (|call: Call| operation(0, call.inspected()), |call: Call| operation(0, call.invoked()));
        check(writes(entry(1)), writes(entry(2)), false);
        check(writes(entry(1)), writes(entry(1)), true);
        check(writes(entry(1 << 40)), writes(entry(0)), false);
        check(reads(entry(1)), reads(entry(1)), false);
        check(reads(entry(1)), writes(entry(1)), true);
        check(reads(entry(1)), writes(entry(2)), false);
        check(writes(entry(1)), reads(Call::WHOLE), true);
        check(reads(entry(1)), writes(Call::WHOLE), true);
        check(reads(entry(1)), reads(Call::WHOLE), false);
        check(writes(entry(1)), operation(0, Action::Read), true);
    }

    #[test]
    fn who_does_not_keep_a_lock_commutes_with_others_who_do_not() {
        use Mode::*;
        check(operation(0, Action::Pass(Exclusive)), operation(0, Action::Pass(Exclusive)), false);
        check(operation(0, Action::Pass(Exclusive)), operation(0, Action::Peek(Exclusive)), false);
        check(operation(0, Action::Pass(Exclusive)), operation(0, Action::Keep(Shared)), true);
        check(operation(0, Action::Peek(Exclusive)), operation(0, Action::Free(Shared)), true);
        check(operation(0, Action::Pass(Shared)), operation(0, Action::Keep(Shared)), false);
        check(operation(0, Action::Pass(Shared)), operation(0, Action::Keep(Exclusive)), true);
    }

    #[test]
    fn shared_holders_commute() {
        use Mode::*;
        check(operation(0, Action::Lock(Shared)), operation(0, Action::Unlock(Shared)), false);
        check(operation(0, Action::Lock(Shared)), operation(0, Action::Lock(Upgradable)), false);
        check(operation(0, Action::Lock(Upgradable)), operation(0, Action::Lock(Upgradable)), true);
        check(operation(0, Action::Lock(Shared)), operation(0, Action::Lock(Exclusive)), true);
        check(operation(0, Action::TryLock(Exclusive)), operation(0, Action::Unlock(Exclusive)), true);
        check(operation(0, Action::Lock(Shared)), operation(0, Action::Convert(Upgradable, Exclusive)), true);
        check(operation(0, Action::Lock(Shared)), operation(0, Action::Convert(Exclusive, Shared)), true);
        check(operation(0, Action::TryLock(Exclusive)), operation(0, Action::Read), true);
    }

    #[test]
    fn a_writer_that_begins_to_wait_concerns_readers_alone() {
        use Mode::*;
        check(operation(0, Action::Contend), operation(0, Action::Lock(Shared)), true);
        check(operation(0, Action::Contend), operation(0, Action::TryLock(Shared)), true);
        check(operation(0, Action::Contend), operation(0, Action::Lock(Upgradable)), true);
        check(operation(0, Action::Contend), operation(0, Action::LockRecursive), false);
        check(operation(0, Action::Contend), operation(0, Action::Lock(Exclusive)), false);
        check(operation(0, Action::Contend), operation(0, Action::Unlock(Shared)), false);
        check(operation(0, Action::Contend), operation(0, Action::Contend), false);
        check(operation(0, Action::Contend), operation(1, Action::Lock(Shared)), false);
        check(operation(0, Action::LockRecursive), operation(0, Action::Lock(Exclusive)), true);
        check(operation(0, Action::LockRecursive), operation(0, Action::Lock(Shared)), false);
    }

    #[test]
    fn what_concerns_the_execution_is_looked_at_and_changed() {
        check(operation(0, Action::Consult), operation(0, Action::Consult), false);
        check(operation(0, Action::Consult), operation(0, Action::Affect), true);
        check(operation(0, Action::Affect), operation(0, Action::Affect), true);
    }

    #[test]
    fn a_wait_depends_on_the_lock_it_gives_back() {
        let lock = ObjectId::from_index(1);
        check(operation(0, Action::Wait(Some(lock))), operation(1, Action::TryLock(Mode::Exclusive)), true);
        check(operation(0, Action::Wait(Some(lock))), operation(2, Action::TryLock(Mode::Exclusive)), false);
        check(operation(0, Action::Wait(Some(lock))), operation(2, Action::Wait(Some(lock))), true);
        check(operation(0, Action::Wait(Some(lock))), operation(0, Action::Notify(Count::One)), true);
    }

    #[test]
    fn private_steps_depend_on_nothing() {
        check(operation(0, Action::Yield), operation(0, Action::Unpark), false);
        check(operation(0, Action::Park), operation(0, Action::Unpark), true);
        check(operation(0, Action::Spawn), operation(0, Action::Join), true);
    }

    #[test]
    fn everything_depends_on_the_end_of_the_process() {
        for action in [Action::Start, Action::Read, Action::Yield, Action::Lock(Mode::Shared), Action::End] {
            check(operation(0, Action::End), operation(1, action), true);
        }
    }

    #[test]
    fn small() {
        assert_eq!(size_of::<Operation>(), 24);
    }
}
