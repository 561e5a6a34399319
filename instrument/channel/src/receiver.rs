//! `Receiver`.

use std::fmt;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use interloper_std::runtime::{self, Action, Current, ObjectId, Place};
use interloper_std::time::Instant;

use crate::case::Case;
use crate::clock::{Clock, Controlled, Kind};
use crate::flow::Flow;
use crate::meeting::{Side, Waited};
use crate::sender::either;
use crate::wait::{Deadline, Token};
use crate::{RecvError, RecvTimeoutError, TryRecvError};

/// Mirrors [`crossbeam_channel::Receiver`].
pub struct Receiver<T> {
    pub(crate) source: Source<T>,
}

/// Where messages come from.
pub(crate) enum Source<T> {
    Queue(Queue<T>),
    Clock(Clock<T>),
    Never(crossbeam_channel::Receiver<T>),
}

/// The end of a channel that has senders.
pub(crate) struct Queue<T> {
    pub(crate) inner: crossbeam_channel::Receiver<T>,
    pub(crate) flow: Arc<Flow<T>>,
}

impl<T> UnwindSafe for Receiver<T> {}
impl<T> RefUnwindSafe for Receiver<T> {}

impl<T> Receiver<T> {
    pub(crate) fn of_queue(inner: crossbeam_channel::Receiver<T>, flow: Arc<Flow<T>>) -> Receiver<T> {
        Receiver { source: Source::Queue(Queue { inner, flow }) }
    }

    pub(crate) fn of_clock(clock: Clock<T>) -> Receiver<T> {
        Receiver { source: Source::Clock(clock) }
    }

    pub(crate) fn of_never(inner: crossbeam_channel::Receiver<T>) -> Receiver<T> {
        Receiver { source: Source::Never(inner) }
    }

    /// As [`crossbeam_channel::Receiver::try_recv`].
    ///
    /// # Errors
    /// When there is no message now, or there will never be one.
    #[track_caller]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        let location = Location::caller();
        match &self.source {
            Source::Queue(queue) => {
                either((), |current, ()| queue.try_recv_step(&current, location), |()| queue.inner.try_recv())
            }
            Source::Never(inner) => inner.try_recv(),
            Source::Clock(clock) => match &clock.kind {
                Kind::Real(inner) => inner.try_recv().map(Instant::from),
                Kind::Controlled(controlled) => {
                    let take = |current: Current<'_>| {
                        controlled.step(&current, Action::ReadWrite, location);
                        controlled.take(&current)
                    };
                    runtime::with(take).flatten().ok_or(TryRecvError::Empty)
                }
            }
            .map(|instant| clock.convert(instant)),
        }
    }

    /// As [`crossbeam_channel::Receiver::recv`].
    ///
    /// # Errors
    /// When there will never be a message.
    #[track_caller]
    pub fn recv(&self) -> Result<T, RecvError> {
        self.recv_at_most(None, Location::caller()).map_err(|_| RecvError)
    }

    /// As [`crossbeam_channel::Receiver::recv_timeout`].
    ///
    /// # Errors
    /// When there is no message in time, or there will never be one.
    #[track_caller]
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        self.recv_at_most(Some(timeout), Location::caller())
    }

    /// As [`crossbeam_channel::Receiver::recv_deadline`].
    ///
    /// # Errors
    /// When there is no message in time, or there will never be one.
    #[track_caller]
    pub fn recv_deadline(&self, deadline: Instant) -> Result<T, RecvTimeoutError> {
        self.recv_at_most(Some(deadline.saturating_duration_since(Instant::now())), Location::caller())
    }

    /// As [`crossbeam_channel::Receiver::is_empty`].
    #[track_caller]
    pub fn is_empty(&self) -> bool {
        self.len_at(Location::caller()) == 0
    }

    /// As [`crossbeam_channel::Receiver::is_full`].
    #[track_caller]
    pub fn is_full(&self) -> bool {
        self.capacity() == Some(self.len_at(Location::caller()))
    }

    /// As [`crossbeam_channel::Receiver::len`].
    #[track_caller]
    pub fn len(&self) -> usize {
        self.len_at(Location::caller())
    }

    /// As [`crossbeam_channel::Receiver::capacity`].
    pub fn capacity(&self) -> Option<usize> {
        match &self.source {
            Source::Queue(queue) => queue.inner.capacity(),
            Source::Never(inner) => inner.capacity(),
            Source::Clock(_) => Some(1),
        }
    }

    /// As [`crossbeam_channel::Receiver::same_channel`].
    pub fn same_channel(&self, other: &Receiver<T>) -> bool {
        match (&self.source, &other.source) {
            (Source::Queue(one), Source::Queue(other)) => one.inner.same_channel(&other.inner),
            (Source::Clock(one), Source::Clock(other)) => one.same(other),
            (Source::Never(one), Source::Never(other)) => one.same_channel(other),
            _ => false,
        }
    }

    fn len_at(&self, location: Place) -> usize {
        match &self.source {
            Source::Queue(queue) => {
                runtime::with(|current| queue.flow.step(&current, Action::Read, location));
                queue.inner.len()
            }
            Source::Never(inner) => inner.len(),
            Source::Clock(clock) => match &clock.kind {
                Kind::Real(inner) => inner.len(),
                Kind::Controlled(controlled) => {
                    let look = |current: Current<'_>| {
                        controlled.step(&current, Action::Read, location);
                        usize::from(controlled.is_due(&current))
                    };
                    runtime::with(look).unwrap_or(0)
                }
            },
        }
    }

    fn recv_at_most(&self, timeout: Option<Duration>, location: Place) -> Result<T, RecvTimeoutError> {
        match &self.source {
            Source::Queue(queue) => either(
                (),
                |current, ()| queue.recv_at_most(&current, timeout, location),
                |()| recv_really(&queue.inner, timeout),
            ),
            Source::Never(inner) => {
                if runtime::is_controlled() {
                    wait_for_nothing(timeout, location)
                } else {
                    recv_really(inner, timeout)
                }
            }
            Source::Clock(clock) => match &clock.kind {
                Kind::Real(inner) => recv_really(inner, timeout).map(Instant::from),
                Kind::Controlled(controlled) => recv_tick(controlled, timeout, location),
            }
            .map(|instant| clock.convert(instant)),
        }
    }

    /// Completes the operation of a selection outside a controlled run.
    pub(crate) fn recv_really_selected(
        &self,
        operation: crossbeam_channel::SelectedOperation<'_>,
    ) -> Result<T, RecvError> {
        match &self.source {
            Source::Queue(queue) => operation.recv(&queue.inner),
            Source::Never(inner) => operation.recv(inner),
            Source::Clock(clock) => match &clock.kind {
                Kind::Real(inner) => operation.recv(inner).map(|instant| clock.convert(instant.into())),
                Kind::Controlled(controlled) => operation.recv(&controlled.never).and(Err(RecvError)),
            },
        }
    }

    /// Completes the operation of a selection.
    pub(crate) fn recv_selected(
        &self,
        current: &Current<'_>,
        token: &Arc<Token>,
        location: Place,
    ) -> Result<T, RecvError> {
        match &self.source {
            Source::Queue(queue) => queue.recv_selected(current, token, location),
            Source::Never(_) => Err(RecvError),
            Source::Clock(clock) => match &clock.kind {
                Kind::Real(inner) => inner.recv().map(Instant::from),
                Kind::Controlled(controlled) => controlled.promised(token.queue).ok_or(RecvError),
            }
            .map(|instant| clock.convert(instant)),
        }
    }
}

fn recv_really<T>(inner: &crossbeam_channel::Receiver<T>, timeout: Option<Duration>) -> Result<T, RecvTimeoutError> {
    match timeout {
        None => inner.recv().map_err(|_| RecvTimeoutError::Disconnected),
        Some(timeout) => inner.recv_timeout(timeout),
    }
}

/// Waits until the time has passed.
fn wait_for_nothing<T>(timeout: Option<Duration>, location: Place) -> Result<T, RecvTimeoutError> {
    let wait = |current: Current<'_>| {
        let (token, deadline) = (Token::new(&current), Deadline::after(&current, timeout));
        let look = runtime::Operation { object: token.queue, action: Action::Read, location };
        current.runtime().step(look);
        while !deadline.has_passed(&current) && !(current.runtime().has_ended()) {
            token.block(&current, deadline.left(&current), look);
        }
    };
    runtime::with(wait);
    Err(RecvTimeoutError::Timeout)
}

fn recv_tick(clock: &Controlled, timeout: Option<Duration>, location: Place) -> Result<Instant, RecvTimeoutError> {
    let recv = |current: Current<'_>| {
        let (token, deadline) = (Token::new(&current), Deadline::after(&current, timeout));
        let operation = clock.step(&current, Action::ReadWrite, location);
        loop {
            if let Some(instant) = clock.take(&current) {
                return Ok(instant);
            }
            if deadline.has_passed(&current) || current.runtime().has_ended() {
                return Err(RecvTimeoutError::Timeout);
            }
            let left = [clock.left(&current), deadline.left(&current)].into_iter().flatten().min();
            token.block(&current, left, operation);
        }
    };
    runtime::with(recv).unwrap_or(Err(RecvTimeoutError::Timeout))
}

impl<T> Queue<T> {
    fn try_recv_step(&self, current: &Current<'_>, location: Place) -> Result<T, TryRecvError> {
        self.flow.step(current, Action::ReadWrite, location);
        let received = self.try_recv_here(current, location);
        if received.is_err() {
            current.runtime().only_read();
        }
        received
    }

    fn try_recv_here(&self, current: &Current<'_>, location: Place) -> Result<T, TryRecvError> {
        if self.flow.meets() {
            if let Some(deal) = self.flow.meeting.meet(current, Side::Senders, None) {
                let (token, object) = (Token::new(current), self.flow.object(current));
                let then = runtime::Operation { object, action: Action::ReadWrite, location };
                return Ok(deal.take(current, &token, then));
            }
            let gone = self.flow.nobody_sends();
            return Err(if gone { TryRecvError::Disconnected } else { TryRecvError::Empty });
        }
        let message = self.inner.try_recv()?;
        self.flow.changed(current);
        Ok(message)
    }

    fn recv_at_most(
        &self,
        current: &Current<'_>,
        timeout: Option<Duration>,
        location: Place,
    ) -> Result<T, RecvTimeoutError> {
        let deadline = Deadline::after(current, timeout);
        let operation = self.flow.step(current, Action::ReadWrite, location);
        loop {
            match self.try_recv_here(current, location) {
                Ok(message) => return Ok(message),
                Err(TryRecvError::Disconnected) => return Err(RecvTimeoutError::Disconnected),
                Err(TryRecvError::Empty) => {}
            }
            if self.flow.meets() {
                break;
            }
            if deadline.has_passed(current) {
                return Err(RecvTimeoutError::Timeout);
            }
            current.runtime().block(operation.object, deadline.left(current), operation);
        }
        let (meeting, token) = (&self.flow.meeting, Token::new(current));
        meeting.enlist(Side::Receivers, &token, 0, None);
        self.flow.changed(current);
        let gone = || self.flow.nobody_sends();
        let waited = meeting.wait(current, (Side::Receivers, &token), operation, deadline, gone);
        meeting.delist(Side::Receivers, &token);
        match waited {
            Waited::Met => {
                let deal = meeting.deal(&token).expect("who was met has a deal");
                Ok(deal.take(current, &token, operation))
            }
            Waited::Gone => Err(RecvTimeoutError::Disconnected),
            Waited::TimedOut => Err(RecvTimeoutError::Timeout),
        }
    }

    fn recv_selected(&self, current: &Current<'_>, token: &Arc<Token>, location: Place) -> Result<T, RecvError> {
        let operation = self.flow.step(current, Action::ReadWrite, location);
        if let Some(deal) = self.flow.meeting.deal(token) {
            return Ok(deal.take(current, token, operation));
        }
        self.flow.promised_message(token).ok_or(RecvError)
    }
}

impl<T> Case for Receiver<T> {
    fn step(&self, current: &Current<'_>, action: Action, location: Place) -> ObjectId {
        match &self.source {
            Source::Queue(queue) => queue.flow.step(current, action, location).object,
            Source::Clock(Clock { kind: Kind::Controlled(clock), .. }) => clock.step(current, action, location).object,
            // No other task can change this.
            Source::Clock(_) | Source::Never(_) => current.runtime().register(runtime::ObjectKind::Channel),
        }
    }

    fn is_ready(&self, current: &Current<'_>, token: &Arc<Token>) -> bool {
        match &self.source {
            Source::Queue(queue) if queue.flow.meets() => {
                queue.flow.nobody_sends() || queue.flow.meeting.has(Side::Senders, token)
            }
            Source::Queue(queue) => queue.flow.nobody_sends() || !queue.inner.is_empty(),
            Source::Clock(Clock { kind: Kind::Controlled(clock), .. }) => clock.is_due(current),
            Source::Clock(Clock { kind: Kind::Real(inner), .. }) => !inner.is_empty(),
            Source::Never(_) => false,
        }
    }

    fn reserve(&self, current: &Current<'_>, token: &Arc<Token>) -> bool {
        match &self.source {
            Source::Queue(queue) if queue.flow.meets() => {
                match queue.flow.meeting.meet(current, Side::Senders, Some(token)) {
                    Some(deal) => {
                        queue.flow.meeting.keep(token, deal);
                        true
                    }
                    None => queue.flow.nobody_sends(),
                }
            }
            Source::Queue(queue) => match queue.inner.try_recv() {
                Ok(message) => {
                    queue.flow.promise_message(token, message);
                    queue.flow.changed(current);
                    true
                }
                Err(error) => error.is_disconnected(),
            },
            Source::Clock(Clock { kind: Kind::Controlled(clock), .. }) => {
                clock.take(current).map(|instant| clock.promise(token.queue, instant)).is_some()
            }
            Source::Clock(Clock { kind: Kind::Real(inner), .. }) => !inner.is_empty(),
            Source::Never(_) => false,
        }
    }

    fn enlist(&self, current: &Current<'_>, token: &Arc<Token>, case: Option<usize>) {
        if let Source::Queue(queue) = &self.source {
            if let (true, Some(case)) = (queue.flow.meets(), case) {
                queue.flow.meeting.enlist(Side::Receivers, token, case, None);
                queue.flow.changed(current);
            }
            queue.flow.watch(token);
        }
    }

    fn delist(&self, token: &Arc<Token>) {
        if let Source::Queue(queue) = &self.source {
            queue.flow.unwatch(token);
            queue.flow.meeting.delist(Side::Receivers, token);
        }
    }

    fn left(&self, current: &Current<'_>) -> Option<Duration> {
        match &self.source {
            Source::Clock(Clock { kind: Kind::Controlled(clock), .. }) => clock.left(current),
            _ => None,
        }
    }
}

impl<T> Drop for Queue<T> {
    #[track_caller]
    fn drop(&mut self) {
        /// Runs even if the step unwinds.
        struct Leave<'a, T>(&'a Flow<T>);
        impl<T> Drop for Leave<'_, T> {
            fn drop(&mut self) {
                if self.0.receivers.fetch_sub(1, Ordering::Relaxed) == 1 {
                    runtime::with(|current| self.0.end_is_gone(&current));
                }
            }
        }
        let (location, leave) = (Location::caller(), Leave(&self.flow));
        runtime::with(|current| leave.0.step(&current, Action::ReadWrite, location));
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Receiver<T> {
        match &self.source {
            Source::Queue(queue) => {
                queue.flow.receivers.fetch_add(1, Ordering::Relaxed);
                Receiver::of_queue(queue.inner.clone(), queue.flow.clone())
            }
            Source::Clock(clock) => Receiver::of_clock(clock.clone()),
            Source::Never(inner) => Receiver::of_never(inner.clone()),
        }
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Receiver { .. }")
    }
}
