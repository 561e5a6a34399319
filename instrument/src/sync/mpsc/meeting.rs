//! A channel without a buffer: the sender and the receiver meet.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::runtime::{Count, Current, ObjectId, ObjectKind, Operation};

/// Which tasks wait to meet. Used only inside steps.
pub(super) struct Meeting<T>(Mutex<State<T>>);

struct State<T> {
    /// The messages of the waiting senders in order, each with the queue in which its sender waits.
    offers: VecDeque<(ObjectId, T)>,
    /// The receiver waits.
    awaited: bool,
    /// What a sender has given to the waiting receiver.
    handed: Option<T>,
    /// The receiver is gone.
    left: bool,
}

/// The receiver waits while this value lives.
pub(super) struct Awaited<'a, T>(&'a Meeting<T>);

impl<T> Drop for Awaited<'_, T> {
    fn drop(&mut self) {
        self.0.state().awaited = false;
    }
}

impl<T> Meeting<T> {
    pub(super) fn new() -> Meeting<T> {
        Meeting(Mutex::new(State { offers: VecDeque::new(), awaited: false, handed: None, left: false }))
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the message to the receiver, if the receiver waits.
    pub(super) fn hand(&self, message: T) -> Result<(), T> {
        let mut state = self.state();
        if !state.awaited || state.handed.is_some() {
            return Err(message);
        }
        state.handed = Some(message);
        Ok(())
    }

    /// Waits until the receiver takes the message, or is gone. Part of the current step.
    pub(super) fn offer(&self, current: &Current<'_>, operation: Operation, message: T) -> Result<(), T> {
        struct Withdraw<'a, T>(&'a Meeting<T>, ObjectId);
        impl<T> Withdraw<'_, T> {
            fn is_open(&self) -> bool {
                let state = self.0.state();
                !state.left && state.offers.iter().any(|offer| offer.0 == self.1)
            }
        }
        impl<T> Drop for Withdraw<'_, T> {
            fn drop(&mut self) {
                drop(self.0.withdraw(self.1));
            }
        }
        let queue = current.runtime().register(ObjectKind::Channel);
        self.state().offers.push_back((queue, message));
        let withdraw = Withdraw(self, queue);
        while withdraw.is_open() {
            current.runtime().block(queue, None, operation);
        }
        self.withdraw(queue).map_or(Ok(()), Err)
    }

    fn withdraw(&self, queue: ObjectId) -> Option<T> {
        let mut state = self.state();
        let position = state.offers.iter().position(|offer| offer.0 == queue)?;
        state.offers.remove(position).map(|(_, message)| message)
    }

    /// A message for the receiver. Lets its sender go on: std does not say which sender, so this is a decision.
    pub(super) fn take(&self, current: &Current<'_>) -> Option<T> {
        let mut state = self.state();
        if let Some(message) = state.handed.take() {
            return Some(message);
        }
        let offers = state.offers.len();
        if offers == 0 {
            return None;
        }
        // Nothing happens between: the offers stay.
        drop(state);
        let first = current.runtime().choose(offers as u32) as usize;
        let (queue, message) = self.state().offers.remove(first)?;
        current.runtime().wake(queue, Count::All);
        Some(message)
    }

    /// The receiver waits from now on.
    pub(super) fn await_sender(&self) -> Awaited<'_, T> {
        self.state().awaited = true;
        Awaited(self)
    }

    /// The receiver is gone: all senders look again.
    pub(super) fn leave(&self, current: &Current<'_>) {
        let mut state = self.state();
        state.left = true;
        let queues: Vec<ObjectId> = state.offers.iter().map(|offer| offer.0).collect();
        drop(state);
        for queue in queues {
            current.runtime().wake(queue, Count::All);
        }
    }
}
