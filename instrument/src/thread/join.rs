//! `JoinHandle` and `ScopedJoinHandle`.

use std::fmt;
use std::panic::Location;
use std::sync::{Arc, Mutex};
use std::thread::Result;

use super::thread::Thread;
use crate::runtime::{self, ExecutionId, Place, TaskId};

/// Mirrors [`std::thread::JoinHandle`].
pub struct JoinHandle<T> {
    thread: Thread,
    pub(super) kind: Kind<std::thread::JoinHandle<T>, T>,
}

/// Mirrors [`std::thread::ScopedJoinHandle`].
pub struct ScopedJoinHandle<'scope, T> {
    thread: Thread,
    kind: Kind<std::thread::ScopedJoinHandle<'scope, T>, T>,
}

pub(super) enum Kind<R, T> {
    Real(R),
    Task(Task<T>),
}

/// A task that can be joined.
pub(super) struct Task<T> {
    execution: ExecutionId,
    task: TaskId,
    /// The result of the task, once it has ended.
    result: Arc<Mutex<Option<T>>>,
}

// SAFETY: a handle gives its value away once, to the caller that consumes or drops it. Only `spawn_task` makes a
// handle, and its callers ask for a `T` that is `Send`.
unsafe impl<T> Send for Task<T> {}

// SAFETY: a shared handle gives no access to the value.
unsafe impl<T> Sync for Task<T> {}

/// A new task and its thread.
pub(super) struct TaskHandle<T> {
    thread: Thread,
    task: Task<T>,
}

impl<T> TaskHandle<T> {
    pub(super) fn new(
        execution: ExecutionId,
        task: TaskId,
        thread: Thread,
        result: Arc<Mutex<Option<T>>>,
    ) -> TaskHandle<T> {
        TaskHandle { thread, task: Task { execution, task, result } }
    }

    pub(super) fn id(&self) -> TaskId {
        self.task.task
    }
}

impl<T> Task<T> {
    fn join(self, location: Place) -> Result<T> {
        let joined = runtime::with(|current| {
            (current.execution() == self.execution).then(|| current.runtime().join(self.task, location))
        });
        // The tasks of another execution have ended, unless that execution is running around this one.
        if let Some(Some(Err(payload))) = joined {
            return Err(payload);
        }
        let value = self.result.lock().expect("nobody panics while holding this lock").take();
        Ok(value.expect("a task that is joined outside of its execution has ended without a panic"))
    }

    fn is_finished(&self, location: Place) -> bool {
        let finished = runtime::with(|current| {
            (current.execution() == self.execution).then(|| current.runtime().is_finished(self.task, location))
        });
        finished.flatten().unwrap_or(true)
    }
}

macro_rules! handle {
    ($name:literal, $handle:ident<$($scope:lifetime,)? T>) => {
        impl<$($scope,)? T> $handle<$($scope,)? T> {
            pub(super) fn real(handle: std::thread::$handle<$($scope,)? T>) -> Self {
                $handle { thread: Thread::real(handle.thread().clone()), kind: Kind::Real(handle) }
            }

            pub(super) fn of_task(TaskHandle { thread, task }: TaskHandle<T>) -> Self {
                $handle { thread, kind: Kind::Task(task) }
            }

            #[doc = concat!("As [`std::thread::", $name, "::thread`].")]
            #[must_use]
            pub fn thread(&self) -> &Thread {
                &self.thread
            }

            #[doc = concat!("As [`std::thread::", $name, "::join`].")]
            ///
            /// # Errors
            /// The payload with which the thread panicked.
            #[track_caller]
            pub fn join(self) -> Result<T> {
                match self.kind {
                    Kind::Real(handle) => handle.join(),
                    Kind::Task(task) => task.join(Location::caller()),
                }
            }

            #[doc = concat!("As [`std::thread::", $name, "::is_finished`].")]
            #[track_caller]
            pub fn is_finished(&self) -> bool {
                match &self.kind {
                    Kind::Real(handle) => handle.is_finished(),
                    Kind::Task(task) => task.is_finished(Location::caller()),
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
