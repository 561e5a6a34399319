//! `Thread` and `ThreadId`.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::panic::Location;
use std::sync::Arc;

use crate::runtime::{self, Current, ExecutionId, TaskId};

/// Mirrors [`std::thread::Thread`]. As short as a [`Waker`](std::task::Waker): some queues hold either of the two.
#[derive(Clone)]
pub struct Thread(Kind);

#[derive(Clone)]
enum Kind {
    Real(std::thread::Thread),
    Task(Arc<Task>),
}

struct Task {
    execution: ExecutionId,
    task: TaskId,
    name: Option<String>,
}

const _: () = assert!(size_of::<Option<Thread>>() <= size_of::<std::task::Waker>());

/// Mirrors [`std::thread::ThreadId`].
///
/// Under control the hash and the text depend only on the number of the task, so that they are the same in each run.
#[derive(Eq, PartialEq, Clone, Copy)]
pub struct ThreadId(Id);

#[derive(Eq, PartialEq, Clone, Copy)]
enum Id {
    Real(std::thread::ThreadId),
    Task(ExecutionId, TaskId),
}

/// As [`std::thread::current`].
#[must_use]
pub fn current() -> Thread {
    runtime::with(|current| Thread::of_task(&current, current.runtime().task()))
        .unwrap_or_else(|| Thread::real(std::thread::current()))
}

impl Thread {
    pub(super) fn real(thread: std::thread::Thread) -> Thread {
        Thread(Kind::Real(thread))
    }

    pub(super) fn of_task(current: &Current<'_>, task: TaskId) -> Thread {
        let main = || (task == TaskId::MAIN).then(|| "main".to_owned());
        let name = current.runtime().task_name(task).or_else(main);
        Thread::task(current.execution(), task, name)
    }

    pub(super) fn task(execution: ExecutionId, task: TaskId, name: Option<String>) -> Thread {
        Thread(Kind::Task(Arc::new(Task { execution, task, name })))
    }

    /// As [`std::thread::Thread::unpark`].
    #[inline]
    #[track_caller]
    pub fn unpark(&self) {
        let location = Location::caller();
        match &self.0 {
            Kind::Real(thread) => thread.unpark(),
            Kind::Task(task) => {
                // The tasks of another execution have ended.
                runtime::with(|current| {
                    if current.execution() == task.execution {
                        current.runtime().unpark(task.task, location);
                    }
                });
            }
        }
    }

    /// As [`std::thread::Thread::id`].
    #[must_use]
    pub fn id(&self) -> ThreadId {
        ThreadId(match &self.0 {
            Kind::Real(thread) => Id::Real(thread.id()),
            Kind::Task(task) => Id::Task(task.execution, task.task),
        })
    }

    /// As [`std::thread::Thread::name`].
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match &self.0 {
            Kind::Real(thread) => thread.name(),
            Kind::Task(task) => task.name.as_deref(),
        }
    }
}

impl fmt::Debug for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Thread").field("id", &self.id()).field("name", &self.name()).finish_non_exhaustive()
    }
}

impl Hash for ThreadId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self.0 {
            Id::Real(id) => id.hash(state),
            Id::Task(_, task) => task.hash(state),
        }
    }
}

impl fmt::Debug for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Id::Real(id) => id.fmt(f),
            Id::Task(_, task) => f.debug_tuple("ThreadId").field(&(u64::from(task.0) + 1)).finish(),
        }
    }
}
