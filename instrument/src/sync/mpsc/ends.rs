//! The two ends of a channel.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};
use std::time::Duration;

use super::meeting::Meeting;
use crate::control;
use crate::runtime::{self, Action, Count, Current, Handle, ObjectId, ObjectKind, Operation, Place};

/// As [`std::sync::mpsc::channel`].
#[must_use]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let (channel, (sender, receiver)) = (Arc::new(Channel::new(None)), mpsc::channel());
    (Sender::new(sender, channel.clone()), Receiver::new(receiver, channel))
}

/// As [`std::sync::mpsc::sync_channel`].
#[must_use]
pub fn sync_channel<T>(bound: usize) -> (SyncSender<T>, Receiver<T>) {
    let meeting = (bound == 0).then(Meeting::new);
    let (channel, (sender, receiver)) = (Arc::new(Channel::new(meeting)), mpsc::sync_channel(bound));
    (SyncSender::new(sender, channel.clone()), Receiver::new(receiver, channel))
}

/// Mirrors [`std::sync::mpsc::Sender`].
pub struct Sender<T> {
    announce: Announce<T>,
    inner: mpsc::Sender<T>,
    wake: Wake<T>,
}

/// Mirrors [`std::sync::mpsc::SyncSender`].
pub struct SyncSender<T> {
    announce: Announce<T>,
    inner: mpsc::SyncSender<T>,
    wake: Wake<T>,
}

/// Mirrors [`std::sync::mpsc::Receiver`].
pub struct Receiver<T> {
    announce: Announce<T>,
    inner: mpsc::Receiver<T>,
    _leave: Leave<T>,
}

/// What the ends share under control.
struct Channel<T> {
    handle: Handle,
    /// For a channel without a buffer.
    meeting: Option<Meeting<T>>,
}

/// The first part of an end: dropping it is a step.
struct Announce<T>(Arc<Channel<T>>);

/// The last part of a sender: when it is gone, the receiver looks again.
struct Wake<T>(Arc<Channel<T>>);

/// The last part of the receiver: when it is gone, all senders look again.
struct Leave<T>(Arc<Channel<T>>);

impl<T> Channel<T> {
    fn new(meeting: Option<Meeting<T>>) -> Channel<T> {
        Channel { handle: Handle::new(), meeting }
    }

    fn object(&self, current: &Current<'_>) -> ObjectId {
        self.handle.object(current, ObjectKind::Channel)
    }

    /// A step on the channel.
    fn step(&self, current: &Current<'_>, location: Place) -> Operation {
        let operation = Operation { object: self.object(current), action: Action::ReadWrite, location };
        current.runtime().step(operation);
        operation
    }

    /// The waiting task looks again: part of the current step.
    fn wake(&self, current: &Current<'_>) {
        current.runtime().wake(self.object(current), Count::All);
    }
}

impl<T> Drop for Announce<T> {
    #[track_caller]
    fn drop(&mut self) {
        let location = Location::caller();
        runtime::with(|current| self.0.step(&current, location));
    }
}

impl<T> Drop for Wake<T> {
    fn drop(&mut self) {
        runtime::with(|current| self.0.wake(&current));
    }
}

impl<T> Drop for Leave<T> {
    fn drop(&mut self) {
        runtime::with(|current| {
            self.0.wake(&current);
            if let Some(meeting) = &self.0.meeting {
                meeting.leave(&current);
            }
        });
    }
}

impl<T> Sender<T> {
    fn new(inner: mpsc::Sender<T>, channel: Arc<Channel<T>>) -> Sender<T> {
        Sender { announce: Announce(channel.clone()), inner, wake: Wake(channel) }
    }

    /// As [`std::sync::mpsc::Sender::send`].
    ///
    /// # Errors
    /// The message, when the receiver is gone.
    #[track_caller]
    pub fn send(&self, t: T) -> Result<(), SendError<T>> {
        let location = Location::caller();
        let send = |current: Current<'_>, t| {
            self.wake.0.step(&current, location);
            self.inner.send(t)?;
            self.wake.0.wake(&current);
            Ok(())
        };
        control::either(t, send, |t| self.inner.send(t))
    }
}

impl<T> SyncSender<T> {
    fn new(inner: mpsc::SyncSender<T>, channel: Arc<Channel<T>>) -> SyncSender<T> {
        SyncSender { announce: Announce(channel.clone()), inner, wake: Wake(channel) }
    }

    /// As [`std::sync::mpsc::SyncSender::send`].
    ///
    /// # Errors
    /// The message, when the receiver is gone.
    #[track_caller]
    pub fn send(&self, t: T) -> Result<(), SendError<T>> {
        let location = Location::caller();
        let send = |current: Current<'_>, t| self.send_under_control(&current, t, location).map_err(SendError);
        control::either(t, send, |t| self.inner.send(t))
    }

    /// As [`std::sync::mpsc::SyncSender::try_send`].
    ///
    /// # Errors
    /// The message, when there is no room for it or the receiver is gone.
    #[track_caller]
    pub fn try_send(&self, t: T) -> Result<(), TrySendError<T>> {
        let location = Location::caller();
        let try_send = |current: Current<'_>, t| {
            self.wake.0.step(&current, location);
            let sent = self.try_send_here(&current, t);
            if sent.is_err() {
                current.runtime().only_read();
            }
            sent
        };
        control::either(t, try_send, |t| self.inner.try_send(t))
    }

    fn send_under_control(&self, current: &Current<'_>, mut message: T, location: Place) -> Result<(), T> {
        let operation = self.wake.0.step(current, location);
        loop {
            message = match self.try_send_here(current, message) {
                Ok(()) => return Ok(()),
                Err(TrySendError::Disconnected(message)) => return Err(message),
                Err(TrySendError::Full(message)) => message,
            };
            if let Some(meeting) = &self.wake.0.meeting {
                return meeting.offer(current, operation, message);
            }
            current.runtime().block(operation.object, None, operation);
        }
    }

    fn try_send_here(&self, current: &Current<'_>, message: T) -> Result<(), TrySendError<T>> {
        match (self.inner.try_send(message), &self.wake.0.meeting) {
            (Err(TrySendError::Full(message)), Some(meeting)) => meeting.hand(message).map_err(TrySendError::Full)?,
            (sent, _) => sent?,
        }
        self.wake.0.wake(current);
        Ok(())
    }
}

impl<T> Receiver<T> {
    fn new(inner: mpsc::Receiver<T>, channel: Arc<Channel<T>>) -> Receiver<T> {
        Receiver { announce: Announce(channel.clone()), inner, _leave: Leave(channel) }
    }

    /// As [`std::sync::mpsc::Receiver::try_recv`].
    ///
    /// # Errors
    /// When there is no message now, or there will never be one.
    #[track_caller]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        let location = Location::caller();
        let try_recv = |current: Current<'_>, ()| {
            self.announce.0.step(&current, location);
            let received = self.try_recv_here(&current);
            if received.is_err() {
                current.runtime().only_read();
            }
            received
        };
        control::either((), try_recv, |()| self.inner.try_recv())
    }

    /// As [`std::sync::mpsc::Receiver::recv`].
    ///
    /// # Errors
    /// When there will never be a message.
    #[track_caller]
    pub fn recv(&self) -> Result<T, RecvError> {
        let location = Location::caller();
        let recv = |current: Current<'_>, ()| self.recv_under_control(&current, None, location).map_err(|_| RecvError);
        control::either((), recv, |()| self.inner.recv())
    }

    /// As [`std::sync::mpsc::Receiver::recv_timeout`].
    ///
    /// # Errors
    /// When there is no message in time, or there will never be one.
    #[track_caller]
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        let location = Location::caller();
        let recv = |current: Current<'_>, ()| self.recv_under_control(&current, Some(timeout), location);
        control::either((), recv, |()| self.inner.recv_timeout(timeout))
    }

    fn recv_under_control(
        &self,
        current: &Current<'_>,
        timeout: Option<Duration>,
        location: Place,
    ) -> Result<T, RecvTimeoutError> {
        let runtime = current.runtime();
        let deadline = timeout.map(|timeout| runtime.now().saturating_add(timeout));
        let operation = self.announce.0.step(current, location);
        loop {
            match self.try_recv_here(current) {
                Ok(message) => return Ok(message),
                Err(TryRecvError::Disconnected) => return Err(RecvTimeoutError::Disconnected),
                Err(TryRecvError::Empty) => {}
            }
            let left = deadline.map(|deadline| deadline.saturating_sub(runtime.now()));
            if left == Some(Duration::ZERO) {
                return Err(RecvTimeoutError::Timeout);
            }
            let _awaits = self.announce.0.meeting.as_ref().map(Meeting::await_sender);
            runtime.block(operation.object, left, operation);
        }
    }

    fn try_recv_here(&self, current: &Current<'_>) -> Result<T, TryRecvError> {
        if let Some(message) = self.announce.0.meeting.as_ref().and_then(|meeting| meeting.take(current)) {
            return Ok(message);
        }
        let message = self.inner.try_recv()?;
        self.announce.0.wake(current);
        Ok(message)
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Sender<T> {
        Sender::new(self.inner.clone(), self.announce.0.clone())
    }
}

impl<T> Clone for SyncSender<T> {
    fn clone(&self) -> SyncSender<T> {
        SyncSender::new(self.inner.clone(), self.announce.0.clone())
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for SyncSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SyncSender").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}
