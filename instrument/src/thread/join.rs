//! `JoinHandle` and `ScopedJoinHandle`.

use std::cell::UnsafeCell;
use std::fmt;
use std::panic::Location;
use std::sync::{Arc, OnceLock};
use std::thread::Result;

use super::thread::Thread;
use crate::runtime::{self, ExecutionId, Place, TaskId};

/// Mirrors [`std::thread::JoinHandle`].
pub struct JoinHandle<T> {
    pub(super) started: Started<std::thread::JoinHandle<()>>,
    value: Returned<T>,
}

/// Mirrors [`std::thread::ScopedJoinHandle`].
pub struct ScopedJoinHandle<'scope, T> {
    started: Started<std::thread::ScopedJoinHandle<'scope, ()>>,
    value: Returned<T>,
}

/// A thread or a task that was started, with the real handle `R` of a thread.
pub(super) struct Started<R> {
    /// Made when it is first asked for: few programs do.
    thread: OnceLock<Thread>,
    /// The name of a task.
    name: Option<String>,
    pub(super) kind: Kind<R>,
}

pub(super) enum Kind<R> {
    Real(R),
    Task(ExecutionId, TaskId),
}

/// What a thread returned, once it has ended without a panic.
pub(super) struct Returned<T>(Arc<UnsafeCell<Option<T>>>);

/// Where a thread puts what it returns.
pub(super) struct Returning<T>(Arc<UnsafeCell<Option<T>>>);

// SAFETY: a handle gives its value away once, to the caller that consumes or drops it, and the closure of the thread has it
// until then. Only `returning` makes one, which asks for a `T` that is `Send`.
unsafe impl<T> Send for Returned<T> {}

// SAFETY: shared, it shows nobody the value.
unsafe impl<T> Sync for Returned<T> {}

// SAFETY: as for `Returned`.
unsafe impl<T> Send for Returning<T> {}

impl<T> Returned<T> {
    pub(super) fn new() -> (Returning<T>, Returned<T>) {
        let value = Arc::new(UnsafeCell::new(None));
        (Returning(value.clone()), Returned(value))
    }

    fn take(self) -> T {
        // The thread has dropped its own part by then.
        let value = Arc::into_inner(self.0).and_then(UnsafeCell::into_inner);
        value.expect("a thread that was joined, or whose execution is over, has ended without a panic")
    }
}

impl<T> Returning<T> {
    /// For the closure of the thread.
    pub(super) fn put(&mut self, value: T) {
        // SAFETY: the two parts of a value exist once each, and this one is borrowed mutably. The other one looks at the value when
        // this one is gone, which the count in between says.
        unsafe { *self.0.get() = Some(value) };
    }
}

impl<R> Started<R> {
    pub(super) fn real(thread: std::thread::Thread, handle: R) -> Started<R> {
        Started { thread: Thread::real(thread).into(), name: None, kind: Kind::Real(handle) }
    }

    pub(super) fn task(name: Option<String>, execution: ExecutionId, task: TaskId) -> Started<R> {
        Started { thread: OnceLock::new(), name, kind: Kind::Task(execution, task) }
    }

    fn thread(&self) -> &Thread {
        self.thread.get_or_init(|| match self.kind {
            Kind::Real(_) => unreachable!("internal error: a real thread has its handle from the start"),
            Kind::Task(execution, task) => Thread::task(execution, task, self.name.clone()),
        })
    }
}

/// Waits for the end of a task.
fn join_task(execution: ExecutionId, task: TaskId, location: Place) -> Result<()> {
    let joined =
        runtime::with(|current| (current.execution() == execution).then(|| current.runtime().join(task, location)));
    // The tasks of another execution have ended, unless that execution is running around this one.
    joined.flatten().unwrap_or(Ok(()))
}

fn is_task_finished(execution: ExecutionId, task: TaskId, location: Place) -> bool {
    let finished = runtime::with(|current| {
        (current.execution() == execution).then(|| current.runtime().is_finished(task, location))
    });
    finished.flatten().unwrap_or(true)
}

macro_rules! handle {
    ($name:literal, $handle:ident<$($scope:lifetime,)? T>) => {
        impl<$($scope,)? T> $handle<$($scope,)? T> {
            pub(super) fn new(started: Started<std::thread::$handle<$($scope,)? ()>>, value: Returned<T>) -> Self {
                $handle { started, value }
            }

            #[doc = concat!("As [`std::thread::", $name, "::thread`].")]
            #[must_use]
            pub fn thread(&self) -> &Thread {
                self.started.thread()
            }

            #[doc = concat!("As [`std::thread::", $name, "::join`].")]
            ///
            /// # Errors
            /// The payload with which the thread panicked.
            #[track_caller]
            pub fn join(self) -> Result<T> {
                match self.started.kind {
                    Kind::Real(handle) => handle.join()?,
                    Kind::Task(execution, task) => join_task(execution, task, Location::caller())?,
                }
                Ok(self.value.take())
            }

            #[doc = concat!("As [`std::thread::", $name, "::is_finished`].")]
            #[track_caller]
            pub fn is_finished(&self) -> bool {
                match &self.started.kind {
                    Kind::Real(handle) => handle.is_finished(),
                    Kind::Task(execution, task) => is_task_finished(*execution, *task, Location::caller()),
                }
            }
        }

        impl<$($scope,)? T> fmt::Debug for $handle<$($scope,)? T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct($name).finish_non_exhaustive()
            }
        }
    };
}

handle!("JoinHandle", JoinHandle<T>);
handle!("ScopedJoinHandle", ScopedJoinHandle<'scope, T>);
