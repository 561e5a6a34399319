//! `Thread` and `ThreadId`.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::panic::Location;
use std::sync::Arc;

use crate::runtime::{self, Current, ExecutionId, TaskId};

/// Mirrors [`std::thread::Thread`].
#[derive(Clone)]
pub struct Thread(Kind);

#[derive(Clone)]
enum Kind {
    Real(std::thread::Thread),
    Task { execution: ExecutionId, task: TaskId, name: Option<Arc<str>> },
}

/// Mirrors [`std::thread::ThreadId`].
///
/// Under control the hash and the text depend on the number of the task alone, so that they are the same in each run.
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
        let main = || (task == TaskId::MAIN).then(|| Arc::from("main"));
        let name = current.runtime().task_name(task).map(Arc::from).or_else(main);
        Thread(Kind::Task { execution: current.execution(), task, name })
    }

    /// As [`std::thread::Thread::unpark`].
    #[inline]
    #[track_caller]
    pub fn unpark(&self) {
        let location = Location::caller();
        match &self.0 {
            Kind::Real(thread) => thread.unpark(),
            Kind::Task { execution, task, .. } => {
                // The tasks of another execution have ended.
                runtime::with(|current| {
                    if current.execution() == *execution {
                        current.runtime().unpark(*task, location);
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
            Kind::Task { execution, task, .. } => Id::Task(*execution, *task),
        })
    }

    /// As [`std::thread::Thread::name`].
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match &self.0 {
            Kind::Real(thread) => thread.name(),
            Kind::Task { name, .. } => name.as_deref(),
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
