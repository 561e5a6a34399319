//! Channels whose messages come from the clock.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use interloper_std::runtime::{Action, Current, Handle, ObjectId, ObjectKind, Operation, Place};
use interloper_std::time::Instant;

use crate::wait::lock;

/// A clock that gives points in time, or a `T` for each.
pub(crate) struct Clock<T> {
    pub(crate) kind: Kind,
    convert: fn(Instant) -> T,
}

#[derive(Clone)]
pub(crate) enum Kind {
    Real(crossbeam_channel::Receiver<std::time::Instant>),
    Controlled(Arc<Controlled>),
}

/// A clock under control.
pub(crate) struct Controlled {
    handle: Handle,
    state: Mutex<State>,
    /// What a selection outside the run sees.
    pub(crate) never: crossbeam_channel::Receiver<()>,
}

struct State {
    /// When the next message comes, if there is one: the time since the start of the execution.
    next: Option<Duration>,
    period: Option<Duration>,
    /// The instants that were promised to selections.
    promised: Vec<(ObjectId, Instant)>,
}

impl Clock<Instant> {
    pub(crate) fn real(receiver: crossbeam_channel::Receiver<std::time::Instant>) -> Clock<Instant> {
        Clock { kind: Kind::Real(receiver), convert: |instant| instant }
    }

    pub(crate) fn controlled(next: Duration, period: Option<Duration>) -> Clock<Instant> {
        let state = Mutex::new(State { next: Some(next), period, promised: Vec::new() });
        let controlled = Controlled { handle: Handle::new(), state, never: crossbeam_channel::never() };
        Clock { kind: Kind::Controlled(Arc::new(controlled)), convert: |instant| instant }
    }
}

impl<T> Clock<T> {
    pub(crate) fn convert(&self, instant: Instant) -> T {
        (self.convert)(instant)
    }

    pub(crate) fn same(&self, other: &Clock<T>) -> bool {
        match (&self.kind, &other.kind) {
            (Kind::Real(one), Kind::Real(other)) => one.same_channel(other),
            (Kind::Controlled(one), Kind::Controlled(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }
}

impl<T> Clone for Clock<T> {
    fn clone(&self) -> Clock<T> {
        Clock { kind: self.kind.clone(), convert: self.convert }
    }
}

impl Controlled {
    pub(crate) fn step(&self, current: &Current<'_>, action: Action, location: Place) -> Operation {
        let object = self.handle.object(current, ObjectKind::Channel);
        let operation = Operation { object, action, location };
        current.runtime().step(operation);
        operation
    }

    /// The time until the next message; `None` if there will be none.
    pub(crate) fn left(&self, current: &Current<'_>) -> Option<Duration> {
        lock(&self.state).next.map(|next| next.saturating_sub(current.runtime().now()))
    }

    pub(crate) fn is_due(&self, current: &Current<'_>) -> bool {
        self.left(current) == Some(Duration::ZERO)
    }

    /// The message that is due.
    pub(crate) fn take(&self, current: &Current<'_>) -> Option<Instant> {
        if !self.is_due(current) {
            return None;
        }
        let (now, mut state) = (current.runtime().now(), lock(&self.state));
        let due = state.next.take()?;
        // As in the original: a tick that was not received does not come twice.
        state.next = state.period.map(|period| now.saturating_add(period));
        Some(Instant::now() - (now - due))
    }

    pub(crate) fn promise(&self, queue: ObjectId, instant: Instant) {
        lock(&self.state).promised.push((queue, instant));
    }

    pub(crate) fn promised(&self, queue: ObjectId) -> Option<Instant> {
        let promised = &mut lock(&self.state).promised;
        let position = promised.iter().position(|promised| promised.0 == queue)?;
        Some(promised.remove(position).1)
    }
}
