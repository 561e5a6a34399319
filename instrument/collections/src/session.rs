//! The interface between an instrumented collection and the controller of the run.
//!
//! Outside a controlled run there is no [`Session`] and each wrapper goes straight to the original. Inside one, a
//! wrapper does, for each operation:
//!
//! 1. [`Session::before`] with what it is about to do: the session may run environment operations or other tasks in
//!    there, waits until the lock that the operation needs is free, and returns when the operation may happen;
//! 2. the operation itself, on the real collection;
//! 3. [`Session::after`] with what happened, as an invocation of the abstract type and its result.
//!
//! Nothing else runs between 2 and 3, so the two are one atomic step. A guard that keeps a lock of the real
//! collection says so with [`Session::hold`] and [`Session::release`].

use std::cell::Cell;
use std::panic::Location;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

use interloper_commutativity::{Invocation, MethodId, Model, Value};
use interloper_std::runtime;
use interloper_std::runtime::calls::{self, Moment};

use crate::stray;
use crate::task::{Kind, Tie};

pub use crate::locks::{LockId, Mode, Needs};
pub use crate::stray::RunId;

/// Which collection of the running execution: its index among the collections of the method under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartId(pub u32);

/// What a task is about to do to a collection.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// The collection.
    pub part: PartId,
    /// The method of its abstract type; `None` for a critical section, whose effect is not known beforehand.
    pub method: Option<MethodId>,
    /// The arguments as far as they are known: all those of the method.
    pub arguments: &'a [Value],
    /// The locks that must be free.
    pub needs: Needs,
    /// Where the program calls it.
    pub location: &'static Location<'static>,
}

/// What happened to a collection in a step.
#[derive(Clone, Copy, Debug)]
pub enum Effect<'a> {
    /// A call of a method of the abstract type, with its result.
    Call {
        /// The method.
        method: MethodId,
        /// Its arguments.
        arguments: &'a [Value],
        /// The result of the real collection.
        result: &'a Value,
    },
    /// A critical section that left the collection in `state`.
    Section {
        /// The abstract state at its end.
        state: &'a Value,
    },
}

/// The controller of the run on this thread.
pub trait Session {
    /// The running task is about to make `step`. Returns when it may.
    ///
    /// May be called several times before the operation happens: an iteration that finds a shard locked for writing
    /// announces its step again, with that lock.
    ///
    /// Does not return when the run ends here (a deadlock, say): it unwinds with a payload of the session's own.
    fn before(&self, step: &Step<'_>);

    /// The announced step has happened with this effect. `location` is the place of the call.
    ///
    /// Usually called once for each step. Called several times when a guard keeps its lock over several changes
    /// (`entry` inserts, then the program writes through its reference): each change is reported when it happens or
    /// when the guard is dropped. Not called when the step neither saw nor changed the abstract state (`try_get` found
    /// the lock taken).
    ///
    /// A guard that writes through reports its effect when it is dropped, so it must not unwind.
    fn after(&self, part: PartId, effect: Effect<'_>, location: &'static Location<'static>);

    /// A guard of the running task keeps these locks from now on.
    fn hold(&self, part: PartId, needs: Needs, location: &'static Location<'static>);

    /// The guard was dropped. Must not unwind.
    fn release(&self, part: PartId, needs: Needs);

    /// A visible step that belongs to no collection: a cell is initialised or read. Environment operations and other
    /// tasks may run in there.
    fn pause(&self, what: &'static str, location: &'static Location<'static>);

    /// The running task cannot go on until another task makes progress (it reads a cell that another task is filling):
    /// others run in there. The session ends the run as a deadlock when there is no other task.
    fn stalled(&self, what: &'static str, location: &'static Location<'static>);

    /// Something that [stalled](Session::stalled) tasks wait for has happened: a cell was filled, or a lock outside the
    /// run was released. They look again. Must not unwind.
    fn progressed(&self);

    /// The program says that the last step of the running task is the linearization point of its method under test.
    fn mark(&self);

    /// A call of a collection as it was published begins, or a destructor of it (which has no name). Calls nest. The session
    /// may run environment operations or other tasks in here.
    fn call_begins(&self, name: Option<&'static str>, location: &'static Location<'static>) {
        let _ = (name, location);
    }

    /// A call of a lock or an atomic of the mirror of std begins: of the object at this address
    /// ([`interloper_std::runtime::calls::address`]), at this place of the program. As [`Session::call_begins`] otherwise.
    fn object_call_begins(&self, name: &'static str, object: usize, location: &'static Location<'static>) {
        let _ = (name, object, location);
    }

    /// The call that began last has ended. Must not unwind.
    fn call_ends(&self) {}

    /// A guard of the lock of the mirror of std at this address is gone. Must not unwind.
    fn released_object(&self, object: usize) {
        let _ = object;
    }

    /// Whether the collections that one call of [`with_session`] uses must not be used in another call, apart from
    /// those that the session knows. [`Session::foreign`] reports such uses.
    fn is_run(&self) -> bool {
        false
    }

    /// The running task uses a collection, a `kind`, that is not part of the run, and that existed before it: what
    /// others do to it is not explored, and what this run does to it remains.
    fn foreign(&self, kind: &'static str, location: &'static Location<'static>) {
        let _ = (kind, location);
    }
}

thread_local! {
    static CURRENT: Cell<Option<*const (dyn Session + 'static)>> = const { Cell::new(None) };
    /// The number of the run on this thread, which no other run has; 0 outside one.
    static RUN: Cell<u64> = const { Cell::new(0) };
}

/// Runs `body` under `session`: every instrumented collection that `body` uses on this thread reports to it. The
/// previous session returns at the end, even if `body` unwinds.
pub fn with_session<R>(session: &dyn Session, body: impl FnOnce() -> R) -> R {
    struct Restore(Option<*const (dyn Session + 'static)>, u64);
    impl Drop for Restore {
        fn drop(&mut self) {
            CURRENT.set(self.0);
            RUN.set(self.1);
        }
    }
    static NEXT_RUN: AtomicU64 = AtomicU64::new(1);
    let run = if session.is_run() { NEXT_RUN.fetch_add(1, Ordering::Relaxed) } else { 0 };
    let pointer: *const (dyn Session + '_) = session;
    // SAFETY: only the lifetime changes. Only `current` reads the pointer, on this thread, and `Restore` removes it
    // before `session`'s borrow ends, even on unwinding.
    let pointer = unsafe { std::mem::transmute::<*const (dyn Session + '_), *const (dyn Session + 'static)>(pointer) };
    let _restore = Restore(CURRENT.replace(Some(pointer)), RUN.replace(run));
    calls::listen(heard, body)
}

/// A marked method of a published crate speaks to the session of this thread.
fn heard(moment: Moment) {
    current(|session| match moment {
        Moment::Begin { name, place } => session.call_begins(Some(name), place),
        Moment::BeginAt { name, object, place } => session.object_call_begins(name, object, place),
        Moment::BeginDrop => session.call_begins(None, Location::caller()),
        Moment::Released { object } => session.released_object(object),
        Moment::End => session.call_ends(),
    });
}

/// Runs `body` without a session: the collections that it uses behave as the originals.
pub fn without_session<R>(body: impl FnOnce() -> R) -> R {
    struct Restore(Option<*const (dyn Session + 'static)>);
    impl Drop for Restore {
        fn drop(&mut self) {
            CURRENT.set(self.0);
        }
    }
    let _restore = Restore(CURRENT.replace(None));
    body()
}

/// Whether this thread is in a controlled run.
#[inline]
pub(crate) fn controlled() -> bool {
    CURRENT.try_with(Cell::get).ok().flatten().is_some()
}

/// Whether the program is under control: by a session, or by a runtime of the mirror of std.
#[inline]
pub(crate) fn repeatable() -> bool {
    controlled() || runtime::is_controlled()
}

/// Calls `use_it` with the session of this thread, if there is one.
#[inline]
pub(crate) fn current<R>(use_it: impl FnOnce(&dyn Session) -> R) -> Option<R> {
    let pointer = CURRENT.try_with(Cell::get).ok().flatten()?;
    // SAFETY: `with_session` keeps the session borrowed for as long as the pointer is here.
    Some(use_it(unsafe { &*pointer }))
}

/// The last digits of the number of the run on this thread; 0 outside a run. Guards store them, since guards should be
/// small.
#[inline]
pub(crate) fn run() -> u32 {
    RUN.try_with(Cell::get).unwrap_or(0) as u32
}

/// Says that the last step of the running task is its linearization point ([`Session::mark`]); has no effect outside a
/// controlled run.
pub fn mark() {
    current(|session| session.mark());
}

/// What ties a collection to a controlled run: the run, and which part of it the collection is.
///
/// A collection that is not bound (made inside the method under test, say) is private to it: its operations are not
/// steps.
///
/// Where there is no session and a runtime of the mirror of std controls the program, the handle ties the collection to
/// the running execution.
#[derive(Debug, Default)]
pub struct Handle {
    run: AtomicU64,
    part: AtomicU32,
    /// The thread of the run: see [`this_thread`].
    thread: AtomicUsize,
    /// The last run that used the collection without owning it; 0 before the first.
    guest: AtomicU64,
    tie: Tie,
}

impl Handle {
    /// A handle that belongs to no run.
    pub const fn new() -> Handle {
        Handle::of(Kind::Other, 0)
    }

    /// As [`Handle::new`], for a collection of this kind with this many locks inside.
    pub(crate) const fn of(kind: Kind, shards: u32) -> Handle {
        Handle {
            run: AtomicU64::new(0),
            part: AtomicU32::new(0),
            thread: AtomicUsize::new(0),
            guest: AtomicU64::new(0),
            tie: Tie::new(kind, shards),
        }
    }

    /// The collection is used under a session, and is not part of its run.
    #[inline]
    pub(crate) fn visit(&self, location: &'static Location<'static>) {
        let run = RUN.get();
        if run != 0 {
            let before = self.guest.swap(run, Ordering::Relaxed);
            if before != 0 && before != run {
                current(|session| session.foreign(self.tie.name(), location));
            }
        }
    }

    /// The collection under a runtime.
    #[inline]
    pub(crate) fn tie(&self) -> &Tie {
        &self.tie
    }

    /// Makes the collection part `part` of `run`, which continues on this thread.
    pub fn bind(&self, run: RunId, part: PartId) {
        self.part.store(part.0, Ordering::Relaxed);
        self.thread.store(this_thread(), Ordering::Relaxed);
        self.run.store(run.0, Ordering::Relaxed);
    }

    /// The collection is used outside control: on another thread, which the method under test has made.
    #[inline]
    pub(crate) fn stray(&self, location: &'static Location<'static>) {
        let run = self.run.load(Ordering::Relaxed);
        if run != 0 && self.thread.load(Ordering::Relaxed) != this_thread() {
            stray::note(RunId(run), location);
        }
    }

    /// Takes the collection out of its run.
    pub fn unbind(&self) {
        self.run.store(0, Ordering::Relaxed);
    }

    /// The part that this collection is, when it is bound.
    #[inline]
    pub fn part(&self) -> Option<PartId> {
        if self.run.load(Ordering::Relaxed) == 0 { None } else { Some(PartId(self.part.load(Ordering::Relaxed))) }
    }
}

/// A value that identifies this thread among the living ones.
fn this_thread() -> usize {
    CURRENT.try_with(|current| ptr::from_ref(current).addr()).unwrap_or(0)
}

/// A collection that an adversary can act on.
///
/// All methods except `handle` work on the real collection directly, without a step, under a session or outside.
pub trait Instrumented {
    /// Ties the collection to a run.
    fn handle(&self) -> &Handle;

    /// The type, for a collection as it was published: `dashmap::DashMap<u64, u64>`. Such a collection announces nothing and
    /// is never tied to a run. Its calls are heard ([`Session::call_begins`]) where its crate is under control.
    fn as_published(&self) -> Option<&'static str> {
        None
    }

    /// Whether it is the lock or the atomic of the mirror of std at this address
    /// ([`interloper_std::runtime::calls::address`]), whose calls [`Session::object_call_begins`] tells. The first field of a
    /// collection has its address, too.
    fn is_object(&self, object: usize) -> bool {
        let _ = object;
        false
    }

    /// Whether nothing that is alive keeps `call` waiting. Asked of a collection as it was published only; a wrapper says
    /// what a call [needs](Instrumented::needs), and the session knows what is held.
    fn is_free(&self, call: &Invocation) -> bool {
        let _ = call;
        true
    }

    /// Whether no call ever waits, as with an atomic: then each is [free](Instrumented::is_free).
    fn never_waits(&self) -> bool {
        false
    }

    /// Whether the session is told of each use ([`Session::object_call_begins`]), as with an atomic. Then a method that was not heard
    /// of has not used it.
    fn is_always_heard(&self) -> bool {
        false
    }

    /// Whether the method of `call` takes its arguments. The environment makes only such calls.
    fn takes(&self, call: &Invocation) -> bool {
        let _ = call;
        true
    }

    /// The abstract type.
    fn model(&self) -> Arc<dyn Model>;

    /// The abstract state. Must not be called while a guard of this collection that writes is alive: the lock is taken.
    fn snapshot(&self) -> Value;

    /// The abstract state, even while guards that write are alive: what they keep locked is as in `known`.
    fn snapshot_beside_guards(&self, known: &Value) -> Value {
        let _ = known;
        self.snapshot()
    }

    /// The abstract state beside guards, if it is not the one that is known. Mostly it is.
    fn changed_from(&self, known: &Value) -> Option<Value> {
        let now = self.snapshot_beside_guards(known);
        (!same(&now, known)).then_some(now)
    }

    /// Makes the abstract state `state`.
    ///
    /// # Errors
    /// The part of the state that is not a key or a value of this collection's types.
    fn restore(&self, state: &Value) -> Result<(), Value>;

    /// Makes the abstract state `to` when it is known to be `from`: quicker than [`Instrumented::restore`] if only the
    /// difference must change.
    ///
    /// # Errors
    /// As for [`Instrumented::restore`].
    fn restore_from(&self, from: &Value, to: &Value) -> Result<(), Value> {
        let _ = from;
        self.restore(to)
    }

    /// Runs one environment operation, atomically, and gives its result.
    ///
    /// # Errors
    /// The argument that is not a key or a value of this collection's types; or that there is no such method. In either
    /// case nothing has happened.
    fn apply(&self, call: &Invocation) -> Result<Outcome, Value>;

    /// The locks that `call` takes on the real collection: no lock, unless the collection says otherwise.
    fn needs(&self, call: &Invocation) -> Needs {
        let _ = call;
        Needs::Nothing
    }

    /// How new keys and values are made; the two are the same for a collection of elements.
    fn domain(&self) -> DomainKind;
}

/// Whether two forms are the same. It is not generic, so it is compiled once, and not in each crate of a user.
pub(crate) fn same(one: &Value, other: &Value) -> bool {
    one == other
}

/// The result of an environment operation: its form now, and, for a result that can still change (a cell), a way to
/// read it again at the end of the run.
pub struct Outcome {
    /// The form of the result at the time of the operation.
    pub now: Value,
    /// Reads the result again; `None` when it cannot change.
    pub later: Option<Box<dyn Fn() -> Value>>,
}

impl Outcome {
    /// A result that does not change.
    pub fn fixed(now: Value) -> Outcome {
        Outcome { now, later: None }
    }
}

/// How values of a collection's key and value types are made.
#[derive(Clone, Copy, Debug)]
pub struct DomainKind {
    /// Makes keys (elements, for a collection without values).
    pub key: Maker,
    /// Makes values.
    pub value: Maker,
    /// Whether values can change through a shared reference ([`interloper_commutativity::ToValue::INTERIOR`]).
    pub interior: bool,
}

/// How values of one type are made; see [`interloper_commutativity::Datum`].
#[derive(Clone, Copy, Debug)]
pub struct Maker {
    /// Whether a plain value is one of the type.
    pub accepts: fn(&Value) -> bool,
    /// A value that does not occur among these.
    pub fresh: fn(&[Value]) -> Option<Value>,
    /// A random value.
    pub arbitrary: fn(u64) -> Option<Value>,
}

impl Maker {
    /// The maker of `T`.
    pub fn of<T: interloper_commutativity::Datum>() -> Maker {
        Maker { accepts: |value| T::from_value(value).is_some(), fresh: T::fresh, arbitrary: T::arbitrary }
    }
}
