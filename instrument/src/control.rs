//! What the mirror types share: how they reach the runtime of their thread.

use std::ptr;
use std::sync::atomic::Ordering;

use crate::runtime::{self, Action, Current, ExecutionId, Known, Mode, ObjectId, ObjectKind, Operation, Place};
use crate::statics;

pub(crate) use crate::mirror::{Compact, Mirror};

/// The value that stands for `whole` in the running execution, and its object there: in a static it is the execution's
/// own.
#[inline]
pub(crate) fn here<'a, M: Mirror + ?Sized>(current: &Current<'_>, whole: &'a M) -> (&'a M, ObjectId) {
    match whole.handle().known(current) {
        Some(object) => (whole, object),
        None => find(*current, whole),
    }
}

// By value: whoever calls this keeps its own in registers.
#[cold]
fn find<'a, M: Mirror + ?Sized>(current: Current<'_>, whole: &'a M) -> (&'a M, ObjectId) {
    let value = statics::instance(&current, whole);
    (value, value.handle().object(&current, M::KIND))
}

/// The value that stands for `whole` here: as [`here`] in a controlled run, `whole` itself outside one.
#[inline]
pub(crate) fn value<M: Mirror + ?Sized>(whole: &M) -> &M {
    runtime::with(|current| here(&current, whole).0).unwrap_or_else(|| outside(whole))
}

/// `whole` is about to be used outside a controlled execution.
#[inline]
pub(crate) fn outside<M: Mirror + ?Sized>(whole: &M) -> &M {
    if whole.handle().is_new() {
        statics::remember_outside(whole);
    }
    whole
}

/// A step of an atomic that was announced.
pub(crate) enum Stepped<'a, A, R> {
    /// What is left to do, to the one that stands for it here.
    At(&'a A),
    /// What came of it, where memory is weak.
    Done(R),
}

/// An atomic in memory that is weak, whose step was announced.
pub(crate) struct Weakly<'a, A> {
    /// The one that stands for it here.
    pub(crate) here: &'a A,
    pub(crate) object: ObjectId,
    /// The place of the step.
    pub(crate) place: Place,
    pub(crate) current: Current<'a>,
}

/// Announces a step of an atomic with these orderings, the one for failure last, in a controlled run. Where memory is weak, `weakly`
/// makes it.
#[inline]
pub(crate) fn step<A: Compact, R>(
    whole: &A,
    (action, location): (Action, Place),
    orders: (Ordering, Ordering),
    weakly: impl FnOnce(Weakly<'_, A>) -> R,
) -> Stepped<'_, A, R> {
    let stepped = runtime::with(|current| {
        let Some((here, object)) = placed(&current, whole) else { return Stepped::At(whole) };
        current.runtime().step_of_atomic(Operation { object, action, location });
        let addresses = current.addresses();
        if orders != (Ordering::SeqCst, Ordering::SeqCst) {
            addresses.count_weaker();
        }
        if !addresses.are_attended() {
            return Stepped::At(here);
        }
        if addresses.are_watched() {
            tell(&current, here);
        }
        if !addresses.are_weak() {
            return Stepped::At(here);
        }
        Stepped::Done(weakly(Weakly { here, object, place: location, current }))
    });
    stepped.unwrap_or_else(|| {
        if !action.only_reads() {
            statics::atomics::remember(whole);
        }
        Stepped::At(whole)
    })
}

/// Tells the runtime what the step finds, if that is a number.
#[cold]
#[inline(never)]
fn tell<A: Compact>(current: &Current<'_>, here: &A) {
    if let Some(number) = here.number() {
        current.runtime().saw(number);
    }
}

/// `None` for an atomic of an allocator: executions leave it out.
#[inline]
fn placed<'a, A: Compact>(current: &Current<'_>, whole: &'a A) -> Option<(&'a A, ObjectId)> {
    let known = current.addresses().find(ptr::from_ref(whole).addr());
    let Known { object, instance } = known.or_else(|| meet(current, whole))?;
    let here = match instance {
        None => whole,
        // SAFETY: the word was made from an atomic, `whole` or one of other bytes at the same address: it is as long and
        // as aligned as any, all its bytes have values, and it stays until the next execution. What borrows from a static
        // of an execution must not be used after it: see the limits of the crate.
        Some(word) => unsafe { word.cast::<A>().as_ref() },
    };
    Some((here, object))
}

/// The atomic that stands for `whole` here. No step.
#[inline]
pub(crate) fn there<A: Compact>(whole: &A) -> &A {
    runtime::with(|current| placed(&current, whole)).flatten().map_or(whole, |(here, _)| here)
}

/// The first use of an atomic in the running execution.
#[cold]
fn meet<A: Compact>(current: &Current<'_>, whole: &A) -> Option<Known> {
    if statics::atomics::is_of_allocator(whole) {
        return None;
    }
    let object = current.runtime().register(ObjectKind::Atomic);
    let instance = statics::atomics::initial(whole).map(|bytes| current.addresses().instance(bytes));
    let known = Known { object, instance };
    current.addresses().insert(ptr::from_ref(whole).addr(), known);
    Some(known)
}

/// The step that was just announced turned out to have only read.
#[inline]
pub(crate) fn only_read() {
    runtime::with(|current| current.runtime().only_read());
}

/// Whether the running thread unwinds from a panic of the program: not so when a runtime unwinds it because the
/// execution has ended.
#[inline]
pub(crate) fn panicking() -> bool {
    std::thread::panicking() && panicking_under_control()
}

#[cold]
fn panicking_under_control() -> bool {
    runtime::with(|current| current.runtime().panicking() && !current.runtime().has_ended()).unwrap_or(true)
}

/// A lock that the running task holds in the model, as its guard remembers it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    execution: ExecutionId,
    lock: ObjectId,
    mode: Mode,
    location: Place,
}

/// What became of an attempt to take a lock in the model.
pub(crate) enum Attempt {
    /// There is no model: outside a controlled execution.
    Uncontrolled,
    /// The lock is taken.
    Taken(Held),
    /// The lock is not free.
    Busy,
}

impl Held {
    /// Takes a lock in the model, if there is one. Gives the value that stands for `whole` here, too.
    #[inline(always)]
    pub(crate) fn acquire<M: Mirror + ?Sized>(whole: &M, mode: Mode, location: Place) -> (&M, Option<Held>) {
        let acquired = runtime::with(|current| {
            let (value, lock) = here(&current, whole);
            (value, Some(Held::acquired(current, lock, mode, location)))
        });
        acquired.unwrap_or_else(|| (outside(whole), None))
    }

    // Not inlined into announced programs: see `sync/atomic/common.rs`.
    #[cfg_attr(not(interloper_announced), inline(always))]
    #[cfg_attr(interloper_announced, inline(never))]
    fn acquired(current: Current<'_>, lock: ObjectId, mode: Mode, location: Place) -> Held {
        current.runtime().acquire(lock, mode, location);
        Held { execution: current.execution(), lock, mode, location }
    }

    /// Takes a lock in the model, if there is one and it is free there. Gives the value that stands for `whole` here,
    /// too.
    #[inline]
    pub(crate) fn try_acquire<M: Mirror + ?Sized>(whole: &M, mode: Mode, location: Place) -> (&M, Attempt) {
        let attempted = runtime::with(|current| {
            let (value, lock) = here(&current, whole);
            let free = current.runtime().try_acquire(lock, mode, location);
            let held = Held { execution: current.execution(), lock, mode, location };
            (value, if free { Attempt::Taken(held) } else { Attempt::Busy })
        });
        attempted.unwrap_or_else(|| (outside(whole), Attempt::Uncontrolled))
    }

    /// Gives the lock back: a visible step.
    #[inline]
    pub(crate) fn release(self) {
        self.in_its_execution(|runtime| runtime.release(self.lock, self.mode, self.location));
    }

    /// Gives the lock back as part of the step that the task is in.
    pub(crate) fn let_go(self) {
        self.in_its_execution(|runtime| runtime.let_go(self.lock, self.mode));
    }

    /// The lock and how it is held, if it is one of the running execution.
    pub(crate) fn lock_in(&self, execution: ExecutionId) -> Option<(ObjectId, Mode)> {
        (self.execution == execution).then_some((self.lock, self.mode))
    }

    /// A guard can outlive its execution (in a static, say): then there is nothing to give back.
    #[inline]
    fn in_its_execution(&self, act: impl FnOnce(&dyn runtime::Runtime)) {
        runtime::with(|current| {
            if current.execution() == self.execution {
                act(current.runtime());
            }
        });
    }
}

/// Calls `controlled` in a controlled run, and `otherwise` outside one, with `input`.
#[inline]
pub(crate) fn either<I, R>(
    input: I,
    controlled: impl FnOnce(Current<'_>, I) -> R,
    otherwise: impl FnOnce(I) -> R,
) -> R {
    let mut input = Some(input);
    let mut take = || input.take().expect("only one of the two is called");
    match runtime::with(|current| controlled(current, take())) {
        Some(result) => result,
        None => otherwise(take()),
    }
}
