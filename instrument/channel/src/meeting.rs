//! A channel without a buffer: a sender and a receiver meet.

use std::sync::{Arc, Mutex};

use interloper_std::runtime::{Current, Operation};

use crate::wait::{Deadline, Token, lock};

/// The tasks that wait to meet, on either side. Used only inside steps.
pub(crate) struct Meeting<T> {
    senders: Mutex<Vec<Waiting<T>>>,
    receivers: Mutex<Vec<Waiting<T>>>,
    /// The deals of selections, by their tokens, until the selected operation is completed.
    deals: Mutex<Vec<Made<T>>>,
}

/// A deal, and the token of its selection.
type Made<T> = (Arc<Token>, Arc<Deal<T>>);

/// A task that waits to meet another one.
struct Waiting<T> {
    token: Arc<Token>,
    /// The case of its selection.
    case: usize,
    deal: Arc<Deal<T>>,
}

/// A message from a sender to a receiver that have met.
pub(crate) struct Deal<T> {
    message: Mutex<Option<T>>,
    /// The receiver.
    receiver: Mutex<Option<Arc<Token>>>,
}

/// The two sides.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Senders,
    Receivers,
}

impl<T> Meeting<T> {
    pub(crate) fn new() -> Meeting<T> {
        Meeting { senders: Mutex::new(Vec::new()), receivers: Mutex::new(Vec::new()), deals: Mutex::new(Vec::new()) }
    }

    fn side(&self, side: Side) -> &Mutex<Vec<Waiting<T>>> {
        match side {
            Side::Senders => &self.senders,
            Side::Receivers => &self.receivers,
        }
    }

    /// Whether another task waits on this side.
    pub(crate) fn has(&self, side: Side, own: &Arc<Token>) -> bool {
        lock(self.side(side)).iter().any(|waiting| waiting.token.met().is_none() && !Arc::ptr_eq(&waiting.token, own))
    }

    /// Meets a task of this side, and wakes it if it sends. The message wakes a receiver. Which task is met is a
    /// decision, since crossbeam-channel promises no order.
    pub(crate) fn meet(&self, current: &Current<'_>, side: Side, own: Option<&Arc<Token>>) -> Option<Arc<Deal<T>>> {
        let is_own = |token: &Arc<Token>| own.is_some_and(|own| Arc::ptr_eq(token, own));
        let can_meet = |waiting: &Waiting<T>| !is_own(&waiting.token) && waiting.token.met().is_none();
        let others = lock(self.side(side)).iter().filter(|waiting| can_meet(waiting)).count();
        if others == 0 {
            return None;
        }
        let chosen = current.runtime().choose(others as u32) as usize;
        let mut waiting = lock(self.side(side));
        let mut positions = (0..waiting.len()).filter(|&position| can_meet(&waiting[position]));
        let met = positions.nth(chosen)?;
        let met = waiting.remove(met);
        let is_met = met.token.meet(met.case);
        debug_assert!(is_met, "nobody else has met it");
        drop(waiting);
        lock(&self.deals).push((met.token.clone(), met.deal.clone()));
        met.token.wake(current);
        Some(met.deal)
    }

    /// Adds a waiting task.
    pub(crate) fn enlist(&self, side: Side, token: &Arc<Token>, case: usize, message: Option<T>) {
        let receiver = (side == Side::Receivers).then(|| token.clone());
        let deal = Arc::new(Deal { message: Mutex::new(message), receiver: Mutex::new(receiver) });
        lock(self.side(side)).push(Waiting { token: token.clone(), case, deal });
    }

    /// Removes a waiting task; returns the message that it would have sent.
    pub(crate) fn delist(&self, side: Side, token: &Arc<Token>) -> Option<T> {
        let mut own = None;
        lock(self.side(side)).retain(|waiting| {
            let is_own = Arc::ptr_eq(&waiting.token, token);
            if is_own {
                own = Some(waiting.deal.clone());
            }
            !is_own
        });
        lock(&own?.message).take()
    }

    /// The deal of a task that has met another one.
    pub(crate) fn deal(&self, token: &Arc<Token>) -> Option<Arc<Deal<T>>> {
        let mut deals = lock(&self.deals);
        let position = deals.iter().position(|deal| Arc::ptr_eq(&deal.0, token))?;
        Some(deals.remove(position).1)
    }

    /// A selection has met a task: the deal is kept until the operation is completed.
    pub(crate) fn keep(&self, token: &Arc<Token>, deal: Arc<Deal<T>>) {
        lock(&self.deals).push((token.clone(), deal));
    }

    /// All waiting tasks look again.
    pub(crate) fn wake_all(&self, current: &Current<'_>) {
        for side in [Side::Senders, Side::Receivers] {
            let tokens: Vec<_> = lock(self.side(side)).iter().map(|waiting| waiting.token.clone()).collect();
            tokens.iter().for_each(|token| token.wake(current));
        }
    }

    /// Waits on this side until it `is_met`; gives up when the time has passed or the other side `is_gone`.
    pub(crate) fn wait(
        &self,
        current: &Current<'_>,
        (side, token): (Side, &Arc<Token>),
        then: Operation,
        deadline: Deadline,
        is_gone: impl Fn() -> bool,
    ) -> Waited {
        loop {
            if token.met().is_some() {
                return Waited::Met;
            }
            if is_gone() {
                return Waited::Gone;
            }
            if deadline.has_passed(current) {
                return Waited::TimedOut;
            }
            let delist = Delist(self, side, token);
            token.block(current, deadline.left(current), then);
            std::mem::forget(delist);
        }
    }
}

/// Removes a waiting task from the list when it is unwound.
struct Delist<'a, T>(&'a Meeting<T>, Side, &'a Arc<Token>);

impl<T> Drop for Delist<'_, T> {
    fn drop(&mut self) {
        drop(self.0.delist(self.1, self.2));
    }
}

/// The result of waiting.
pub(crate) enum Waited {
    Met,
    Gone,
    TimedOut,
}

impl<T> Deal<T> {
    /// Hands over the message: part of the current step.
    pub(crate) fn give(&self, current: &Current<'_>, message: T) {
        *lock(&self.message) = Some(message);
        if let Some(receiver) = &*lock(&self.receiver) {
            receiver.wake(current);
        }
    }

    /// The message for a receiver: the task that has met the receiver is about to send it.
    pub(crate) fn take(&self, current: &Current<'_>, token: &Arc<Token>, then: Operation) -> T {
        loop {
            if let Some(message) = lock(&self.message).take() {
                return message;
            }
            *lock(&self.receiver) = Some(token.clone());
            token.block(current, None, then);
        }
    }
}
