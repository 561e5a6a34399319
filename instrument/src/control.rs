//! What the mirror types share: how they reach the runtime of their thread.

use crate::runtime::{self, Action, Current, ExecutionId, Handle, Mode, ObjectId, ObjectKind, Operation, Place};

/// Announces a step on the object behind `handle`; nothing outside of a controlled run.
#[inline]
pub(crate) fn step(handle: &Handle, kind: ObjectKind, action: Action, location: Place) {
    runtime::with(|current| {
        let object = handle.object(&current, kind);
        current.runtime().step(Operation { object, action, location });
    });
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
    /// There is no model: outside of a controlled run.
    Uncontrolled,
    /// The lock is taken.
    Taken(Held),
    /// The lock is not free.
    Busy,
}

impl Held {
    /// Takes the lock behind `handle` in the model, if there is one.
    #[inline]
    pub(crate) fn acquire(handle: &Handle, kind: ObjectKind, mode: Mode, location: Place) -> Option<Held> {
        runtime::with(|current| {
            let lock = handle.object(&current, kind);
            current.runtime().acquire(lock, mode, location);
            Held { execution: current.execution(), lock, mode, location }
        })
    }

    /// Takes the lock behind `handle` in the model, if there is one and it is free there.
    #[inline]
    pub(crate) fn try_acquire(handle: &Handle, kind: ObjectKind, mode: Mode, location: Place) -> Attempt {
        let attempt = runtime::with(|current| {
            let lock = handle.object(&current, kind);
            let free = current.runtime().try_acquire(lock, mode, location);
            free.then_some(Held { execution: current.execution(), lock, mode, location })
        });
        match attempt {
            None => Attempt::Uncontrolled,
            Some(Some(held)) => Attempt::Taken(held),
            Some(None) => Attempt::Busy,
        }
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

/// Calls `controlled` in a controlled run, and `otherwise` outside of one, with `input`.
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
