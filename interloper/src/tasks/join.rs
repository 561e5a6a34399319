//! `JoinHandle`, `AbortHandle` and `JoinError`.

use std::any::Any;
use std::fmt;
use std::panic::Location;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use interloper_scheduler::panics::message;
use interloper_scheduler::words::JOIN_HANDLE;
use interloper_std::runtime::{self, Action, Handle, ObjectKind, Operation, Place};

use super::known;
use super::task::Task;

pub(crate) const JOINT: ObjectKind = JOIN_HANDLE;

/// The result of a task, for its handle.
pub(super) struct Joint<T> {
    handle: Handle,
    state: Mutex<State<T>>,
}

pub(super) enum State<T> {
    /// The task runs; the waker of the task that awaits its end.
    Running(Option<Waker>),
    Ready(T),
    Cancelled,
    Panicked,
    /// The handle has given the result away.
    Taken,
}

impl<T> Joint<T> {
    pub(super) fn new() -> Joint<T> {
        Joint { handle: Handle::new(), state: Mutex::new(State::Running(None)) }
    }

    /// The future is about to be dropped before it is ready.
    pub(super) fn drops_future(&self, place: Place) {
        self.step(Action::Write, place, |_| ());
    }

    /// The task ends.
    pub(super) fn ends(&self, end: State<T>, place: Place) {
        if let State::Running(Some(waker)) = self.step(Action::ReadWrite, place, |state| std::mem::replace(state, end))
        {
            waker.wake();
        }
    }

    /// A visible step on the result.
    fn step<R>(&self, action: Action, location: Place, act: impl FnOnce(&mut State<T>) -> R) -> R {
        runtime::with(|current| {
            let object = self.handle.object(&current, JOINT);
            current.runtime().step(Operation { object, action, location });
        });
        act(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Awaits the end of a task. If it is dropped, the task goes on.
pub struct JoinHandle<T> {
    joint: Arc<Joint<T>>,
    task: Arc<Task>,
}

impl<T> JoinHandle<T> {
    pub(super) fn new(joint: Arc<Joint<T>>, task: Arc<Task>) -> JoinHandle<T> {
        JoinHandle { joint, task }
    }

    /// Asks the task to drop its future where it is suspended. A task that has ended has its result nevertheless.
    pub fn abort(&self) {
        self.task.cancel();
    }

    /// A handle that can abort the task, and nothing else.
    #[must_use]
    pub fn abort_handle(&self) -> AbortHandle
    where
        T: Send + 'static,
    {
        AbortHandle { task: Arc::clone(&self.task), joint: Arc::clone(&self.joint) as Arc<dyn Ended + Send + Sync> }
    }

    /// Whether the task has ended.
    #[must_use]
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        self.joint.has_ended(Location::caller())
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    /// # Panics
    /// If the handle has given the result away already.
    #[track_caller]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let place = Location::caller();
        let waker = context.waker().clone();
        let mut earlier = None;
        let state = self.joint.step(Action::ReadWrite, place, |state| match state {
            State::Running(waiter) => {
                earlier = waiter.replace(waker);
                None
            }
            _ => Some(std::mem::replace(state, State::Taken)),
        });
        drop(earlier);
        match state {
            None => {
                known::awaits(place);
                Poll::Pending
            }
            Some(State::Ready(output)) => Poll::Ready(Ok(output)),
            Some(State::Cancelled) => Poll::Ready(Err(JoinError(Failure::Cancelled))),
            Some(State::Panicked) => {
                self.task.panic_is_told();
                let payload = self.task.join(place).expect_err("the task has panicked");
                Poll::Ready(Err(JoinError(Failure::Panic(Mutex::new(payload)))))
            }
            Some(State::Running(_) | State::Taken) => panic!("a JoinHandle was polled after it was ready"),
        }
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("JoinHandle").field("task", &self.task).finish_non_exhaustive()
    }
}

trait Ended {
    /// Whether the task has ended.
    fn has_ended(&self, place: Place) -> bool;
}

impl<T> Ended for Joint<T> {
    fn has_ended(&self, place: Place) -> bool {
        self.step(Action::Read, place, |state| !matches!(state, State::Running(_)))
    }
}

/// Aborts a task: see [`JoinHandle::abort`].
#[derive(Clone)]
pub struct AbortHandle {
    task: Arc<Task>,
    joint: Arc<dyn Ended + Send + Sync>,
}

impl AbortHandle {
    /// As [`JoinHandle::abort`].
    pub fn abort(&self) {
        self.task.cancel();
    }

    /// As [`JoinHandle::is_finished`].
    #[must_use]
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        self.joint.has_ended(Location::caller())
    }
}

impl fmt::Debug for AbortHandle {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("AbortHandle").field("task", &self.task).finish_non_exhaustive()
    }
}

/// Why a task has no result.
pub struct JoinError(Failure);

enum Failure {
    Cancelled,
    /// In a mutex, so that the error can be shared.
    Panic(Mutex<Box<dyn Any + Send>>),
}

impl JoinError {
    /// Whether the future was dropped before it was ready.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        matches!(self.0, Failure::Cancelled)
    }

    /// Whether the future panicked.
    #[must_use]
    pub fn is_panic(&self) -> bool {
        matches!(self.0, Failure::Panic(_))
    }

    /// The payload of the panic.
    ///
    /// # Panics
    /// If the future was cancelled.
    #[must_use]
    #[track_caller]
    pub fn into_panic(self) -> Box<dyn Any + Send> {
        self.try_into_panic().expect("the task was cancelled and did not panic")
    }

    /// The payload of the panic.
    ///
    /// # Errors
    /// The error itself, if the future was cancelled.
    pub fn try_into_panic(self) -> Result<Box<dyn Any + Send>, JoinError> {
        match self.0 {
            Failure::Panic(payload) => Ok(payload.into_inner().unwrap_or_else(PoisonError::into_inner)),
            Failure::Cancelled => Err(self),
        }
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Failure::Cancelled => out.write_str("the task was cancelled"),
            Failure::Panic(payload) => {
                let payload = payload.lock().unwrap_or_else(PoisonError::into_inner);
                write!(out, "the task panicked: {}", message(&**payload))
            }
        }
    }
}

impl fmt::Debug for JoinError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "JoinError({self})")
    }
}

impl std::error::Error for JoinError {}
