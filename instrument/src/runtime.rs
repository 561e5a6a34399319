//! What the mirror of `std` asks of whoever runs the program: the trait [`Runtime`], and the one of this thread.
//!
//! # How a mirror type uses it
//!
//! A method of a mirror type first asks [`with`] for the runtime of this thread. There is none outside a controlled
//! run: the method then does what std does. Inside one it resolves its [`Handle`] to an [`ObjectId`] and says what it
//! is about to do. Tasks of one execution run on one OS thread, one at a time, and are switched only inside calls of
//! [`Runtime`]; so what a mirror type does between two calls is atomic, and plain `Cell`s do for its state.
//!
//! | mirror of | is expressed by |
//! |---|---|
//! | atomics | [`Runtime::step`] with `Read`, `Write` or `ReadWrite`, then the real operation; where memory is weak, [`Runtime::access`] says which store is read |
//! | `fence` | [`Runtime::fence`] |
//! | `Mutex`, `RwLock`, upgradable locks | [`Runtime::acquire`], [`try_acquire`](Runtime::try_acquire), [`release`](Runtime::release), [`convert`](Runtime::convert): the runtime knows who holds and who wants what, and where |
//! | re-entrant locks | `acquire` at the first level only; the count is the mirror's |
//! | `Condvar` | [`Runtime::wait`], which gives the lock back and takes it again; [`Runtime::notify`] |
//! | `Once`, `OnceLock`, `LazyLock` | `acquire` exclusively around the initialiser, `step(Read)` afterwards; the value of a static lives in [`Runtime::shared`], so it is fresh in each execution |
//! | `Barrier` | `step(ReadWrite)`, then [`Runtime::block`] for all but the last, which calls [`Runtime::wake`]; who leads: [`Runtime::choose`] |
//! | concurrent collections | [`Runtime::step_when_free`] with `Invoke` or `Inspect`, then the real operation; a guard: [`keep`](Runtime::keep), [`free`](Runtime::free) |
//! | channels | `step(ReadWrite)`, then the real queue; a full or empty one: [`Runtime::block`], whose continuation is the same `ReadWrite` |
//! | `thread::spawn`, `Builder` | [`Runtime::spawn`] |
//! | `thread::scope` | `spawn` with the lifetime erased, as std does; [`Runtime::join`] on each before the scope ends, also when it unwinds |
//! | `JoinHandle::join` | [`Runtime::join`], which gives the panic's payload |
//! | `park`, `unpark`, `yield_now`, `spin_loop`, `sleep`, `Instant` | [`park`](Runtime::park), [`unpark`](Runtime::unpark), [`yield_now`](Runtime::yield_now), [`sleep`](Runtime::sleep), [`now`](Runtime::now) |
//! | an executor of futures | [`Runtime::spawn`] for each task; [`Runtime::acquire`] before the first poll, [`Runtime::suspend`] between polls, [`Runtime::wake_task`] in wakers |
//! | `thread_local!` | [`Runtime::local`] and [`Runtime::set_local`] |
//! | `RandomState` | [`Runtime::seed`] |
//! | `thread::panicking` | [`Runtime::panicking`] |
//! | a `select` that may take either | [`Runtime::choose`] |
//! | `process::exit`, `process::abort` | [`Runtime::exit`] |
//! | a weak compare-exchange that may fail | [`Runtime::fails_weakly`] |
//! | sockets, pipes and event loops | [`step`](Runtime::step) with `Invoke`, then the call of the kernel; where it would wait, [`block`](Runtime::block); how much it moves: [`Runtime::is_short`] |
//! | `panic::catch_unwind` | the real one, then `resume_unwind` when the payload [`is_abort`] |
//!
//! # Unwinding
//!
//! A runtime that ends an execution early (a deadlock, a step bound) unwinds its tasks: any method that may block can
//! [`unwind`] instead of returning. Methods never unwind in a task that is unwinding already, so that they may be
//! called from destructors; a lock that a destructor then takes is granted as usual. While a task unwinds it is not
//! preempted.

mod addresses;
pub mod calls;
mod handle;
mod idle;
mod memory;
mod operation;
mod peek;
mod random;
mod thread;
mod told;

use std::any::Any;
use std::fmt;
use std::ops::Range;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::time::Duration;

pub use crate::statics::whole::{Running, Statics};
pub use addresses::Addresses;
pub(crate) use addresses::{Bytes, Known, Word};
pub(crate) use handle::Home;
pub use handle::{Handle, Resolved, Slot};
pub use memory::{Accessed, Effect};
pub use operation::{
    Action, Call, Count, ExecutionId, ExecutionIds, Extent, Key, Mode, ObjectId, ObjectKind, Operation, Place, TaskId,
    Verb,
};
pub use peek::Peek;
pub(crate) use random::hasher;
pub use random::{fill_random, random};
pub(crate) use thread::is_allocating;
pub use thread::{
    Allocating, Current, allocating, before_time, enter, has_ended, is_controlled, leave, origin, which_of, with,
};
pub use told::{Told, Work, tell};

#[cfg(all(interloper_announced, target_arch = "x86_64"))]
pub(crate) use idle::WANTED;
pub(crate) use idle::{is_idle, no_longer_idle};
pub(crate) use thread::{forget, forget_range, virtual_time};

/// Whether `cargo interloper` built the program.
pub const BUILT_UNDER_CONTROL: bool = cfg!(interloper);

/// The payload of [`unwind`].
struct Abort;

/// Unwinds the running call, whose execution has ended. This is not a panic: no panic hook runs.
pub fn unwind() -> ! {
    std::panic::resume_unwind(Box::new(Abort))
}

/// Whether a caught payload is that of [`unwind`]: the catcher must resume it.
pub fn is_abort(payload: &(dyn Any + Send)) -> bool {
    payload.is::<Abort>()
}

/// A lock that must be free for a step to be enabled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// The lock.
    pub lock: ObjectId,
    /// The mode in which it must be free. What the task holds itself counts as taken.
    pub mode: Mode,
}

/// Why a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Woken {
    /// Somebody woke the task.
    Notified,
    /// The virtual clock reached the end of the time.
    TimedOut,
}

/// What ends a wait between two polls of a future, besides a waker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suspension {
    /// Nothing.
    UntilWoken,
    /// The virtual clock, when this time has passed since the start of the execution: see [`Runtime::now`].
    Until(Duration),
    /// The task asks to be polled again once other tasks have gone on: [`Runtime::yield_now`].
    Yields,
}

/// What ends a wait in the queue of an object, apart from the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wakes {
    /// A notification alone.
    Notified,
    /// A notification or nothing at all: std does not exclude that a wait ends although nobody has notified.
    AlsoUnasked,
}

/// How a program ends its process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Exit {
    /// `process::exit` with this code.
    Code(i32),
    /// `process::abort`.
    Abort,
}

impl fmt::Display for Exit {
    /// The call.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Exit::Code(code) => write!(f, "process::exit({code})"),
            Exit::Abort => f.write_str("process::abort()"),
        }
    }
}

/// What a new task is.
#[derive(Clone, Debug)]
pub struct NewTask {
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Where it is spawned.
    pub location: Place,
}

/// What is in a slot of a task.
#[derive(Clone, Debug)]
pub enum Local {
    /// Nothing yet.
    Empty,
    /// The value.
    Value(Rc<dyn Any>),
    /// The task is at its end and has dropped the value.
    Destroyed,
}

/// Whoever runs the program on this thread.
///
/// "Visible step" means: the runtime may let other tasks run before the step; the step itself happens when the method
/// returns, and nothing runs in between until the next visible step of the task.
pub trait Runtime {
    /// The running execution.
    fn execution(&self) -> ExecutionId;

    /// Where it keeps the objects that are known by their addresses: always the same.
    fn addresses(&self) -> &Addresses;

    /// The running task.
    fn task(&self) -> TaskId;

    /// The name that a task was given.
    fn task_name(&self, task: TaskId) -> Option<String>;

    /// Whether the program runs now, and not code of the runtime, which may use files at any time.
    fn runs_program(&self) -> bool {
        true
    }

    /// The seed of the run for default hashers and the like: the same in every execution of a run.
    fn seed(&self) -> u64;

    /// A decision that is not about tasks, as a number below `options`. 0 is the ordinary answer.
    ///
    /// # Panics
    /// When `options` is 0.
    fn choose(&self, options: u32) -> u32;

    /// Makes a new object. Mirror types come here through [`Handle`].
    fn register(&self, kind: ObjectKind) -> ObjectId;

    /// A visible step that is always enabled.
    fn step(&self, operation: Operation);

    /// A step of an atomic. It synchronises with nothing by itself: where memory is weak, [`Runtime::access`] follows.
    fn step_of_atomic(&self, operation: Operation) {
        self.step(operation);
    }

    /// The number that the step of an atomic found, before it wrote. Asked for by [`Addresses::watch`] only.
    fn saw(&self, number: u64) {
        let _ = number;
    }

    /// The step that the task is in is an access to an atomic, made at this place of the source. The atomic has these addresses, and
    /// `newest` is in it. Says what comes of the access where memory is weak. Asked for by [`Addresses::weaken`] only. `order` is that
    /// of the access, or of one that succeeds, and `failure` that of a compare-exchange that fails.
    fn access(
        &self,
        (object, place): (ObjectId, Place),
        (extent, newest): (Range<usize>, u64),
        effect: Effect<'_>,
        (order, failure): (Ordering, Ordering),
    ) -> Accessed {
        let _ = (object, place, extent, order, failure);
        effect.on_newest(newest)
    }

    /// A short way of [`Runtime::access`] for a load: says what it finds. Asked for by [`Addresses::shorten`] only.
    fn load(&self, (object, place): (ObjectId, Place), newest: u64, order: Ordering) -> u64 {
        let _ = (object, place, order);
        newest
    }

    /// A short way of [`Runtime::access`] for a store: says whether the value is now the newest one. Asked for by
    /// [`Addresses::shorten`] only.
    fn store(&self, (object, place): (ObjectId, Place), (newest, value): (u64, u64), order: Ordering) -> bool {
        let _ = (object, place, newest, value, order);
        true
    }

    /// A fence: part of the step that the task is in.
    fn fence(&self, order: Ordering, location: Place) {
        let _ = (order, location);
    }

    /// The step that the task is in turned out to have only read: a compare-exchange that failed, say.
    ///
    /// With this a loop that waits for another task is told from one that makes progress.
    fn only_read(&self);

    /// A visible step that is enabled only while all of `needs` are free. It takes none of them.
    fn step_when_free(&self, operation: Operation, needs: &[Need]);

    /// A visible step that is always enabled and looks whether `need` is free: whether it is. It does not take the lock.
    fn step_and_look(&self, operation: Operation, need: Need) -> bool;

    /// The running task keeps a lock inside a collection from now on: part of the step that it is in.
    ///
    /// Unlike [`Runtime::hold`], a lock that is kept so stands for no data: the steps of the collection do that.
    ///
    /// # Panics
    /// When the lock is not free.
    fn keep(&self, lock: ObjectId, mode: Mode, location: Place);

    /// Gives back a lock inside a collection: a visible step, as [`Runtime::release`] is.
    ///
    /// # Panics
    /// When nobody keeps the lock in this mode.
    fn free(&self, lock: ObjectId, mode: Mode, location: Place);

    /// Takes a lock: a visible step that is enabled while the lock is free.
    ///
    /// A reader-writer lock may prefer writers: then a reader is not let in while a writer waits.
    fn acquire(&self, lock: ObjectId, mode: Mode, location: Place);

    /// Takes a lock shared: as [`Runtime::acquire`], but a reader that has the lock already takes it again even where a
    /// writer waits.
    fn acquire_recursive(&self, lock: ObjectId, location: Place);

    /// Takes a lock if it is free, and says whether it was: a visible step.
    fn try_acquire(&self, lock: ObjectId, mode: Mode, location: Place) -> bool;

    /// As [`Runtime::try_acquire`], shared, but a writer that waits does not matter.
    fn try_acquire_recursive(&self, lock: ObjectId, location: Place) -> bool;

    /// Gives a lock back: a visible step.
    ///
    /// # Panics
    /// When nobody holds the lock in this mode.
    fn release(&self, lock: ObjectId, mode: Mode, location: Place);

    /// Changes how the running task holds a lock: a visible step that is enabled while the others admit it.
    ///
    /// # Panics
    /// When the task does not hold the lock in the mode `from`.
    fn convert(&self, lock: ObjectId, from: Mode, to: Mode, location: Place);

    /// Changes how the running task holds a lock if the others admit it, and says whether they did: a visible step.
    ///
    /// # Panics
    /// When the task does not hold the lock in the mode `from`.
    fn try_convert(&self, lock: ObjectId, from: Mode, to: Mode, location: Place) -> bool;

    /// The running task holds a lock from now on: part of the step that it is in, not a step of its own.
    ///
    /// # Panics
    /// When the lock is not free.
    fn hold(&self, lock: ObjectId, mode: Mode, location: Place);

    /// The running task holds a lock no more: part of the step that it is in. Never switches, never unwinds.
    ///
    /// # Panics
    /// When nobody holds the lock in this mode.
    fn let_go(&self, lock: ObjectId, mode: Mode);

    /// Waits in the queue of `queue`, giving `lock` back meanwhile: the visible step [`Action::Wait`], and, once woken,
    /// the visible step [`Action::Lock`] that takes the lock again.
    ///
    /// A wait that ends unasked says [`Woken::Notified`], as std does.
    fn wait(
        &self,
        queue: ObjectId,
        lock: (ObjectId, Mode),
        timeout: Option<Duration>,
        wakes: Wakes,
        location: Place,
    ) -> Woken;

    /// Waits in the queue of `queue` as part of the step that the task is in. Once woken, the task makes the visible
    /// step `then`.
    ///
    /// Between what the task saw in its step and the wait nothing happens, so no wake-up is lost.
    fn block(&self, queue: ObjectId, timeout: Option<Duration>, then: Operation) -> Woken;

    /// Wakes waiters of `queue`, and says how many: a visible step.
    fn notify(&self, queue: ObjectId, count: Count, location: Place) -> u32;

    /// Wakes waiters of `queue`, and says how many: part of the step that the task is in.
    fn wake(&self, queue: ObjectId, count: Count) -> u32;

    /// What the running task has done happens before what a task does after [`Runtime::take_over`] of the same object: no
    /// step, and no part of one. Waking alone orders nothing, so a mirror calls this where its original says that it does.
    fn hand_over(&self, object: ObjectId) {
        let _ = object;
    }

    /// See [`Runtime::hand_over`].
    fn take_over(&self, object: ObjectId) {
        let _ = object;
    }

    /// Makes a new task that runs `body`. A visible step that is never preceded by a switch.
    ///
    /// A panic of `body` ends the task. Its payload is what [`Runtime::join`] gives.
    fn spawn(&self, task: NewTask, body: Box<dyn FnOnce()>) -> TaskId;

    /// Waits for the end of a task: a visible step that is enabled after it.
    ///
    /// # Errors
    /// The payload with which the task panicked, for the first who asks.
    fn join(&self, task: TaskId, location: Place) -> Result<(), Box<dyn Any + Send>>;

    /// Whether a task has ended: a visible step.
    fn is_finished(&self, task: TaskId, location: Place) -> bool;

    /// Takes the token of the running task, waiting for it if need be: a visible step. As std says, it may also end
    /// without the token, and then leaves it where it is.
    fn park(&self, timeout: Option<Duration>, location: Place) -> Woken;

    /// Gives a task its token: a visible step.
    fn unpark(&self, task: TaskId, location: Place);

    /// Waits between two polls of the running task's future, after the first has found it unfinished. The task gives `lock`,
    /// that of its executor, back: the visible step [`Action::Wait`]. It makes its next step once a waker has been called
    /// for it since the last poll began ([`Runtime::wake_task`]): it takes the lock again, [`Action::Lock`], or, where there
    /// is no lock, [`Action::ReadWrite`] of the task.
    fn suspend(&self, lock: Option<ObjectId>, suspension: Suspension, location: Place) -> Woken;

    /// A waker of a task is called: the visible step [`Action::Notify`], whose object is the task.
    fn wake_task(&self, task: TaskId, location: Place);

    /// Whether a future that has just been polled, and that the program allows to be cancelled, is to be dropped now: part
    /// of the step that the task is in.
    fn cancels(&self) -> bool {
        false
    }

    /// The place of the running task's last step.
    fn last_place(&self) -> Place;

    /// The task cannot go on usefully until another does something: a visible step. Other tasks run first, if any can.
    fn yield_now(&self, location: Place);

    /// Lets the virtual clock pass: a visible step.
    fn sleep(&self, duration: Duration, location: Place);

    /// The virtual time since the start of the execution. It stands still while any task can go on, unless a task looks at
    /// it again and again, or a sleep or a time-out ends early.
    fn now(&self) -> Duration;

    /// Enters an atomic block: a visible step. Blocks of one name are one block; they nest.
    fn block_begin(&self, name: &'static str, location: Place);

    /// Leaves the innermost atomic block: a visible step. Never unwinds.
    fn block_end(&self, location: Place);

    /// What the running task has in the slot of this index.
    fn local(&self, slot: usize) -> Local;

    /// Puts a value into a slot of the running task. At the end of the task the values are dropped, the last one put
    /// in first, as steps of the task. A value that `lasts` is dropped after all that do not: their destructors can use it.
    ///
    /// A value that is put in while the task drops its values is dropped in its turn.
    fn set_local(&self, slot: usize, value: Rc<dyn Any>, lasts: bool);

    /// What the execution has in the slot of this index.
    fn shared(&self, slot: usize) -> Option<Rc<dyn Any>>;

    /// Puts a value into a slot of the execution. At the end of the execution the values are dropped, the last one put
    /// in first, as steps of the main task.
    fn set_shared(&self, slot: usize, value: Rc<dyn Any>);

    /// Whether the running task is unwinding.
    fn panicking(&self) -> bool;

    /// Whether the execution has ended early: tasks are being unwound. A lock that such a task gives back is not
    /// poisoned.
    fn has_ended(&self) -> bool;

    /// Whether a weak compare-exchange fails here although it could succeed: a decision of the run. Never, unless the
    /// runtime searches for the consequences.
    fn fails_weakly(&self) -> bool {
        false
    }

    /// Whether a read or a write of several bytes moves only one of them: a decision of the run. Never, unless the runtime
    /// searches for the consequences.
    fn is_short(&self) -> bool {
        false
    }

    /// Whether what is there for a read that does not wait is to arrive later: a decision of the run, as above.
    fn is_late(&self) -> bool {
        false
    }

    /// Whether the connection over which a task reads or writes is reset now: a decision of the run, as above.
    fn is_reset(&self) -> bool {
        false
    }

    /// An executor of another crate says what happens to one of its tasks: see [`tell`].
    fn tell(&self, task: usize, told: Told) {
        let _ = (task, told);
    }

    /// Ends the execution here, as the process would end: part of the step that the task is in. Never unwinds: the task is
    /// given up with its stack.
    fn exit(&self, exit: Exit, location: Place) -> !;

    /// Ends the execution here, as a failure with this reason.
    ///
    /// In a task that is unwinding the execution is ended and the method returns.
    fn fail(&self, reason: String);
}
