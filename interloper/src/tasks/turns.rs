//! Whose turn it is to be polled.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use interloper_std::runtime::{
    self, Action, Count, Current, Handle, Mode, ObjectKind, Operation, Place, Suspension, Woken,
};

use super::executor::Flavor;
use super::task::Task;
use super::time;

pub(crate) const WORKERS: ObjectKind = ObjectKind::Other("workers");

/// The polls of an executor: how many run, and how many may.
pub(super) struct Turns {
    flavor: Flavor,
    /// The lock that a polled task holds, or the workers.
    object: Handle,
    /// The polls that run; under control only those of workers.
    running: Mutex<usize>,
    /// Outside of control: a poll has ended.
    ended: Condvar,
}

impl Turns {
    pub(super) fn new(flavor: Flavor) -> Turns {
        Turns { flavor, object: Handle::new(), running: Mutex::default(), ended: Condvar::new() }
    }

    pub(super) fn is_one_at_a_time(&self) -> bool {
        matches!(self.flavor, Flavor::CurrentThread)
    }

    /// Waits until the task may be polled for the first time.
    pub(super) fn begin(&self, task: &Task, place: Place) {
        let controlled = runtime::with(|current| match self.flavor {
            Flavor::CurrentThread => {
                let lock = self.object.object(&current, ObjectKind::EXECUTOR);
                current.runtime().acquire(lock, Mode::Exclusive, place);
            }
            Flavor::MultiThread { workers } => self.take_worker(&current, task, workers.get(), place),
        });
        if controlled.is_none() {
            self.begin_outside(task);
        }
    }

    /// The task will not be polled again.
    pub(super) fn end(&self, task: &Task, place: Place) {
        let controlled = runtime::with(|current| match self.flavor {
            Flavor::CurrentThread => {
                let lock = self.object.object(&current, ObjectKind::EXECUTOR);
                current.runtime().release(lock, Mode::Exclusive, place);
            }
            Flavor::MultiThread { .. } => self.give_worker_back(&current, task, place),
        });
        if controlled.is_none() {
            self.end_outside(task);
        }
    }

    /// Waits between two polls of the task.
    pub(super) fn suspend(&self, task: &Task, suspension: Suspension, place: Place) -> Woken {
        let controlled = runtime::with(|current| match self.flavor {
            Flavor::CurrentThread => {
                let lock = self.object.object(&current, ObjectKind::EXECUTOR);
                current.runtime().suspend(Some(lock), suspension, place)
            }
            Flavor::MultiThread { workers } => {
                self.give_worker_back(&current, task, place);
                let woken = current.runtime().suspend(None, suspension, place);
                self.take_worker(&current, task, workers.get(), place);
                woken
            }
        });
        controlled.unwrap_or_else(|| {
            self.end_outside(task);
            let woken = task.token.wait(suspension);
            self.begin_outside(task);
            woken
        })
    }

    fn take_worker(&self, current: &Current<'_>, task: &Task, workers: usize, location: Place) {
        if task.is_main() {
            return;
        }
        let object = self.object.object(current, WORKERS);
        let operation = Operation { object, action: Action::ReadWrite, location };
        current.runtime().step(operation);
        while *self.running() >= workers {
            current.runtime().block(object, None, operation);
        }
        *self.running() += 1;
    }

    fn give_worker_back(&self, current: &Current<'_>, task: &Task, location: Place) {
        if task.is_main() {
            return;
        }
        let object = self.object.object(current, WORKERS);
        current.runtime().step(Operation { object, action: Action::ReadWrite, location });
        *self.running() -= 1;
        current.runtime().wake(object, Count::All);
    }

    fn begin_outside(&self, task: &Task) {
        let most = match self.flavor {
            Flavor::CurrentThread => 1,
            Flavor::MultiThread { .. } if task.is_main() => return,
            Flavor::MultiThread { workers } => workers.get(),
        };
        let mut running = self.running();
        while *running >= most {
            running = self.ended.wait(running).unwrap_or_else(PoisonError::into_inner);
        }
        *running += 1;
    }

    fn end_outside(&self, task: &Task) {
        if self.is_one_at_a_time() || !task.is_main() {
            *self.running() -= 1;
            self.ended.notify_one();
        }
    }

    fn running(&self) -> MutexGuard<'_, usize> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Outside of control: whether a waker was called since the last poll began.
#[derive(Default)]
pub(super) struct Token {
    called: Mutex<bool>,
    calls: Condvar,
}

impl Token {
    pub(super) fn give(&self) {
        *self.called.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.calls.notify_one();
    }

    fn wait(&self, suspension: Suspension) -> Woken {
        let called = self.called.lock().unwrap_or_else(PoisonError::into_inner);
        let most = match suspension {
            Suspension::UntilWoken => Duration::MAX,
            Suspension::Until(end) => end.saturating_sub(time::now()),
            Suspension::Yields => Duration::ZERO,
        };
        let waited = self.calls.wait_timeout_while(called, most, |called| !*called);
        let (mut called, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if std::mem::take(&mut *called) { Woken::Notified } else { Woken::TimedOut }
    }
}
