//! `Sender`.

use std::fmt;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use interloper_std::runtime::{self, Action, Current, ObjectId, Place};
use interloper_std::time::Instant;

use crate::case::Case;
use crate::flow::Flow;
use crate::meeting::{Side, Waited};
use crate::wait::{Deadline, Token};
use crate::{SendError, SendTimeoutError, TrySendError};

/// Mirrors [`crossbeam_channel::Sender`].
pub struct Sender<T> {
    pub(crate) inner: crossbeam_channel::Sender<T>,
    pub(crate) flow: Arc<Flow<T>>,
}

impl<T> UnwindSafe for Sender<T> {}
impl<T> RefUnwindSafe for Sender<T> {}

impl<T> Sender<T> {
    pub(crate) fn new(inner: crossbeam_channel::Sender<T>, flow: Arc<Flow<T>>) -> Sender<T> {
        Sender { inner, flow }
    }

    /// As [`crossbeam_channel::Sender::try_send`].
    ///
    /// # Errors
    /// The message, when there is no room for it or every receiver is gone.
    #[track_caller]
    pub fn try_send(&self, msg: T) -> Result<(), TrySendError<T>> {
        let location = Location::caller();
        either(msg, |current, msg| self.try_send_step(&current, msg, location), |msg| self.inner.try_send(msg))
    }

    /// As [`crossbeam_channel::Sender::send`].
    ///
    /// # Errors
    /// The message, when every receiver is gone.
    #[track_caller]
    pub fn send(&self, msg: T) -> Result<(), SendError<T>> {
        let location = Location::caller();
        let send = |current: Current<'_>, msg| {
            self.send_at_most(&current, msg, None, location).map_err(|error| SendError(error.into_inner()))
        };
        either(msg, send, |msg| self.inner.send(msg))
    }

    /// As [`crossbeam_channel::Sender::send_timeout`].
    ///
    /// # Errors
    /// The message, when there is no room for it in time or every receiver is gone.
    #[track_caller]
    pub fn send_timeout(&self, msg: T, timeout: Duration) -> Result<(), SendTimeoutError<T>> {
        let location = Location::caller();
        let send = |current: Current<'_>, msg| self.send_at_most(&current, msg, Some(timeout), location);
        either(msg, send, |msg| self.inner.send_timeout(msg, timeout))
    }

    /// As [`crossbeam_channel::Sender::send_deadline`].
    ///
    /// # Errors
    /// The message, when there is no room for it in time or every receiver is gone.
    #[track_caller]
    pub fn send_deadline(&self, msg: T, deadline: Instant) -> Result<(), SendTimeoutError<T>> {
        self.send_timeout(msg, deadline.saturating_duration_since(Instant::now()))
    }

    /// As [`crossbeam_channel::Sender::is_empty`].
    #[track_caller]
    pub fn is_empty(&self) -> bool {
        self.look(Location::caller());
        self.inner.is_empty()
    }

    /// As [`crossbeam_channel::Sender::is_full`].
    #[track_caller]
    pub fn is_full(&self) -> bool {
        self.look(Location::caller());
        self.inner.is_full()
    }

    /// As [`crossbeam_channel::Sender::len`].
    #[track_caller]
    pub fn len(&self) -> usize {
        self.look(Location::caller());
        self.inner.len()
    }

    /// As [`crossbeam_channel::Sender::capacity`].
    pub fn capacity(&self) -> Option<usize> {
        self.inner.capacity()
    }

    /// As [`crossbeam_channel::Sender::same_channel`].
    pub fn same_channel(&self, other: &Sender<T>) -> bool {
        self.inner.same_channel(&other.inner)
    }

    fn look(&self, location: Place) {
        runtime::with(|current| self.flow.step(&current, Action::Read, location));
    }

    fn try_send_step(&self, current: &Current<'_>, msg: T, location: Place) -> Result<(), TrySendError<T>> {
        self.flow.step(current, Action::ReadWrite, location);
        let sent = self.try_send_here(current, msg);
        if sent.is_err() {
            current.runtime().only_read();
        }
        sent
    }

    fn try_send_here(&self, current: &Current<'_>, msg: T) -> Result<(), TrySendError<T>> {
        if self.flow.nobody_receives() {
            return Err(TrySendError::Disconnected(msg));
        }
        if self.flow.meets() {
            return match self.flow.meeting.meet(current, Side::Receivers, None) {
                Some(deal) => {
                    deal.give(current, msg);
                    Ok(())
                }
                None => Err(TrySendError::Full(msg)),
            };
        }
        if !self.flow.has_room(self.inner.len()) {
            return Err(TrySendError::Full(msg));
        }
        self.inner.try_send(msg)?;
        self.flow.changed(current);
        Ok(())
    }

    fn send_at_most(
        &self,
        current: &Current<'_>,
        mut msg: T,
        timeout: Option<Duration>,
        location: Place,
    ) -> Result<(), SendTimeoutError<T>> {
        let deadline = Deadline::after(current, timeout);
        let operation = self.flow.step(current, Action::ReadWrite, location);
        loop {
            msg = match self.try_send_here(current, msg) {
                Ok(()) => return Ok(()),
                Err(TrySendError::Disconnected(msg)) => return Err(SendTimeoutError::Disconnected(msg)),
                Err(TrySendError::Full(msg)) => msg,
            };
            if self.flow.meets() {
                break;
            }
            if deadline.has_passed(current) {
                return Err(SendTimeoutError::Timeout(msg));
            }
            current.runtime().block(operation.object, deadline.left(current), operation);
        }
        let (meeting, token) = (&self.flow.meeting, Token::new(current));
        meeting.enlist(Side::Senders, &token, 0, Some(msg));
        self.flow.changed(current);
        let gone = || self.flow.nobody_receives();
        let waited = meeting.wait(current, (Side::Senders, &token), operation, deadline, gone);
        let left = meeting.delist(Side::Senders, &token);
        match (waited, left) {
            (Waited::TimedOut, Some(msg)) => Err(SendTimeoutError::Timeout(msg)),
            (Waited::Gone, Some(msg)) => Err(SendTimeoutError::Disconnected(msg)),
            _ => {
                drop(meeting.deal(&token));
                Ok(())
            }
        }
    }

    /// Completes the operation of a selection.
    pub(crate) fn send_selected(
        &self,
        current: &Current<'_>,
        token: &Arc<Token>,
        msg: T,
        location: Place,
    ) -> Result<(), SendError<T>> {
        self.flow.step(current, Action::ReadWrite, location);
        if let Some(deal) = self.flow.meeting.deal(token) {
            deal.give(current, msg);
            return Ok(());
        }
        self.flow.use_promised_room(token);
        self.try_send_here(current, msg).map_err(|error| SendError(error.into_inner()))
    }
}

impl<T> Case for Sender<T> {
    fn step(&self, current: &Current<'_>, action: Action, location: Place) -> ObjectId {
        self.flow.step(current, action, location).object
    }

    fn is_ready(&self, _: &Current<'_>, token: &Arc<Token>) -> bool {
        self.flow.nobody_receives()
            || match self.flow.meets() {
                true => self.flow.meeting.has(Side::Receivers, token),
                false => self.flow.has_room(self.inner.len()),
            }
    }

    fn reserve(&self, current: &Current<'_>, token: &Arc<Token>) -> bool {
        if self.flow.nobody_receives() {
            return true;
        }
        if self.flow.meets() {
            let deal = self.flow.meeting.meet(current, Side::Receivers, Some(token));
            return deal.map(|deal| self.flow.meeting.keep(token, deal)).is_some();
        }
        let has_room = self.flow.has_room(self.inner.len());
        if has_room {
            self.flow.promise_room(token);
        }
        has_room
    }

    fn enlist(&self, current: &Current<'_>, token: &Arc<Token>, case: Option<usize>) {
        if let (true, Some(case)) = (self.flow.meets(), case) {
            self.flow.meeting.enlist(Side::Senders, token, case, None);
            self.flow.changed(current);
        }
        self.flow.watch(token);
    }

    fn delist(&self, token: &Arc<Token>) {
        self.flow.unwatch(token);
        self.flow.meeting.delist(Side::Senders, token);
    }

    fn left(&self, _: &Current<'_>) -> Option<Duration> {
        None
    }
}

impl<T> Drop for Sender<T> {
    #[track_caller]
    fn drop(&mut self) {
        /// Runs even if the step unwinds.
        struct Leave<'a, T>(&'a Flow<T>);
        impl<T> Drop for Leave<'_, T> {
            fn drop(&mut self) {
                if self.0.senders.fetch_sub(1, Ordering::Relaxed) == 1 {
                    runtime::with(|current| self.0.end_is_gone(&current));
                }
            }
        }
        let (location, leave) = (Location::caller(), Leave(&self.flow));
        runtime::with(|current| leave.0.step(&current, Action::ReadWrite, location));
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Sender<T> {
        self.flow.senders.fetch_add(1, Ordering::Relaxed);
        Sender::new(self.inner.clone(), self.flow.clone())
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Sender { .. }")
    }
}

/// Calls `controlled` in a controlled run and `otherwise` outside a run.
pub(crate) fn either<I, R>(
    input: I,
    controlled: impl FnOnce(Current<'_>, I) -> R,
    otherwise: impl FnOnce(I) -> R,
) -> R {
    if runtime::is_controlled() {
        runtime::with(|current| controlled(current, input)).expect("this thread is controlled")
    } else {
        otherwise(input)
    }
}
