//! The executor.

use std::fmt;
use std::num::NonZeroUsize;
use std::panic::Location;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use interloper_std::runtime::{self, Place};

use super::task::{Drive, Task};
use super::turns::Turns;

/// How the polls of an executor relate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Flavor {
    /// One poll at a time: nothing else of the executor runs between two awaits of a task.
    #[default]
    CurrentThread,
    /// Polls of different tasks overlap.
    MultiThread {
        /// The most spawned tasks that are polled at the same time.
        workers: NonZeroUsize,
    },
}

/// Runs futures.
///
/// ```
/// use interloper::tasks::Executor;
///
/// assert_eq!(Executor::new().block_on(async { 1 + 1 }), 2);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Executor {
    flavor: Flavor,
}

/// Runs a future on an executor of the flavor [`Flavor::CurrentThread`]: see [`Executor::block_on`].
///
/// # Panics
/// If it is called inside a task, or if the future panics.
#[track_caller]
pub fn block_on<F: Future>(future: F) -> F::Output {
    Executor::new().block_on(future)
}

impl Executor {
    /// An executor of the flavor [`Flavor::CurrentThread`].
    #[must_use]
    pub fn new() -> Executor {
        Executor::default()
    }

    /// Sets the flavor.
    #[must_use]
    pub fn flavor(self, flavor: Flavor) -> Executor {
        Executor { flavor }
    }

    /// Runs a future and the tasks that it spawns until the future is ready. Then the remaining tasks are dropped where
    /// they are suspended.
    ///
    /// # Panics
    /// If it is called inside a task, or if the future panics.
    #[track_caller]
    pub fn block_on<F: Future>(self, future: F) -> F::Output {
        let place = Location::caller();
        assert!(
            Task::current().is_none(),
            "block_on was called inside a task, which would block its executor: await the future instead"
        );
        let shared = Arc::new(Shared::new(self.flavor));
        let task = Task::main(&shared, place);
        let end = End { shared: &shared, place };
        let entered = task.enter();
        shared.turns.begin(&task, place);
        let turn = Turn { task: &task, place };
        let output = task.drive(pin!(future), || false, place);
        drop(turn);
        drop(entered);
        drop(end);
        match output {
            Drive::Ready(output) => output,
            Drive::Cancelled => unreachable!("only spawned tasks are cancelled"),
            Drive::Panicked(payload) => std::panic::resume_unwind(payload),
        }
    }
}

/// What the tasks of an executor share.
pub(super) struct Shared {
    pub(super) turns: Turns,
    /// The task of `block_on`, and the spawned ones in the order of spawning.
    tasks: Mutex<Vec<Arc<Task>>>,
}

impl Shared {
    fn new(flavor: Flavor) -> Shared {
        Shared { turns: Turns::new(flavor), tasks: Mutex::default() }
    }

    pub(super) fn add(&self, task: &Arc<Task>) {
        self.tasks().push(Arc::clone(task));
    }

    /// Whether a task besides this one is ready to be polled.
    pub(super) fn others_ready(&self, task: &Task) -> bool {
        self.tasks().iter().any(|other| !std::ptr::eq(&**other, task) && other.is_ready())
    }

    /// Whether a task besides this one sleeps until this time at most.
    pub(super) fn others_due(&self, task: &Task, now: Duration) -> bool {
        self.tasks().iter().any(|other| !std::ptr::eq(&**other, task) && other.timers.are_due(now))
    }

    fn tasks(&self) -> MutexGuard<'_, Vec<Arc<Task>>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Drops the tasks that are left, in the order of spawning.
    fn shut_down(&self, place: Place) {
        let ended = runtime::with(|current| current.runtime().has_ended()) == Some(true);
        let mut next = 1;
        let number = |next: usize| self.tasks().get(next).cloned();
        while let Some(task) = number(next) {
            next += 1;
            if !ended {
                task.shut_down(place);
            }
        }
        // Tasks and their executor refer to each other.
        self.tasks().clear();
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Shared").finish_non_exhaustive()
    }
}

/// Shuts the executor down at its end.
struct End<'a> {
    shared: &'a Shared,
    place: Place,
}

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.shared.shut_down(self.place);
    }
}

/// A task that may be polled, until it is dropped.
pub(super) struct Turn<'a> {
    pub(super) task: &'a Task,
    pub(super) place: Place,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if runtime::with(|current| current.runtime().has_ended()) != Some(true) {
            self.task.shared().turns.end(self.task, self.place);
        }
    }
}
